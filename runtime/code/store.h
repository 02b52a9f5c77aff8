/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "profiler/ports/pystack.h"
#include "runtime/code/table.h"
#include "runtime/objects/pystr.h"

/* Facts about code objects, in the region's code arenas: one immutable record for each distinct content. There are two
 * stores, one for each half of the calling context tree (profiler/stacks/cct.h), in an arena each. An id shows which
 * store it belongs to. The store is the first bytes of its arena and is made at first use; a cleared arena is an empty
 * store. */

enum {
    PIE_CODE_NAME_UNITS_MAX = 4096,            /* characters of a name that are kept */
    PIE_CODE_LINETABLE_BYTES_MAX = 65536,      /* bytes of a line table that are kept */
    PIE_CODE_EXCEPTIONTABLE_BYTES_MAX = 16384, /* bytes of an exception table that are kept */
    PIE_CODE_UNITS_MAX = 65536,                /* code units whose bytecode is kept */
    PIE_CODE_UNIT_BYTES = 2,                   /* opcode and argument */
    PIE_CODE_SIBLINGS = 4,                     /* links of a record in the trie of contents */
};

enum pie_code_record_flags {
    PIE_CODE_FILE_CUT = 1,
    PIE_CODE_QUALNAME_CUT = 2,
    PIE_CODE_LINETABLE_CUT = 4,
};

struct pie_code_record {
    uint32_t id; /* from 1, dense in a half; the second half's have PIE_CCT_CODE_HALF_BIT */
    int32_t first_line;
    uint32_t units;          /* code units */
    uint32_t file_bytes;     /* with NUL */
    uint32_t qualname_bytes; /* with NUL */
    uint32_t linetable_bytes;
    uint32_t exceptiontable_bytes;
    uint32_t
        bytecode_units; /* that are kept; hidden opcodes are revealed (pyops.h), the rest is as it was found */
    uint32_t flags;     /* pie_code_record_flags */
    _Atomic uint32_t owner; /* pie_code_owner; relaxed */
    uint64_t hash;          /* of the content */
    /* Records whose hashes begin alike, in units of 8 bytes from the store. Release when one is linked in, acquire when
     * a link is followed. */
    _Atomic uint32_t siblings[PIE_CODE_SIBLINGS];
    _Atomic uint64_t operations_at; /* code/operations.c; 0: not yet made */
    char data[];                    /* file, qualname, line table, exception table, bytecode */
};

/* A code object's content, still where it was found.
 *
 * Identity is the names, the lines and the number of units. The bytecode has no part in it, because the interpreter
 * rewrites it; nor need it: where line tables are equal, instructions of the same sizes stand at the same columns. */
struct pie_code_content {
    struct pie_pystr file, qualname, linetable, exceptiontable;
    uintptr_t bytecode;
    uintptr_t object; /* the code object; 0: bytecode is a copy in which hidden opcodes are revealed */
    int32_t first_line;
    uint32_t units;
};

static inline uint32_t pie_code_content_bytecode_units(const struct pie_code_content *content) {
    return content->units < PIE_CODE_UNITS_MAX ? content->units : PIE_CODE_UNITS_MAX;
}

/* Copies the bytecode to dst, pie_code_content_bytecode_units() units, and reveals hidden opcodes. False: unreadable.
 * Context: signal, drain. */
bool pie_code_content_copy_bytecode(const struct pie_code_content *content, uint8_t *dst);

/* Finds the content of a code object, without copying it. False: not a code object, or unreadable.
 * Context: signal, drain. */
bool pie_code_content_read(uintptr_t code, struct pie_code_content *ret_content);

/* The id of a record with this content in the calling thread's half, made if there is none; PIE_CCT_CODE_FULL: the
 * arena has no room for it; 0: the content is unreadable. Context: signal, drain. */
uint32_t pie_code_store_add(const struct pie_code_content *content);

/* The same for the content of a record of whichever half. Context: drain. */
uint32_t pie_code_store_again(uint32_t id);

/* The id of a record with this content, as above, 0 if there is none; the bytecode is not looked at. Context: signal,
 * drain. */
uint32_t pie_code_store_find(const struct pie_code_content *content);

/* The record of an id; NULL: none. Context: any. */
const struct pie_code_record *pie_code_store_get(uint32_t id);

/* See pie_pystack_ops.set_owner and .owner. Context: signal, drain. */
void pie_code_store_set_owner(uint32_t id, enum pie_code_owner owner);
enum pie_code_owner pie_code_store_owner(uint32_t id);

/* Keeps the operations of a record, as code/operations.c found them: a byte for each of its bytecode_units. Returns the
 * copy, or NULL if the arena is full. Context: drain. */
const uint8_t *pie_code_store_keep_operations(uint32_t id, const uint8_t *operations);

/* The operations kept for a record; NULL: none yet. Context: drain. */
const uint8_t *pie_code_store_operations(uint32_t id);

/* How much memory the current half has used, in bytes. Context: any. */
size_t pie_code_store_bytes(void);

/* The table of code object addresses (code/registry_sigsafe.c) of the calling thread's half; NULL: no region. Context:
 * signal. */
struct pie_code_table *pie_code_store_own_addresses(void);

/* The same of any half; NULL also: it has none yet. Context: any. */
struct pie_code_table *pie_code_store_addresses(unsigned half);

static inline const char *pie_code_record_file(const struct pie_code_record *record) {
    return record->data;
}

static inline const char *pie_code_record_qualname(const struct pie_code_record *record) {
    return record->data + record->file_bytes;
}

static inline const uint8_t *pie_code_record_linetable(const struct pie_code_record *record) {
    return (const uint8_t *)record->data + record->file_bytes + record->qualname_bytes;
}

static inline const uint8_t *pie_code_record_exceptiontable(const struct pie_code_record *record) {
    return pie_code_record_linetable(record) + record->linetable_bytes;
}

static inline const uint8_t *pie_code_record_bytecode(const struct pie_code_record *record) {
    return pie_code_record_exceptiontable(record) + record->exceptiontable_bytes;
}
