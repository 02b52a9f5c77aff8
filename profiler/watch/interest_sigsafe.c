/* SPDX-License-Identifier: Apache-2.0 */

/* Where debug registers and traps are spent.
 *
 * They are few, so they go first to lines that cost much and whose redundant fraction is still undecided
 * (govern/need.c). The collection thread says how much a line is in need of them; 1 while nothing is known. A sample
 * begins a watch with probability need / mean need of the last samples, at least 1 / LEAST_ONE_IN, so that the only
 * line of a program is watched as ever. What of the budget nobody else has spent goes to lines of little need, too.
 *
 * The line is that of own code, whatever library code works for it: a verdict is about that, and a library spreads one
 * line's time over hundreds of its own.
 *
 * That keeps estimates unbiased: whether a sample is passed over depends on its line and on nothing that it would find,
 * and a line's watches stand for all of its CPU time however few they are (watch/drain.c). */

#include "profiler/watch/internal.h"

#include "profiler/base/hash.h"
#include "profiler/stacks/cct.h"

enum {
    INTEREST_BITS = 14,
    INTERESTS = 1 << INTEREST_BITS,
    FULL = 255,
    LEAST_ONE_IN = 32,
    MEAN_SHIFT = 5,
    FRACTION_BITS = 8
};

/* By a part of the hash of the line's node; 0: nothing is known. Two lines that share one take each other's interest.
 * Relaxed; written by the collection thread. */
static uint8_t decided[INTERESTS];

static unsigned index_of(struct pie_cct_id line_node) {
    return (unsigned)(pie_hash_upper(line_node.value) >> (64 - INTEREST_BITS));
}

struct pie_cct_id pie_watch_line_node(struct pie_cct_id node) {
    while (!pie_cct_is_root(node) && !pie_cct_key_is_python(pie_cct_key(node)))
        node = pie_cct_parent(node);
    return node;
}

/* Code is known to be own once it was named. Until then the innermost line stands for what it works for. */
struct pie_cct_id pie_watch_own_line(const struct pie_pystack_ops *ops, struct pie_cct_id node) {
    struct pie_cct_id inner = pie_watch_line_node(node);

    if (!ops || !ops->owner)
        return inner;
    for (struct pie_cct_id at = inner; !pie_cct_is_root(at); at = pie_watch_line_node(pie_cct_parent(at))) {
        uint32_t code = pie_cct_key_code(pie_cct_key(at));
        if (code != PIE_CCT_CODE_FULL && ops->owner(code) == PIE_CODE_OWNER_OWN)
            return at;
    }
    return inner;
}

void pie_watch_set_interest(struct pie_cct_id line_node, double interest) {
    double known = (1 - interest) * FULL;

    __atomic_store_n(&decided[index_of(line_node)],
                     (uint8_t)(known < 0          ? 0
                               : known > FULL - 1 ? FULL - 1
                                                  : known),
                     __ATOMIC_RELAXED);
}

bool pie_watch_wants(struct pie_watch_thread *watch, struct pie_cct_id line_node) {
    unsigned index = index_of(line_node);
    uint32_t interest = FULL - (uint32_t)__atomic_load_n(&decided[index], __ATOMIC_RELAXED);
    uint32_t mean = watch->mean_interest, scaled = interest << FRACTION_BITS;

    watch->mean_interest = mean + (scaled >> MEAN_SHIFT) - (mean >> MEAN_SHIFT);
    uint32_t drawn = (uint32_t)(pie_watch_random(watch) % (mean | 1)); /* below the mean */
    return drawn < scaled || drawn < mean / LEAST_ONE_IN || pie_watch_has_spare(watch);
}

/* --- How long to wait for an equal result --- */

/* Several callers may take turns at a place, so a result that differs from the next one may equal the one after. Up to
 * twelve are compared, each of which takes two traps. Where each call returns something new, that is 24 traps for one
 * answer, and most of the budget went there.
 *
 * So a place is remembered: how many tries the longest wait took that found an equal result, and how many waits beyond
 * that found none. After a few of these, most waits end at twice the longest. One in eight is still a full one, so a
 * place at which callers begin to take turns is noticed. */

enum { PLACE_BITS = 12, VAIN_MIN = 3, FULL_ONE_IN = 8, TRIES_LEAST = 2 };

/* By a part of the hash of the place; places that share one share what is known. Relaxed; written by handlers, of which
 * one may undo another's: then a wait is longer or shorter than it might be. */
static struct {
    uint8_t longest, vain;
} places[1 << PLACE_BITS];

