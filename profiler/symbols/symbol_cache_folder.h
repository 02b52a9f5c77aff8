/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The files of symbol_cache.h: pieprof/symbols/ in a folder of caches. Context: drain (all of this). */

/* A file's mapping, to be unmapped and read with safe loads, as the file may shrink; NULL: there is none, it is larger,
 * or it is not this user's alone. One that is used stays longer than others. */
void *pie_symbol_cache_map(const char *caches, const char *name, uint64_t max_bytes, size_t *ret_size);

/* Writes one as a whole, or not at all. The oldest go where there are too many bytes. */
void pie_symbol_cache_write(const char *caches, const char *name, const void *bytes, size_t size);
