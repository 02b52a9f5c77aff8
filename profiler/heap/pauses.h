/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where counting Python's small blocks costs more than the budget has room for, they are counted in slices of time that
 * are drawn at random, and not in the others.
 *
 * Only counting pauses. A block that was sampled is followed through a pause: the hooks hear of its end. What is held
 * is asked of the allocator, whose pools say how many of their blocks are taken, before a pause and at its end.
 *
 * A slice is counted with the chance `share`. A sample of it stands for 1/share as much, so sums stay unbiased. When
 * Python's memory grows beyond what it ever was, the rest of the slice is counted, drawn or not: so no peak is missed.
 * Since that depends on the program alone, samples after it stand for themselves.
 *
 * Who does what: the collection thread draws a slice and leaves a request. The next hook that sees it acts on it, with
 * the GIL; so nobody allocates while pools are asked. */

enum { PIE_HEAP_SHARE_ONE = 65536 }; /* a share in a record, 0: all is counted */

/* What is asked of the runtime. Context: gil. */
struct pie_heap_pause_ops {
    bool (*can_pause)(void);            /* are pools few enough, and one interpreter's? */
    bool (*set_paused)(bool is_paused); /* sets pie_heap_is_paused; false: it cannot */
    uint64_t (*in_use_bytes)(void);     /* of small blocks, as pools say */
    /* What a block costs in a pause, as a part of what it costs else. Asked before the first one. */
    double (*measure_part)(void);
};

/* Written with the GIL only; hooks read it. */
extern bool pie_heap_is_paused __attribute__((visibility("hidden")));
extern _Atomic uint32_t pie_heap_request __attribute__((visibility("hidden"))); /* 0: none */

static inline bool pie_heap_has_request(void) {
    return atomic_load_explicit(&pie_heap_request, memory_order_relaxed) != 0;
}

/* Small blocks are those in this zone. Context: gil (once). ops: borrowed. */
void pie_heap_pauses_install(uintptr_t zone, size_t zone_bytes, const struct pie_heap_pause_ops *ops);
/* Acts on the request, if there is one: a pause begins or ends. Context: hook (with the GIL, between two blocks). */
void pie_heap_pauses_act(void);
/* Python has more arenas than it ever had. Context: hook (with the GIL). */
void pie_heap_pauses_grown(void);
/* Which share of time is counted, where this block is a small one, and in which slice. Context: hook. */
void pie_heap_pauses_share(const void *block, uint16_t *ret_share, uint8_t *ret_slice);

/* How long counting has paused so far. Context: any. */
uint64_t pie_heap_pauses_ns(uint64_t now_ns);
bool pie_heap_pauses_is_on(void);
/* The rate of samples passes over pauses: what is not counted cannot be sampled. told_ns: how long they have been when
 * it was last told. Context: hook. */
struct pie_heap_rate;
void pie_heap_pauses_pass(struct pie_heap_rate *rate, uint64_t *told_ns, uint64_t now_ns);
/* By how much more small blocks hold than was counted. Context: any. */
int64_t pie_heap_pauses_moved_bytes(void);
/* CPU time that asking pools took. Context: any. */
uint64_t pie_heap_pauses_cost_ns(void);
/* What a small block costs in a pause, as a part of what it costs else. Context: any. */
double pie_heap_pauses_price_part(void);
/* In a forked child, where what was counted counts no more. */
void pie_heap_pauses_forget(void);

/* Slices. Context: drain. */
struct pie_heap_slices {
    double share;      /* of slices that are counted from now on; 0: all, and none was ever left out */
    uint64_t begun_ns; /* CLOCK_MONOTONIC of the first slice that was drawn; 0: none */
    uint64_t end_ns;   /* of this one */
    uint8_t number;
    double sum; /* of shares in this group of slices, from where it began; less than 1 */
    unsigned left_in_group;
    uint64_t random;
};
/* Draws the next slice if it is time to. is_over: the program ends, so all is counted. */
void pie_heap_slices_tick(struct pie_heap_slices *slices, uint64_t now_ns, bool is_over);
/* One sentence about what was not counted, NULL where all was. bytes: of ret_text. */
const char *pie_heap_slices_note(const struct pie_heap_slices *slices, uint64_t started_ns, uint64_t now_ns,
                                 char *ret_text, size_t bytes);