void pie_watch_patience_forget(void) {
    for (unsigned i = 0; i < 1 << PLACE_BITS; i++) {
        __atomic_store_n(&places[i].longest, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&places[i].vain, 0, __ATOMIC_RELAXED);
    }
}

static unsigned place_of(uint64_t site) {
    return (unsigned)(pie_hash_upper(site) >> (64 - PLACE_BITS));
}

uint32_t pie_watch_patience(struct pie_watch_thread *watch, uint64_t site, uint32_t most) {
    unsigned index = place_of(site);
    uint32_t longest = __atomic_load_n(&places[index].longest, __ATOMIC_RELAXED);
    uint32_t enough = 2 * longest > TRIES_LEAST ? 2 * longest : TRIES_LEAST;

    if (__atomic_load_n(&places[index].vain, __ATOMIC_RELAXED) < VAIN_MIN || enough >= most ||
        pie_watch_random(watch) % FULL_ONE_IN == 0)
        return most;
    return enough;
}

void pie_watch_waited(uint64_t site, uint32_t tries, bool is_equal) {
    unsigned index = place_of(site);
    uint32_t longest = __atomic_load_n(&places[index].longest, __ATOMIC_RELAXED);
    uint32_t vain = __atomic_load_n(&places[index].vain, __ATOMIC_RELAXED);

    if (is_equal && tries > longest) {
        __atomic_store_n(&places[index].longest, (uint8_t)tries, __ATOMIC_RELAXED);
        __atomic_store_n(&places[index].vain, 0, __ATOMIC_RELAXED);
    } else if (!is_equal && tries > longest && vain < UINT8_MAX) {
        __atomic_store_n(&places[index].vain, (uint8_t)(vain + 1), __ATOMIC_RELAXED);
    }
}

/* --- Where watches come to nothing --- */

/* At some places a watch comes to nothing each time. All accesses of a block may go to the stack or to constants, and a
 * native function may return what cannot be compared, as len() does. Whether it is so is known after a trap or two,
 * which cost as much as half of a watch: in programs of much Python code a third of the traps went there.
 *
 * So a place is remembered, a basic block or a call site. After some such watches in succession one in eight is begun
 * there; the first that has something to compare makes the place as any other. What a watch finds plays no part, so
 * this favours neither what is equal nor what changes. Calls of a place are alike, but a block often has accesses
 * of interest beside others that are tried first. */

enum { FRUIT_BITS = 12, STILL_ONE_IN = 8 };
static const uint8_t fruitless_min[] = {[PIE_WATCH_AT_CALL] = 2, [PIE_WATCH_AT_BLOCK] = 16};

/* How many in succession, by a part of the hash of the place; places that share one share what is known. Relaxed;
 * written by handlers, of which one may undo another's: then a watch more or less is begun. */
static uint8_t fruitless[1 << FRUIT_BITS];

static uint8_t *fruit_of(uint64_t place) {
    return &fruitless[pie_hash_upper(place) >> (64 - FRUIT_BITS)];
}

bool pie_watch_is_fruitless(struct pie_watch_thread *watch, enum pie_watch_place kind, uint64_t place) {
    return __atomic_load_n(fruit_of(place), __ATOMIC_RELAXED) >= fruitless_min[kind] &&
           pie_watch_random(watch) % STILL_ONE_IN != 0;
}

void pie_watch_note_fruit(uint64_t place, bool has_fruit) {
    uint8_t *count = fruit_of(place), now = __atomic_load_n(count, __ATOMIC_RELAXED);

    if (has_fruit)
        now = 0;
    else if (now < UINT8_MAX)
        now++;
    __atomic_store_n(count, now, __ATOMIC_RELAXED);
}

void pie_watch_fruit_forget(void) {
    for (unsigned i = 0; i < 1 << FRUIT_BITS; i++)
        __atomic_store_n(&fruitless[i], 0, __ATOMIC_RELAXED);
}

/* --- What is no result --- */

/* To compare what a[i] returned takes many traps, and the answer is of no use: it was fetched. The first comparison at
 * such a place shows what it is. Code units, by a part of their hash, of which the last one counts. Relaxed; written by
 * the collection thread. */
static uint64_t items[1 << PLACE_BITS];

void pie_watch_set_item(uint64_t site) {
    __atomic_store_n(&items[place_of(site)], site, __ATOMIC_RELAXED);
}

bool pie_watch_is_item(uint64_t site) {
    return __atomic_load_n(&items[place_of(site)], __ATOMIC_RELAXED) == site;
}

void pie_watch_items_forget(void) {
    for (unsigned i = 0; i < 1 << PLACE_BITS; i++)
        __atomic_store_n(&items[i], 0, __ATOMIC_RELAXED);
}
