/* SPDX-License-Identifier: Apache-2.0 */

/* A packed table is a header, the segments and the names, as they lie in memory. What is unpacked may come from a
 * damaged file: all that a search relies on is looked at. */

#include "profiler/symbols/symbol_table.h"

#include "profiler/base/own_memory.h"
#include "profiler/symbols/symbol_table_private.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct packed {
    uint64_t count, names_bytes;
    uint64_t left_offset, left_bytes; /* where in the module's file further names lie */
};
static_assert(sizeof(struct packed) == 32, "no gaps");
static_assert(sizeof(struct pie_symbol_segment) == 16, "no gaps");

size_t pie_symbol_table_packed_bytes(const struct pie_symbol_table *table) {
    return sizeof(struct packed) + table->count * sizeof *table->segments + table->names_size;
}

void pie_symbol_table_pack(const struct pie_symbol_table *table, void *ret_bytes) {
    struct packed header = {.count = table->count,
                            .names_bytes = table->names_size,
                            .left_offset = table->left_offset,
                            .left_bytes = table->left_bytes};
    char *at = ret_bytes;

    memcpy(at, &header, sizeof header);
    at += sizeof header;
    memcpy(at, table->segments, table->count * sizeof *table->segments);
    memcpy(at + table->count * sizeof *table->segments, table->names, table->names_size);
}

static bool has_size(const struct packed *header, size_t bytes) {
    size_t rest = bytes - sizeof *header;

    return header->count > 0 && header->count <= rest / sizeof(struct pie_symbol_segment) &&
           header->names_bytes > 0 &&
           header->names_bytes == rest - header->count * sizeof(struct pie_symbol_segment);
}

/* Segments follow each other, and each has a name that ends, or a place for one in the module's file. */
static bool is_sound(const struct pie_symbol_table *table) {
    uint64_t written_to = 0;

    if (table->names[table->names_size - 1] != '\0')
        return false;
    for (size_t i = 0; i < table->count; i++) {
        const struct pie_symbol_segment *segment = &table->segments[i];
        bool has_name = segment->name & PIE_NAME_LEFT ? (segment->name & ~PIE_NAME_LEFT) < table->left_bytes
                                                      : segment->name < table->names_size;
        if (segment->start < written_to || segment->size > UINT64_MAX - segment->start || !has_name)
            return false;
        written_to = segment->start + segment->size;
    }
    return true;
}

int pie_symbol_table_unpack(void *block, size_t at, size_t size, struct pie_symbol_table **ret_table) {
    struct packed header;

    if (size < sizeof header)
        return -EBADMSG;
    memcpy(&header, (char *)block + at, sizeof header);
    if (!has_size(&header, size))
        return -EBADMSG;
    struct pie_symbol_table *table = pie_calloc(1, sizeof *table);
    if (!table)
        return -ENOMEM;
    void *segments = (char *)block + at + sizeof header;
    *table = (struct pie_symbol_table){.count = header.count,
                                       .names_size = header.names_bytes,
                                       .left_offset = header.left_offset,
                                       .left_bytes = header.left_bytes,
                                       .segments = segments,
                                       .names = (char *)segments + header.count * sizeof *table->segments};
    if (header.left_offset > INT64_MAX - PIE_NAME_LEFT || !is_sound(table)) {
        pie_free(table);
        return -EBADMSG;
    }
    table->block = block;
    *ret_table = table;
    return 0;
}
