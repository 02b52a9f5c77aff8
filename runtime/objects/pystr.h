/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Python's str and bytes objects read without the C-API, by fault-tolerant loads.
 * Context: signal, drain (all functions). */

/* Where the characters of a string lie. */
struct pie_pystr {
    uintptr_t data;
    uint32_t units; /* how many, at most the limit given to pie_pystr_locate() */
    uint8_t width;  /* bytes of a unit: 1, 2 or 4 */
    bool is_ascii;
    bool is_cut; /* the object has more */
};

/* Finds the characters of a str object, the first `limit` of them. False: `object` is no str, or is unreadable. */
bool pie_pystr_locate(uintptr_t object, uint32_t limit, struct pie_pystr *ret_string);

/* The same for the contents of a bytes object. */
bool pie_pystr_locate_bytes(uintptr_t object, uint32_t limit, struct pie_pystr *ret_string);

static inline size_t pie_pystr_size(const struct pie_pystr *string) {
    return (size_t)string->units * string->width;
}

enum { PIE_PYSTR_IS_BYTES_MAX = 64 };

/* Is the string this ASCII text, of PIE_PYSTR_IS_BYTES_MAX bytes at most? */
bool pie_pystr_is(const struct pie_pystr *string, const char *text);

/* Writes the string as UTF-8 with a terminating NUL to dst, or only counts if dst is NULL. NULs and surrogates, which
 * UTF-8 text for C cannot hold, become U+FFFD; a string that is cut ends in U+2026. Returns the length without the
 * NUL; SIZE_MAX if the string became unreadable. A buffer of 4 bytes a unit and 4 more always suffices. */
size_t pie_pystr_to_utf8(const struct pie_pystr *string, char *dst);

/* Mixes size bytes at address into hash. False: unreadable. */
bool pie_pystr_hash(uint64_t *hash, uintptr_t address, size_t size);
