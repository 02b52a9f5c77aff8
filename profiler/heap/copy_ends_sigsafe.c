/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/heap/copy_ends.h"

#include "profiler/base/safe_load.h"
#include "profiler/watch/watch.h"

#include <stdatomic.h>

/* Bytes that are compared at once, and how many such parts of large data: the first, the last, and some that chance
 * chooses, one in each of as many equal stretches. Up to PART_BYTES * PARTS all is compared. */
enum { PART_BYTES = 32768, PARTS = 512 };

/* What a copy that is read ten times takes, about: a register that is armed for longer costs too much. */
static const uint64_t LONGEST_NS = 10000000, LONGEST_NS_A_BYTE = 4;

/* A copy has this part of its block at least, in sixteenths: allocators round up, by a page at most for blocks of many
 * pages. */
enum { WHOLE_SIXTEENTHS = 12 };

/* What the object in the block has before its data: CPython's bytes and str. */
enum { HEADER_BYTES_MAX = 80, LENGTH_OFFSET = 16, UNIT_BYTES_MAX = 4 };

/* A ticket's life. FILLING and ENDING belong to one thread; FOLLOWED and SOURCE_GONE may be claimed by any. */
enum { FREE, FILLING, FOLLOWED, SOURCE_GONE, ENDING, ENDED };

struct end {
    _Atomic uint32_t state;
    _Atomic uint64_t word; /* pie_watch_copy()'s */
    uint32_t serial;
    uintptr_t to, from;
    size_t bytes;
    uint64_t random;
    uint8_t behind[8]; /* of the copy, when it was made */
    bool has_lost;     /* SOURCE_GONE: the register was lost before */
    uint8_t outcome;   /* ENDED */
};

/* Reset in a forked child. */
static struct end ends[PIE_COPY_ENDS];
static _Atomic uint32_t followed; /* ends that are FOLLOWED or SOURCE_GONE */
_Atomic uint64_t pie_copy_ends_bytes = UINT64_MAX;

void pie_copy_ends_forget(void) {
    for (int i = 0; i < PIE_COPY_ENDS; i++)
        atomic_store_explicit(&ends[i].state, FREE, memory_order_relaxed);
    atomic_store_explicit(&followed, 0, memory_order_relaxed);
    atomic_store_explicit(&pie_copy_ends_bytes, UINT64_MAX, memory_order_relaxed);
}

