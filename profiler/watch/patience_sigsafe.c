/* SPDX-License-Identifier: Apache-2.0 */

/* How many of a place's next results are worth comparing. Several callers may take turns at a place, so a result that
 * differs from the next one may equal the one after; up to twelve are compared, each of which takes two traps. Where
 * each call returns something new, that is 24 traps for one answer, and most of the budget went there.
 *
 * So a place is remembered: how many tries the longest wait took that found an equal result, and how many waits beyond
 * that were in vain. After a few of these, most waits end at twice the longest. One in eight is still a full one, so a
 * place at which callers begin to take turns is noticed. */

#include "profiler/watch/internal.h"

#include "profiler/base/hash.h"

enum { PLACE_BITS = 12, IN_VAIN_MIN = 3, FULL_ONE_IN = 8, LEAST = 2 };

/* By a part of the hash of the place; places that share one share what is known. Relaxed; written by handlers, of which
 * one may undo another's: then a wait is longer or shorter than it might be. */
static struct {
    uint8_t longest, in_vain;
} places[1 << PLACE_BITS];

void pie_watch_patience_forget(void) {
    for (unsigned i = 0; i < 1 << PLACE_BITS; i++) {
        __atomic_store_n(&places[i].longest, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&places[i].in_vain, 0, __ATOMIC_RELAXED);
    }
}

static unsigned index_of(uint64_t site) {
    return (unsigned)(pie_hash_upper(site) >> (64 - PLACE_BITS));
}

uint32_t pie_watch_patience(struct pie_watch_thread *watch, uint64_t site, uint32_t most) {
    unsigned index = index_of(site);
    uint32_t longest = __atomic_load_n(&places[index].longest, __ATOMIC_RELAXED);
    uint32_t enough = 2 * longest > LEAST ? 2 * longest : LEAST;

    if (__atomic_load_n(&places[index].in_vain, __ATOMIC_RELAXED) < IN_VAIN_MIN || enough >= most ||
        pie_watch_random(watch) % FULL_ONE_IN == 0)
        return most;
    return enough;
}

void pie_watch_waited(uint64_t site, uint32_t tries, bool is_equal) {
    unsigned index = index_of(site);
    uint32_t longest = __atomic_load_n(&places[index].longest, __ATOMIC_RELAXED);
    uint32_t in_vain = __atomic_load_n(&places[index].in_vain, __ATOMIC_RELAXED);

    if (is_equal && tries > longest) {
        __atomic_store_n(&places[index].longest, (uint8_t)tries, __ATOMIC_RELAXED);
        __atomic_store_n(&places[index].in_vain, 0, __ATOMIC_RELAXED);
    } else if (!is_equal && tries > longest && in_vain < UINT8_MAX) {
        __atomic_store_n(&places[index].in_vain, (uint8_t)(in_vain + 1), __ATOMIC_RELAXED);
    }
}
