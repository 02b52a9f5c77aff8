/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "runtime/code_table.h"
#include "runtime/pystr.h"

/* What is known of code objects, in the region's code arena: one immutable record for each distinct content. The
 * arena's first bytes are the store, which is made at first use; a region that was reset is an empty store. */

enum {
    PIE_CODE_NAME_UNITS_MAX = 4096,       /* characters of a name that are kept */
    PIE_CODE_LINETABLE_BYTES_MAX = 65536, /* bytes of a line table that are kept */
};

enum pie_code_record_flags {
    PIE_CODE_FILE_CUT = 1,
    PIE_CODE_QUALNAME_CUT = 2,
    PIE_CODE_LINETABLE_CUT = 4,
};

struct pie_code_record {
    uint32_t id; /* from 1, dense */
    int32_t first_line;
    uint32_t units;          /* code units */
    uint32_t file_bytes;     /* with NUL */
    uint32_t qualname_bytes; /* with NUL */
    uint32_t linetable_bytes;
    uint32_t flags; /* pie_code_record_flags */
    uint32_t reserved;
    char data[]; /* file, qualname, line table */
};

/* A code object's content, still where it was found. */
struct pie_code_content {
    struct pie_pystr file, qualname, linetable;
    int32_t first_line;
    uint32_t units;
};

/* Finds the content of a code object, without copying it. False: not a code object, or unreadable.
 * Context: signal, drain. */
bool pie_code_content_read(uintptr_t code, struct pie_code_content *ret_content);

/* The id of a record with this content, made if there is none; 0: the arena is full or the content is unreadable.
 * Context: signal, drain. */
uint32_t pie_code_store_add(const struct pie_code_content *content);

/* The record of an id; NULL: none. Context: signal, any. */
const struct pie_code_record *pie_code_store_get(uint32_t id);

/* The table of code object addresses (code_registry_sigsafe.c); NULL: no region. Context: signal, any. */
struct pie_code_table *pie_code_store_addresses(void);

static inline const char *pie_code_record_file(const struct pie_code_record *record) {
    return record->data;
}

static inline const char *pie_code_record_qualname(const struct pie_code_record *record) {
    return record->data + record->file_bytes;
}

static inline const uint8_t *pie_code_record_linetable(const struct pie_code_record *record) {
    return (const uint8_t *)record->data + record->file_bytes + record->qualname_bytes;
}
