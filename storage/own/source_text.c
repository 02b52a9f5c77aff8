/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/own/source_text.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/base/sparse.h"

enum {
    LINE_MAX_NUMBER = 1 << 20,
    CHUNK_BYTES = 64 << 10, /* read at a time: a line near a file's begin needs no more of it */
};

struct want {
    int32_t first_line, line;
};

struct source_file {
    char *path;
    bool is_own, is_unreadable;
    struct stat status;     /* when first read; st_ino 0: not yet */
    unsigned char *emitted; /* a bit for each line */
    size_t emitted_bytes;
    size_t emitted_lines;
    struct want *wants;
    size_t want_count, want_capacity;
};

struct pie_source_text {
    struct pie_sparse files; /* struct source_file, by file number */
    uint32_t *wanted;        /* numbers of files with wants */
    size_t wanted_count, wanted_room;
    size_t total_bytes;
};

/* The text of one file while it is being looked at. Its memory serves one file after the other: a program that imports
 * a large library has hundreds, and new pages for each would cost more than all the rest. */
struct text {
    char *bytes;
    size_t size, room;
    char **lines; /* lines[0] is line 1 */
    int32_t count;
    size_t line_room;
};

int pie_source_text_create(struct pie_source_text **ret_source) {
    struct pie_source_text *source = pie_calloc(1, sizeof *source);
    if (!source)
        return -ENOMEM;
    pie_sparse_init(&source->files, sizeof(struct source_file));
    *ret_source = source;
    return 0;
}

static void drop_file(void *entry) {
    struct source_file *file = entry;
    pie_free(file->path);
    pie_free(file->emitted);
    pie_free(file->wants);
}

void pie_source_text_destroy(struct pie_source_text *source) {
    if (!source)
        return;
    pie_sparse_finish(&source->files, drop_file);
    pie_free(source->wanted);
    pie_free(source);
}

struct kept_files {
    struct pie_source_text *source;
    bool (*keeps)(void *data, uint32_t number);
    void *data;
};

static bool keeps_file(void *data, uint32_t number) {
    const struct kept_files *kept = data;
    const struct source_file *file = pie_sparse_get(&kept->source->files, number);
    if (file->want_count > 0 || (file->path && kept->keeps(kept->data, number)))
        return true;
    kept->source->total_bytes -= file->emitted_bytes; /* others may have the room */
    return false;
}

void pie_source_text_forget(struct pie_source_text *source, bool (*keeps)(void *data, uint32_t number),
                            void *data) {
    struct kept_files kept = {source, keeps, data};
    pie_sparse_forget(&source->files, keeps_file, &kept, drop_file);
}

static struct source_file *get_file(struct pie_source_text *source, uint32_t number, const char *path,
                                    bool is_own) {
    struct source_file *file = pie_sparse_make(&source->files, number);
    if (!file)
        return NULL;
    if (!file->path) {
        file->path = strdup(path);
        file->is_own = is_own;
        file->is_unreadable = path[0] != '/' && path[0] != '<';
    }
    return file->path ? file : NULL;
}

static int note_wanted(struct pie_source_text *source, uint32_t number) {
    uint32_t *wanted =
        pie_list_grown(source->wanted, source->wanted_count, &source->wanted_room, sizeof *wanted);
    if (!wanted)
        return -ENOMEM;
    source->wanted = wanted;
    source->wanted[source->wanted_count++] = number;
    return 0;
}

