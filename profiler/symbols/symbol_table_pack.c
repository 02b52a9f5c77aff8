/* SPDX-License-Identifier: Apache-2.0 */

/* A packed table is a head and blocks. The head says where each block lies, from which address on it is, and what the
 * check over its bytes is. A block is some segments and their names. A run asks for some ten of the 10,000 functions of
 * the executable, so a block is read when one of its functions is asked for, and the others' pages are never touched.
 * What is read may come from a damaged file, or one that shrinks: all that a search relies on is looked at. */

#include "profiler/symbols/symbol_table.h"

#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/safe_load.h"
#include "profiler/symbols/symbol_table_private.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCK_SEGMENTS = 64, BLOCK_BYTES_MAX = 16 << 20, BLOCKS_A_REST = 4 };

struct packed {
    uint64_t count;
    uint64_t left_offset, left_bytes; /* where in the module's file further names lie */
};
static_assert(sizeof(struct packed) == 24, "no gaps");
static_assert(sizeof(struct pie_symbol_segment) == 16, "no gaps");
static_assert(sizeof(struct pie_symbol_place) == 24, "no gaps");

static size_t blocks_of(uint64_t count) {
    return (size_t)(count / BLOCK_SEGMENTS + (count % BLOCK_SEGMENTS > 0));
}

static size_t segments_in(uint64_t count, size_t block) {
    uint64_t before = (uint64_t)block * BLOCK_SEGMENTS;

    return count - before < BLOCK_SEGMENTS ? (size_t)(count - before) : BLOCK_SEGMENTS;
}

/* Each block is whole words. */
static size_t rounded(size_t bytes) {
    return (bytes + 7) / 8 * 8;
}

static size_t block_bytes(const struct pie_symbol_table *table, size_t block) {
    const struct pie_symbol_segment *segments = table->segments + block * BLOCK_SEGMENTS;
    size_t count = segments_in(table->count, block), bytes = count * sizeof *segments;

    for (size_t i = 0; i < count; i++)
        if (!(segments[i].name & PIE_NAME_LEFT))
            bytes += strlen(table->names + segments[i].name) + 1;
    return rounded(bytes + 1);
}

size_t pie_symbol_table_head_bytes(const struct pie_symbol_table *table) {
    return sizeof(struct packed) + blocks_of(table->count) * sizeof(struct pie_symbol_place);
}

size_t pie_symbol_table_packed_bytes(const struct pie_symbol_table *table) {
    size_t bytes = pie_symbol_table_head_bytes(table);

    for (size_t i = 0; i < blocks_of(table->count); i++)
        bytes += block_bytes(table, i);
    return bytes;
}

/* The names follow the segments, and a 0 all of them. */
static void pack_block(const struct pie_symbol_table *table, size_t block, char *ret_bytes, size_t size) {
    const struct pie_symbol_segment *segments = table->segments + block * BLOCK_SEGMENTS;
    size_t count = segments_in(table->count, block), at = count * sizeof *segments, names_at = at;

    memset(ret_bytes, 0, size);
    for (size_t i = 0; i < count; i++) {
        struct pie_symbol_segment segment = segments[i];
        if (!(segment.name & PIE_NAME_LEFT)) {
            const char *name = table->names + segment.name;
            segment.name = (uint32_t)(at - names_at);
            memcpy(ret_bytes + at, name, strlen(name) + 1);
            at += strlen(name) + 1;
        }
        memcpy(ret_bytes + i * sizeof segment, &segment, sizeof segment);
    }
}

void pie_symbol_table_pack(const struct pie_symbol_table *table, void *ret_bytes) {
    struct packed header = {
        .count = table->count, .left_offset = table->left_offset, .left_bytes = table->left_bytes};
    char *head = ret_bytes, *blocks = head + pie_symbol_table_head_bytes(table);
    size_t at = 0;

    memcpy(head, &header, sizeof header);
    head += sizeof header;
    for (size_t i = 0; i < blocks_of(table->count); i++) {
        size_t bytes = block_bytes(table, i);
        pack_block(table, i, blocks + at, bytes);
        struct pie_symbol_place place = {.start = table->segments[i * BLOCK_SEGMENTS].start,
                                         .check = pie_hash_words(bytes, blocks + at, bytes),
                                         .at = (uint32_t)at,
                                         .bytes = (uint32_t)bytes};
        memcpy(head + i * sizeof place, &place, sizeof place);
        at += bytes;
    }
}

/* Blocks lie within the bytes that are there, and begin one after the other. */
static bool has_places(const struct pie_symbol_table *table, size_t blocks_bytes) {
    for (size_t i = 0; i < blocks_of(table->count); i++) {
        const struct pie_symbol_place *place = &table->places[i];
        if (place->at > blocks_bytes || place->bytes > blocks_bytes - place->at ||
            place->bytes > BLOCK_BYTES_MAX || place->bytes % 8 != 0 ||
            place->bytes <= segments_in(table->count, i) * sizeof(struct pie_symbol_segment) ||
            (i > 0 && place->start <= place[-1].start))
            return false;
    }
    return true;
}

