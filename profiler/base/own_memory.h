/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Whether a sanitizer follows this build's memory: it has to see each mapping. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PIE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define PIE_SANITIZED 1
#endif
#endif
#ifndef PIE_SANITIZED
#define PIE_SANITIZED 0
#endif

/* malloc() and friends for the profiler's own work beside the program. glibc raises its threshold for mmap()
 * whenever a large block is freed, so a freed table of ours would change how the *program's* large blocks are
 * made from then on, and with that its page faults (one program ran in half its time). So large blocks are
 * mapped here and never reach malloc. pie_free() takes blocks of both kinds, also malloc's own.
 * Context: drain, cli. */
void *pie_malloc(size_t size);
void *pie_calloc(size_t count, size_t size);
void *pie_realloc(void *block, size_t size);
void pie_free(void *block);

/* Of all mapped blocks. They are in no table of the program's mappings (runtime/memory/mapping_table.h), of which each
 * new entry may touch twenty pages. Context: any. */
uint64_t pie_own_mapped_bytes(void);

/* All of this memory is about to be written: its pages are made at once, at a fifth of the price of as many page
 * faults, and of twice as many where it is read first. Without it (Linux 5.14) they come one by one. Context: drain,
 * cli. */
void pie_populate(void *memory, size_t size);