static bool claim(struct end *end, uint32_t from, uint32_t to) {
    return atomic_compare_exchange_strong_explicit(&end->state, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

static void count(int step) {
    uint32_t now =
        atomic_fetch_add_explicit(&followed, (uint32_t)step, memory_order_seq_cst) + (uint32_t)step;

    atomic_store_explicit(&pie_copy_ends_bytes, now ? PIE_COPY_ENDS_MIN_BYTES : UINT64_MAX,
                          memory_order_seq_cst);
    if (!now && atomic_load_explicit(&followed, memory_order_seq_cst)) /* another thread began meanwhile */
        atomic_store_explicit(&pie_copy_ends_bytes, PIE_COPY_ENDS_MIN_BYTES, memory_order_seq_cst);
}

/* --- Looking at the data --- */

static bool are_equal(uintptr_t a, uintptr_t b, size_t bytes) {
    uintptr_t last = bytes - sizeof(uint64_t); /* overlaps the words before it */

    return pie_safe_equal((const void *)a, (const void *)b, bytes / sizeof(uint64_t)) &&
           pie_safe_equal((const void *)(a + last), (const void *)(b + last), 1);
}

static bool is_unchanged(const struct end *end) {
    size_t stretch = end->bytes / PARTS;

    if (stretch <= PART_BYTES)
        return are_equal(end->to, end->from, end->bytes);
    for (size_t i = 0; i < PARTS; i++) {
        size_t at = i * stretch;
        if (i == PARTS - 1)
            at = end->bytes - PART_BYTES;
        else if (i > 0)
            at += (end->random * (2 * i + 1)) % (stretch - PART_BYTES);
        if (!are_equal(end->to + at, end->from + at, PART_BYTES))
            return false;
    }
    return true;
}

static bool has_most(size_t bytes, size_t block_bytes) {
    return block_bytes / 16 * WHOLE_SIXTEENTHS <= bytes;
}

/* An object that begins the block says how long its data are. */
static bool is_length_of(const struct end *end, uintptr_t block) {
    uint64_t length;

    if (end->to - block > HEADER_BYTES_MAX ||
        !pie_safe_copy(&length, (const void *)(block + LENGTH_OFFSET), sizeof length))
        return false;
    for (uint64_t unit = 1; unit <= UNIT_BYTES_MAX; unit *= 2)
        if (length * unit == end->bytes)
            return true;
    return false;
}

/* Has somebody else written behind the copy? A bytearray ends with a zero, which is its own. */
static bool has_more_behind(const struct end *end, uintptr_t block_end) {
    uintptr_t at = end->to + end->bytes;

    for (size_t i = 0; i < sizeof end->behind && at + i < block_end; i++) {
        uint8_t now;
        if (!pie_safe_load_byte((const void *)(at + i), &now))
            return true;
        if (now != end->behind[i] && (i > 0 || now != 0))
            return true;
    }
    return false;
}

/* Is the copy all of its block, or is that a larger thing, which a view could not be? */
static bool is_whole(const struct end *end, uintptr_t block, size_t block_bytes) {
    if (!has_most(end->bytes, block_bytes))
        return false;
    if (end->to != block)
        return is_length_of(end, block);
    return !has_more_behind(end, block + block_bytes);
}

/* --- Its life --- */

static void stop_watching(struct pie_thread *thread, struct end *end) {
    pie_watch_copy_over(thread, &end->word);
    atomic_store_explicit(&end->word, 0, memory_order_relaxed); /* for the register of another thread */
}

static void finish(struct pie_thread *thread, struct end *end, enum pie_copy_outcome outcome) {
    stop_watching(thread, end);
    end->outcome = (uint8_t)outcome;
    atomic_store_explicit(&end->state, ENDED, memory_order_release);
    count(-1);
}

static enum pie_watch_copy_state watched(const struct end *end) {
    return (enum pie_watch_copy_state)(atomic_load_explicit(&end->word, memory_order_relaxed) & 3);
}

/* True: it is finished with that. */
static bool is_written(struct pie_thread *thread, struct end *end) {
    bool is_trapped = watched(end) == PIE_WATCH_COPY_WRITTEN, is_same = is_unchanged(end);

    if (!is_same || is_trapped)
        finish(thread, end, is_same ? PIE_COPY_REWRITTEN : PIE_COPY_WRITTEN);
    return !is_same || is_trapped;
}

/* The source dies: what its copy becomes later matters no more, but whether it is a thing of its own shows only when it
 * dies, too. */
static void source_dies(struct pie_thread *thread, struct end *end, size_t block_bytes) {
    if (is_written(thread, end))
        return;
    if (!has_most(end->bytes, block_bytes)) {
        finish(thread, end, PIE_COPY_PART);
    } else {
        end->has_lost = watched(end) == PIE_WATCH_COPY_LOST;
        stop_watching(thread, end);
        atomic_store_explicit(&end->state, SOURCE_GONE, memory_order_release);
    }
}

static void copy_dies(struct pie_thread *thread, struct end *end, bool is_source_gone, uintptr_t block,
                      size_t block_bytes) {
    bool has_lost = is_source_gone ? end->has_lost : watched(end) == PIE_WATCH_COPY_LOST;

    if (!is_source_gone && is_written(thread, end))
        return;
    if (!is_whole(end, block, block_bytes))
        finish(thread, end, PIE_COPY_PART);
    else
        finish(thread, end, has_lost ? PIE_COPY_UNSURE : PIE_COPY_NEEDLESS);
}

static bool is_in(uintptr_t address, const void *block, size_t bytes) {
    return address - (uintptr_t)block < bytes;
}

static void dies(struct pie_thread *thread, struct end *end, const void *block, size_t bytes) {
    if (is_in(end->to, block, bytes)) {
        if (claim(end, FOLLOWED, ENDING))
            copy_dies(thread, end, false, (uintptr_t)block, bytes);
        else if (claim(end, SOURCE_GONE, ENDING))
            copy_dies(thread, end, true, (uintptr_t)block, bytes);
    } else if (is_in(end->from, block, bytes) && claim(end, FOLLOWED, ENDING)) {
        source_dies(thread, end, bytes);
    }
}

void pie_copy_ends_freeing(struct pie_thread *thread, const void *block, size_t bytes) {
    for (int i = 0; i < PIE_COPY_ENDS; i++)
        dies(thread, &ends[i], block, bytes);
}

/* Data that grow or shrink are no view's. */
void pie_copy_ends_resizing(struct pie_thread *thread, const void *block, size_t bytes) {
    for (int i = 0; i < PIE_COPY_ENDS; i++) {
        bool is_copy = is_in(ends[i].to, block, bytes), is_source = is_in(ends[i].from, block, bytes);
        if (((is_copy || is_source) && claim(&ends[i], FOLLOWED, ENDING)) ||
            (is_copy && claim(&ends[i], SOURCE_GONE, ENDING)))
            finish(thread, &ends[i], PIE_COPY_WRITTEN);
    }
}

/* All are taken: one that chance chooses is followed no longer. The next copy finds its place. */
static void make_room(struct pie_thread *thread, uint64_t random) {
    struct end *end = &ends[random % PIE_COPY_ENDS];

    if (claim(end, FOLLOWED, ENDING) || claim(end, SOURCE_GONE, ENDING))
        finish(thread, end, PIE_COPY_OPEN);
}

static uint32_t reserve(void) {
    for (uint32_t i = 0; i < PIE_COPY_ENDS; i++)
        if (claim(&ends[i], FREE, FILLING))
            return i + 1;
    return 0;
}

/* A word of 8 bytes within the source or the copy. */
static uint64_t draw_word(const struct end *end) {
    uintptr_t from = end->random & 1 ? end->to : end->from;
    uintptr_t first = (from + 7) & ~(uintptr_t)7;
    size_t words = (from + end->bytes - first) / 8;

    return first + (end->random >> 1) % words * 8;
}

uint32_t pie_copy_ends_begin(struct pie_thread *thread, const void *to, const void *from, size_t bytes,
                             uint64_t random) {
    uint32_t ticket = reserve();

    if (!ticket) {
        make_room(thread, random);
        return 0;
    }
    struct end *end = &ends[ticket - 1];
    end->to = (uintptr_t)to;
    end->from = (uintptr_t)from;
    end->bytes = bytes;
    end->random = random;
    for (size_t i = 0; i < sizeof end->behind; i++) /* where nothing can be read, nothing is compared */
        (void)pie_safe_load_byte((const void *)(end->to + bytes + i), &end->behind[i]);
    if (!pie_watch_copy(thread, draw_word(end), &end->word, ++end->serial,
                        LONGEST_NS + bytes * LONGEST_NS_A_BYTE)) /* to compare them costs less */
        atomic_store_explicit(&end->word, PIE_WATCH_COPY_LOST, memory_order_relaxed);
    return ticket;
}

void pie_copy_ends_start(uint32_t ticket) {
    atomic_store_explicit(&ends[ticket - 1].state, FOLLOWED, memory_order_release);
    count(1);
}

void pie_copy_ends_give_up(struct pie_thread *thread, uint32_t ticket) {
    stop_watching(thread, &ends[ticket - 1]);
    atomic_store_explicit(&ends[ticket - 1].state, FREE, memory_order_release);
}

enum pie_copy_outcome pie_copy_ends_take(uint32_t ticket) {
    struct end *end = &ends[ticket - 1];

    if (atomic_load_explicit(&end->state, memory_order_acquire) != ENDED)
        return PIE_COPY_NO_OUTCOME;
    enum pie_copy_outcome outcome = (enum pie_copy_outcome)end->outcome;
    atomic_store_explicit(&end->state, FREE, memory_order_release);
    return outcome;
}
