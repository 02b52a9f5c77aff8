/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Hashes for tables in memory. None is stored in a profile; the symbol cache has one, of this machine. */

/* 2^64 / golden ratio, odd. */
#define PIE_HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* Multiplicative hashing (Knuth, TAOCP 6.4): take the upper bits, which depend on all bits of the key. Context:
 * signal. */
static inline uint64_t pie_hash_upper(uint64_t key) {
    return key * PIE_HASH_MULTIPLIER;
}

/* Adds a word to a hash, or to a first word: all bits of the result depend on both and on their order. Equal inputs
 * give equal keys. The step is that of boost::hash_combine, the multiplier one of MurmurHash3's finalizer (Appleby,
 * public domain). Context: signal. */
static inline uint64_t pie_hash_mix(uint64_t hash, uint64_t word) {
    hash ^= word + PIE_HASH_MULTIPLIER + (hash << 6) + (hash >> 2);
    hash *= UINT64_C(0xff51afd7ed558ccd);
    return hash ^ (hash >> 32);
}

/* Adds all whole words of some bytes to a hash. Context: signal. */
static inline uint64_t pie_hash_words(uint64_t hash, const void *bytes, size_t size) {
    uint64_t word;

    for (size_t at = 0; at + sizeof word <= size; at += sizeof word) {
        memcpy(&word, (const char *)bytes + at, sizeof word);
        hash = pie_hash_mix(hash, word);
    }
    return hash;
}

/* FNV-1a (Fowler, Noll and Vo), folded: the lower bits depend on all. Context: signal. */
static inline uint64_t pie_hash_bytes(const void *bytes, size_t size) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const unsigned char *at = bytes, *end = at + size; at < end; at++)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash ^ (hash >> 32);
}
