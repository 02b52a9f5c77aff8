/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/calltree_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/hash.h"
#include "storage/export/calltree_rows.h"

enum { CHUNK_BYTES = 64 * 1024 };

struct pie_calltree_chunk {
    struct pie_calltree_chunk *older;
    size_t size;
    char bytes[];
};

static uint64_t hash_text_number(const void *owner, uint32_t number) {
    const struct pie_calltree_texts *texts = owner;
    const char *text = texts->texts[number - 1];
    return pie_hash_bytes(text, strlen(text));
}

static bool is_text(const void *owner, uint32_t number, const void *key) {
    const struct pie_calltree_texts *texts = owner;
    return strcmp(texts->texts[number - 1], key) == 0;
}

static const struct pie_lookup_by by_text = {hash_text_number, is_text};

static const char *copy_text(struct pie_calltree_texts *texts, const char *text) {
    size_t size = strlen(text) + 1;
    struct pie_calltree_chunk *chunk = texts->newest;
    if (!chunk || chunk->size - texts->used < size) {
        size_t bytes = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        chunk = malloc(sizeof *chunk + bytes);
        if (!chunk)
            return NULL;
        *chunk = (struct pie_calltree_chunk){.older = texts->newest, .size = bytes};
        texts->newest = chunk;
        texts->used = 0;
    }
    char *copy = memcpy(chunk->bytes + texts->used, text, size);
    texts->used += size;
    return copy;
}

static int get_text(struct pie_calltree_texts *texts, const char *text, const char **ret_text) {
    if (!text) {
        *ret_text = NULL;
        return 0;
    }
    uint32_t number =
        pie_lookup_get(&texts->by_text, &by_text, texts, pie_hash_bytes(text, strlen(text)), text);
    if (number == 0) {
        const char **list = pie_calltree_grow(texts->texts, texts->count, sizeof *list);
        if (!list)
            return -ENOMEM;
        texts->texts = list;
        list[texts->count] = copy_text(texts, text);
        if (!list[texts->count])
            return -ENOMEM;
        number = ++texts->count;
        if (pie_lookup_add(&texts->by_text, &by_text, texts, number) < 0)
            return -ENOMEM;
    }
    *ret_text = texts->texts[number - 1];
    return 0;
}

/* Texts that are equal are one, and none at all is as good as an empty one. */
static const char *text_of(const char *text) {
    return text && *text ? text : NULL;
}

static uint64_t hash_frame(const struct pie_calltree_frame *frame) {
    uint64_t hash = pie_hash_mix(0, (uint64_t)frame->kind);
    hash = pie_hash_mix(hash, (uint64_t)frame->first_line);
    hash = pie_hash_mix(hash, (uint64_t)frame->line);
    hash = pie_hash_mix(hash, (uintptr_t)text_of(frame->function));
    hash = pie_hash_mix(hash, (uintptr_t)text_of(frame->file));
    return pie_hash_mix(hash, (uintptr_t)text_of(frame->module));
}

static uint64_t hash_frame_number(const void *owner, uint32_t number) {
    const struct pie_calltree *tree = owner;
    return hash_frame(&tree->frames[number - 1]);
}

static bool is_frame(const void *owner, uint32_t number, const void *key) {
    const struct pie_calltree *tree = owner;
    const struct pie_calltree_frame *a = &tree->frames[number - 1], *b = key;
    return a->kind == b->kind && a->first_line == b->first_line && a->line == b->line &&
           text_of(a->function) == text_of(b->function) && text_of(a->file) == text_of(b->file) &&
           text_of(a->module) == text_of(b->module);
}

static const struct pie_lookup_by by_fields = {hash_frame_number, is_frame};

int pie_calltree_add_frame(struct pie_calltree *tree, const struct pie_calltree_frame *frame) {
    if (tree->frame_count == UINT32_MAX - 1)
        return -EOVERFLOW;
    struct pie_calltree_frame *frames = pie_calltree_grow(tree->frames, tree->frame_count, sizeof *frames);
    if (!frames)
        return -ENOMEM;
    tree->frames = frames;
    frames[tree->frame_count] = *frame;
    if (frame->line == 0)
        frames[tree->frame_count].whole = tree->frame_count;
    tree->frame_count++;
    return 0;
}

int pie_calltree_get_frame(struct pie_calltree *tree, const struct pie_calltree_frame *frame,
                           uint32_t *ret_frame) {
    struct pie_calltree_texts *texts = &tree->source->texts;
    struct pie_calltree_frame kept = *frame;
    int r = get_text(texts, frame->function, &kept.function);
    if (r == 0)
        r = get_text(texts, frame->file, &kept.file);
    if (r == 0)
        r = get_text(texts, frame->library, &kept.library);
    if (r == 0)
        r = get_text(texts, frame->module, &kept.module);
    if (r < 0)
        return r;
    uint32_t number = pie_lookup_get(&tree->source->frames, &by_fields, tree, hash_frame(&kept), &kept);
    if (number == 0) {
        r = pie_calltree_add_frame(tree, &kept);
        number = tree->frame_count;
        if (r == 0)
            r = pie_lookup_add(&tree->source->frames, &by_fields, tree, number);
    }
    if (r == 0)
        *ret_frame = number - 1;
    return r;
}

void pie_calltree_end_frames(struct pie_calltree *tree) {
    struct pie_calltree_texts *texts = &tree->source->texts;
    pie_lookup_finish(&tree->source->frames);
    pie_lookup_finish(&texts->by_text);
    free(texts->texts);
    texts->texts = NULL;
    texts->count = 0;
}

void pie_calltree_finish_frames(struct pie_calltree *tree) {
    struct pie_calltree_texts *texts = &tree->source->texts;
    pie_calltree_end_frames(tree);
    while (texts->newest) {
        struct pie_calltree_chunk *chunk = texts->newest;
        texts->newest = chunk->older;
        free(chunk);
    }
    free(tree->frames);
}

const char *pie_calltree_library(const struct pie_calltree_frame *frame) {
    if (frame->library || frame->kind != PIE_LOCATION_NATIVE || !frame->module)
        return frame->library;
    const char *slash = strrchr(frame->module, '/');
    return slash ? slash + 1 : frame->module;
}
