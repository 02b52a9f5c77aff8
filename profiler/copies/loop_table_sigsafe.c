/* SPDX-License-Identifier: Apache-2.0 */

/* Open addressing. A slot is one word, the instruction's address (48 bits) and the number of its site, so it is never
 * seen half written; a site is written before the slot that names it (release, acquire in find()) and does not change
 * until everything is forgotten. A handler that found one just before that reads another site's description at worst;
 * its record carries the generation from before, and is thrown away. */

#include "profiler/base/hash.h"
#include "profiler/code/generation.h"
#include "profiler/copies/loop.h"

#include <errno.h>

enum { SLOTS = 1 << 14, SLOTS_FILLED_MAX = SLOTS / 4 * 3, PROBES_MAX = 32, SITE_BITS = 16 };

/* A forked child inherits all of it, and it stays true there. */
static _Atomic uint64_t slots[SLOTS]; /* address << SITE_BITS | number; 0: free */
static struct pie_copy_site sites[PIE_COPY_SITES_MAX];
static unsigned n_slots, n_sites; /* of the writer */
static _Atomic uint16_t generation;
static _Atomic uint32_t code_generation; /* pie_code_generation() that all of it is good for */
static _Atomic bool is_looking;          /* relaxed: one sample more or less */
static _Atomic bool is_full;             /* relaxed: the same */

void pie_copy_sites_set(bool is_on) {
    if (n_slots == 0)
        atomic_store_explicit(&code_generation, pie_code_generation(), memory_order_release);
    atomic_store_explicit(&is_looking, is_on, memory_order_relaxed);
}

static uint32_t hash_of(uint64_t ip) {
    return (uint32_t)(pie_hash_upper(ip) >> 40) & (SLOTS - 1);
}

int pie_copy_site_find(uint64_t ip) {
    uint32_t at = hash_of(ip);

    if (!atomic_load_explicit(&is_looking, memory_order_relaxed) ||
        atomic_load_explicit(&code_generation, memory_order_acquire) != pie_code_generation())
        return PIE_COPY_SITE_NONE;
    for (int i = 0; i < PROBES_MAX; i++, at = (at + 1) & (SLOTS - 1)) {
        uint64_t slot = atomic_load_explicit(&slots[at], memory_order_acquire); /* pairs with publish() */
        if (slot >> SITE_BITS == ip)
            return (int)(slot & ((1 << SITE_BITS) - 1));
        if (!slot)
            break;
    }
    return atomic_load_explicit(&is_full, memory_order_relaxed) ? PIE_COPY_SITE_NONE : PIE_COPY_SITE_UNKNOWN;
}

const struct pie_copy_site *pie_copy_site_at(int number) {
    return &sites[number];
}

uint16_t pie_copy_sites_generation(void) {
    return atomic_load_explicit(&generation, memory_order_acquire);
}

static int publish(uint64_t ip, int number) {
    uint32_t at = hash_of(ip);

    for (int i = 0; i < PROBES_MAX && n_slots < SLOTS_FILLED_MAX; i++, at = (at + 1) & (SLOTS - 1)) {
        uint64_t slot = atomic_load_explicit(&slots[at], memory_order_relaxed);
        if (slot != 0 && slot >> SITE_BITS != ip)
            continue;
        n_slots += slot == 0;
        atomic_store_explicit(&slots[at], ip << SITE_BITS | (uint64_t)number, memory_order_release);
        return number;
    }
    if (n_slots >= SLOTS_FILLED_MAX)
        atomic_store_explicit(&is_full, true, memory_order_relaxed);
    return -ENOMEM;
}

int pie_copy_site_put(uint64_t ip, const struct pie_copy_site *site) {
    if (!site)
        return publish(ip, PIE_COPY_SITE_NONE);
    if (n_sites + 1 >= PIE_COPY_SITES_MAX) {
        publish(ip, PIE_COPY_SITE_NONE);
        return -ENOMEM;
    }
    sites[n_sites + 1] = *site;
    int r = publish(ip, (int)n_sites + 1);
    n_sites += r > 0;
    return r;
}

void pie_copy_sites_forget(void) {
    uint32_t now = pie_code_generation();

    for (int i = 0; n_slots && i < SLOTS; i++) /* without any, its pages are left untouched */
        if (atomic_load_explicit(&slots[i], memory_order_relaxed))
            atomic_store_explicit(&slots[i], 0, memory_order_relaxed);
    n_slots = n_sites = 0;
    atomic_store_explicit(&code_generation, now, memory_order_release);
    atomic_store_explicit(&is_full, false, memory_order_relaxed);
    atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}