static bool has_size(const struct packed *header, size_t head_bytes) {
    size_t rest = head_bytes - sizeof *header;

    return header->count > 0 && header->count <= UINT32_MAX && rest % sizeof(struct pie_symbol_place) == 0 &&
           blocks_of(header->count) == rest / sizeof(struct pie_symbol_place) &&
           header->left_offset <= INT64_MAX - PIE_NAME_LEFT;
}

int pie_symbol_table_unpack(void *block, size_t at, size_t head_bytes, const void *blocks,
                            size_t blocks_bytes, struct pie_symbol_table **ret_table) {
    struct packed header;

    if (head_bytes < sizeof header)
        return -EBADMSG;
    memcpy(&header, (char *)block + at, sizeof header);
    if (!has_size(&header, head_bytes))
        return -EBADMSG;
    struct pie_symbol_table *table = pie_calloc(1, sizeof *table);
    char **loaded = pie_calloc(blocks_of(header.count), sizeof *loaded);
    if (!table || !loaded) {
        pie_free(table);
        pie_free(loaded);
        return -ENOMEM;
    }
    *table = (struct pie_symbol_table){
        .count = header.count,
        .left_offset = header.left_offset,
        .left_bytes = header.left_bytes,
        .places = (struct pie_symbol_place *)(void *)((char *)block + at + sizeof header),
        .n_places = blocks_of(header.count),
        .loaded = loaded,
        .blocks = blocks,
    };
    if (!has_places(table, blocks_bytes)) {
        pie_free(loaded);
        pie_free(table);
        return -EBADMSG;
    }
    table->block = block;
    *ret_table = table;
    return 0;
}

/* Segments follow each other, and each has a name that ends, or a place for one in the module's file. */
static bool is_sound(const struct pie_symbol_table *table, size_t block, const char *bytes) {
    const struct pie_symbol_place *place = &table->places[block];
    const struct pie_symbol_segment *segments = (const struct pie_symbol_segment *)(const void *)bytes;
    size_t count = segments_in(table->count, block), names_bytes = place->bytes - count * sizeof *segments;
    uint64_t written_to = place->start;

    if (bytes[place->bytes - 1] != '\0' || segments[0].start != place->start)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct pie_symbol_segment *segment = &segments[i];
        bool has_name = segment->name & PIE_NAME_LEFT ? (segment->name & ~PIE_NAME_LEFT) < table->left_bytes
                                                      : segment->name < names_bytes;
        if (segment->start < written_to || segment->size > UINT64_MAX - segment->start || !has_name)
            return false;
        written_to = segment->start + segment->size;
    }
    return true;
}

/* The kernel maps 64 kB around each page that is read, which would count as the process's memory. */
static void rest(const struct pie_symbol_table *table) {
    if (table->mapping)
        (void)madvise(table->mapping, table->mapping_bytes, MADV_DONTNEED);
}

size_t pie_symbol_table_block_at(const struct pie_symbol_table *table, uint64_t address) {
    size_t low = 0, high = table->n_places;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->places[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int pie_symbol_table_reach(struct pie_symbol_table *table, uint64_t address) {
    size_t number = pie_symbol_table_block_at(table, address);

    if (number == 0 || table->loaded[number - 1])
        return 0;
    const struct pie_symbol_place *place = &table->places[number - 1];
    char *bytes = pie_malloc(place->bytes);
    if (!bytes)
        return -ENOMEM;
    if (!pie_safe_copy(bytes, table->blocks + place->at, place->bytes) ||
        pie_hash_words(place->bytes, bytes, place->bytes) != place->check ||
        !is_sound(table, number - 1, bytes)) {
        pie_free(bytes);
        return -EBADMSG;
    }
    table->loaded[number - 1] = bytes;
    table->loaded_bytes += place->bytes;
    if (++table->n_loaded % BLOCKS_A_REST == 0)
        rest(table);
    return 0;
}

void pie_symbol_table_take_mapping(struct pie_symbol_table *table, void *mapping, size_t bytes) {
    table->mapping = mapping;
    table->mapping_bytes = bytes;
    rest(table);
}

const struct pie_symbol_segment *pie_symbol_table_loaded(const struct pie_symbol_table *table,
                                                         uint64_t address, size_t *ret_count) {
    size_t number = pie_symbol_table_block_at(table, address);

    *ret_count = number ? segments_in(table->count, number - 1) : 0;
    return number ? (const struct pie_symbol_segment *)(const void *)table->loaded[number - 1] : NULL;
}