int pie_source_text_want(struct pie_source_text *source, uint32_t number, const char *path, bool is_own,
                         int32_t first_line, int32_t line) {
    struct source_file *file = get_file(source, number, path, is_own);
    if (!file)
        return -ENOMEM;
    if (file->is_unreadable || line <= 0 || line > LINE_MAX_NUMBER)
        return 0;
    struct want *wants = pie_list_grown(file->wants, file->want_count, &file->want_capacity, sizeof *wants);
    if (!wants)
        return -ENOMEM;
    file->wants = wants;
    if (file->want_count == 0 && note_wanted(source, number) < 0)
        return -ENOMEM;
    file->wants[file->want_count++] = (struct want){.first_line = first_line, .line = line};
    return 0;
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int make_room(struct text *text, size_t size) {
    if (size <= text->room)
        return 0;
    size_t room = text->room * 2 > size ? text->room * 2 : size;
    char *bytes = pie_realloc(text->bytes, room);
    if (!bytes)
        return -ENOMEM;
    text->bytes = bytes;
    text->room = room;
    return 0;
}

/* Constant sizes let the compiler count many bytes at a time. */
static size_t count_newlines(const char *bytes, size_t size) {
    enum { BLOCK = 128 };
    size_t count = 0;

    for (; size >= BLOCK; bytes += BLOCK, size -= BLOCK) {
        unsigned char in_block = 0;
        for (int i = 0; i < BLOCK; i++)
            in_block = (unsigned char)(in_block + (bytes[i] == '\n'));
        count += in_block;
    }
    for (size_t i = 0; i < size; i++)
        count += bytes[i] == '\n';
    return count;
}

/* Lines end as Python ends them: \n, \r\n, \r. */
static size_t count_lines(const char *bytes, size_t size) {
    size_t count = count_newlines(bytes, size);

    for (const char *at = bytes, *end = bytes + size; (at = memchr(at, '\r', (size_t)(end - at))); at++)
        count += at + 1 == end || at[1] != '\n';
    return count;
}

/* Reads until there are `most` lines. Returns 0, -ENOMEM or -errno. */
static int read_lines(struct text *text, int fd, size_t file_size, int32_t most) {
    size_t lines = 0;

    while (text->size < file_size && lines < (size_t)most) {
        size_t wanted = file_size - text->size < CHUNK_BYTES ? file_size - text->size : CHUNK_BYTES;
        if (make_room(text, text->size + wanted + 1) < 0)
            return -ENOMEM;
        ssize_t size = read(fd, text->bytes + text->size, wanted);
        if (size <= 0)
            return size < 0 && text->size == 0 ? -errno : 0;
        /* a \r at a chunk's end may count twice, and then a chunk too little is read: so it is looked at again */
        size_t from = text->size > 0 && text->bytes[text->size - 1] == '\r' ? text->size - 1 : text->size;
        lines -= from < text->size;
        text->size += (size_t)size;
        lines += count_lines(text->bytes + from, text->size - from);
    }
    return 0;
}

/* The first `most` lines of the file, and a final 0. False: it cannot be read, or is another by now. */
static bool read_file(struct source_file *file, struct text *text, int32_t most) {
    struct stat status;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool usable = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
                  status.st_size <= PIE_SOURCE_FILE_MAX_BYTES &&
                  (file->status.st_ino == 0 || is_same(&file->status, &status)) && make_room(text, 1) == 0 &&
                  read_lines(text, fd, (size_t)status.st_size, most) == 0;
    if (usable)
        file->status = status;
    close(fd);
    return usable;
}

/* What was compiled under that name, of a file's size at most. */
static bool copy_made(const struct source_file *file, struct text *text, pie_source_made_fn made) {
    size_t size = 0;
    const char *found = made ? made(file->path, &size) : NULL;
    if (!found || size > PIE_SOURCE_FILE_MAX_BYTES || make_room(text, size + 1) < 0)
        return false;
    memcpy(text->bytes, found, size);
    text->size = size;
    return true;
}

static int add_line(struct text *text, char *at) {
    char **lines = pie_list_grown(text->lines, (size_t)text->count, &text->line_room, sizeof *lines);
    if (!lines)
        return -ENOMEM;
    text->lines = lines;
    text->lines[text->count++] = at;
    return 0;
}

/* The first `most` lines. */
static int split(struct text *text, int32_t most) {
    char *at = text->bytes, *end = text->bytes + text->size, *newline = NULL;
    int r = 0;

    *end = 0;
    while (at < end && text->count < most && r == 0) {
        r = add_line(text, at);
        if (!newline || newline < at) /* looked for once, also where lines end in \r alone */
            newline = memchr(at, '\n', (size_t)(end - at));
        newline = newline ? newline : end;
        char *stop = memchr(at, '\r', (size_t)(newline - at));
        stop = stop ? stop : newline;
        at = stop + (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n' ? 2 : 1);
        *stop = 0;
    }
    return r;
}

static size_t indentation(const char *line) {
    return strspn(line, " \t\f");
}

static bool is_blank(const char *line) {
    const char *start = line + indentation(line);
    return *start == 0 || *start == '#';
}

/* The last line of a function of which `inside` is a line: what follows is indented no deeper than its first line. A
 * bracket or a string at the margin may end it early; the context around each line makes good for that. */
static int32_t function_end(const struct text *text, int32_t first_line, int32_t inside) {
    size_t margin = indentation(text->lines[first_line - 1]);
    int32_t last = inside;
    for (int32_t line = inside + 1; line <= text->count; line++) {
        const char *content = text->lines[line - 1];
        if (is_blank(content))
            continue;
        if (indentation(content) <= margin && content[indentation(content)] != ')')
            break;
        last = line;
    }
    return last;
}

static int mark_emitted(struct source_file *file, int32_t line, bool *ret_is_new) {
    size_t need = (size_t)line / 8 + 1;
    if (need > file->emitted_lines) {
        size_t size = need + 64;
        unsigned char *emitted = pie_realloc(file->emitted, size);
        if (!emitted)
            return -ENOMEM;
        memset(emitted + file->emitted_lines, 0, size - file->emitted_lines);
        file->emitted = emitted;
        file->emitted_lines = size;
    }
    unsigned char bit = (unsigned char)(1u << (line % 8));
    *ret_is_new = !(file->emitted[line / 8] & bit);
    file->emitted[line / 8] |= bit;
    return 0;
}

static int emit_line(struct pie_source_text *source, struct source_file *file, char *content, int32_t line,
                     pie_source_emit_fn emit, void *data) {
    bool is_new = false;
    int r = mark_emitted(file, line, &is_new);
    if (r < 0 || !is_new)
        return r;
    char kept = 0;
    size_t size = strlen(content);
    if (source->total_bytes + size > PIE_SOURCE_TOTAL_MAX_BYTES)
        return 0;
    while (size > 0 && strchr(" \t\f", content[size - 1]))
        size--;
    if (size > PIE_SOURCE_LINE_MAX_BYTES) {
        size = PIE_SOURCE_LINE_MAX_BYTES;
        while (size > 0 && ((unsigned char)content[size] & 0xc0) == 0x80)
            size--;
    }
    kept = content[size];
    content[size] = 0;
    r = emit(data, file->path, line, content);
    content[size] = kept;
    source->total_bytes += size;
    file->emitted_bytes += size;
    return r;
}

static int emit_want(struct pie_source_text *source, struct source_file *file, const struct text *text,
                     struct want want, pie_source_emit_fn emit, void *data) {
    int32_t context = file->is_own ? PIE_SOURCE_CONTEXT_LINES : 0;
    int32_t from = want.line - context, to = want.line + context;
    if (want.line > text->count)
        return 0;
    if (file->is_own && want.first_line > 0 && want.first_line <= want.line) {
        int32_t end = function_end(text, want.first_line, want.line);
        if (end - want.first_line < PIE_SOURCE_FUNCTION_MAX_LINES) {
            from = want.first_line < from ? want.first_line : from;
            to = end > to ? end : to;
        }
    }
    int r = 0;
    for (int32_t line = from < 1 ? 1 : from; line <= to && line <= text->count && r == 0; line++)
        r = emit_line(source, file, text->lines[line - 1], line, emit, data);
    return r;
}

/* Beyond the last wanted line nothing is looked at, but to find a function's end. */
static int32_t last_line_of_use(const struct source_file *file) {
    int32_t last = 0;

    if (file->is_own)
        return LINE_MAX_NUMBER;
    for (size_t i = 0; i < file->want_count; i++)
        last = file->wants[i].line > last ? file->wants[i].line : last;
    return last;
}

/* Behind the next `count` newlines; NULL: there are fewer. */
static char *skip_lines(char *at, const char *end, size_t count) {
    enum { STEP = 1024 };
    size_t in_step = 0;

    for (; end - at >= STEP && (in_step = count_newlines(at, STEP)) < count; at += STEP)
        count -= in_step;
    for (; at && count > 0; count--) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return at;
}

static int compare_wants(const void *left, const void *right) {
    const struct want *a = left, *b = right;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* The wanted lines alone, of a library's file whose lines end in \n: the others are hardly looked at. */
static int emit_lines(struct pie_source_text *source, struct source_file *file, struct text *text,
                      pie_source_emit_fn emit, void *data) {
    char *at = text->bytes, *end = text->bytes + text->size;
    int32_t line = 1;
    int r = 0;

    *end = '\0';
    qsort(file->wants, file->want_count, sizeof *file->wants, compare_wants);
    for (size_t i = 0; i < file->want_count && r == 0; i++) {
        at = skip_lines(at, end, (size_t)(file->wants[i].line - line));
        if (!at || at == end)
            return 0;
        line = file->wants[i].line;
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop)
            *stop = '\0';
        r = emit_line(source, file, at, line, emit, data);
        if (stop)
            *stop = '\n'; /* another want may go on from here */
    }
    return r;
}

static int emit_wants(struct pie_source_text *source, struct source_file *file, struct text *text,
                      pie_source_emit_fn emit, void *data) {
    if (!file->is_own && !memchr(text->bytes, '\r', text->size))
        return emit_lines(source, file, text, emit, data);
    int r = split(text, last_line_of_use(file));
    for (size_t i = 0; i < file->want_count && r == 0; i++)
        r = emit_want(source, file, text, file->wants[i], emit, data);
    return r;
}

static int flush_file(struct pie_source_text *source, struct source_file *file, struct text *text,
                      pie_source_made_fn made, pie_source_emit_fn emit, void *data) {
    text->size = 0;
    text->count = 0;
    bool found = file->path[0] == '/' && read_file(file, text, last_line_of_use(file));
    if (!found && file->status.st_ino == 0)
        found = copy_made(file, text, made);
    if (!found) {
        file->is_unreadable = true;
        file->want_count = 0;
        return 0;
    }
    int r = emit_wants(source, file, text, emit, data);
    file->want_count = 0;
    return r;
}

int pie_source_text_flush(struct pie_source_text *source, pie_source_made_fn made, pie_source_emit_fn emit,
                          void *data) {
    struct text text = {0};
    int r = 0;
    for (size_t i = 0; i < source->wanted_count && r == 0; i++) {
        struct source_file *file = pie_sparse_get(&source->files, source->wanted[i]);
        if (file->want_count > 0)
            r = flush_file(source, file, &text, made, emit, data);
    }
    if (r == 0)
        source->wanted_count = 0;
    pie_free(text.lines);
    pie_free(text.bytes);
    return r;
}
