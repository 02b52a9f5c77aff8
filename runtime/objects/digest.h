/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/pystack.h"

#include <stdbool.h>
#include <stdint.h>

/* A digest of objects' values, without running any code of theirs, by fault-tolerant loads.
 *
 * What has a value that can be read goes into `content`: numbers, str, bytes, dates, the data of arrays and tensors,
 * and tuples, lists, dicts and sets of these. All else goes into `state`: where it lies and its first words, and its
 * type into the content. So another content is another value for certain; an equal one with another state may be. Long
 * values are sampled. Subclasses of the built-in types count as anything else. Context: signal (all functions). */
struct pie_digest {
    uint64_t content, state;
    uint64_t variety; /* a bit for each word of data, by its hash: no more bits than different words */
    uint32_t loads_left, data_words_max; /* … of the data of an array */
    struct pie_value_floats
        *floats;         /* takes floating-point numbers instead of content; NULL: they are content */
    uint8_t float_bytes; /* of a number of the data that is being added; 0: it is other data */
    uint8_t traits;      /* pie_digest_traits */
    bool is_broken;      /* something was no object, or unreadable: the digest says nothing */
    bool is_blank;       /* nothing but None, zeros and what is empty was added */
    bool is_unread;      /* of some object only the type went into the content */
    bool has_kept; /* an item has several references, and is no number, text or None, which Python shares */
};

void pie_digest_begin(struct pie_digest *digest);
/* Adds an object. address may be anything. */
void pie_digest_add(struct pie_digest *digest, uintptr_t object);
/* Adds a word that is no object. */
void pie_digest_add_word(struct pie_digest *digest, uint64_t word);

/* Is there no state, so that equal contents are equal values, as far as they were read? */
bool pie_digest_is_all_content(const struct pie_digest *digest);

/* Between the files of it. Words evenly spread over `bytes` bytes, first and last ones among them. */
void pie_digest_add_bytes(struct pie_digest *digest, uintptr_t address, uint64_t bytes, uint32_t words_max);
/* The same for floating-point numbers of float_bytes each. */
void pie_digest_add_floats(struct pie_digest *digest, uintptr_t address, uint64_t bytes, uint32_t words_max,
                           uint64_t float_bytes);
void pie_digest_add_float_word(struct pie_digest *digest, uint64_t word);
bool pie_digest_is_named(uintptr_t type, const char *name);
/* The data and shape of an array. False: it is none that can be read. */
bool pie_digest_add_array(struct pie_digest *digest, uintptr_t array);
void pie_digest_add_dict(struct pie_digest *digest, uintptr_t dict, unsigned depth);
void pie_digest_add_set(struct pie_digest *digest, uintptr_t set, unsigned depth);
/* The bytes of a memoryview. False: they do not lie together. */
bool pie_digest_add_view(struct pie_digest *digest, uintptr_t view);
/* A value that lies in its object's own memory: a date, a Decimal, a number of NumPy, an array.array. False: its type
 * is none of these. */
bool pie_digest_add_plain(struct pie_digest *digest, uintptr_t object, uintptr_t type, unsigned depth);
/* Adds a word to the state. */
void pie_digest_add_state(struct pie_digest *digest, uint64_t word);
void pie_digest_add_item(struct pie_digest *digest, uintptr_t object, unsigned depth);
