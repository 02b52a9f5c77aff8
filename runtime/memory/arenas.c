/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/memory/arenas.h"

#include "profiler/base/safe_load.h"
#include "runtime/memory/pymalloc.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Other memory of that zone, such as a large chunk of a frame stack, has another size than arenas. */
enum {
    FREED_MAX = 1024, /* addresses of arenas that can be used again */
    HINTS = 4,
    ARENA_BYTES = 1 << 20,
    POOL_BYTES = 1 << 14,
    STEP_BITS = 18,                    /* an arena begins at a multiple of these in the zone */
    WORDS = 1 << (40 - STEP_BITS - 6), /* PIE_PYMALLOC_ZONE_BYTES is 1 << 40 */
};

/* Far from where the kernel puts mappings (from the top down), programs (the bottom) and the shadows of sanitizers. */
static const uintptr_t ZONE_LOW = UINT64_C(0x200000000000);
static const uintptr_t HINT_STEP = UINT64_C(64) << 20;

/* Of the process, also of a forked child. Arenas come and go with a GIL held, but from 3.12 on there may be several: a
 * place is drawn by one addition, and of two that want the list of freed ones one goes without. */
static _Atomic uintptr_t zone_next; /* the next arena's place */
static atomic_flag freed_busy =
    ATOMIC_FLAG_INIT; /* stays set in a child forked meanwhile, which goes without */
static uintptr_t freed[FREED_MAX];
static size_t n_freed;
static _Atomic uint64_t begins[WORDS]; /* a bit where an arena begins; most pages are never touched */
static _Atomic size_t n_words;         /* up to here there may be some */
static _Atomic size_t n_arenas, most;

/* The system call itself: the exported mmap() counts native memory. */
static void *map(uintptr_t hint, size_t bytes) {
    long address = syscall(SYS_mmap, hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return address == -1 ? NULL : (void *)address;
}

/* 0: there is none. */
static uintptr_t take_freed(void) {
    uintptr_t place = 0;

    if (atomic_flag_test_and_set_explicit(&freed_busy, memory_order_acquire))
        return 0;
    if (n_freed > 0)
        place = freed[--n_freed];
    atomic_flag_clear_explicit(&freed_busy, memory_order_release);
    return place;
}

static void note_freed(uintptr_t place) {
    if (atomic_flag_test_and_set_explicit(&freed_busy, memory_order_acquire))
        return; /* the zone is large */
    if (n_freed < FREED_MAX)
        freed[n_freed++] = place;
    atomic_flag_clear_explicit(&freed_busy, memory_order_release);
}

static uintptr_t next_place(size_t bytes) {
    return atomic_fetch_add_explicit(&zone_next, bytes, memory_order_relaxed);
}

static void *map_in_zone(size_t bytes) {
    uintptr_t hint = take_freed();

    for (int i = 0; i < HINTS; i++) {
        if (!hint)
            hint = next_place(bytes);
        void *arena = map(hint, bytes);
        if (!arena || (uintptr_t)arena == hint)
            return arena;
        syscall(SYS_munmap, arena, bytes);
        next_place(HINT_STEP); /* something lies there: go past it */
        hint = 0;
    }
    return NULL; /* pymalloc asks malloc() then, block by block */
}

void *pie_arenas_map(size_t bytes, bool in_zone) {
    return in_zone ? map_in_zone(bytes) : map(0, bytes);
}

void pie_arenas_unmap(void *memory, size_t bytes, bool was_in_zone) {
    syscall(SYS_munmap, memory, bytes);
    if (was_in_zone && pie_pymalloc_is_small(memory))
        note_freed((uintptr_t)memory);
}

void pie_arenas_choose_zone(void) {
    uint32_t random = 0;

    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
    pie_pymalloc_zone = ZONE_LOW + ((uintptr_t)(random >> 8) << 20); /* up to 16 TiB further */
    zone_next = pie_pymalloc_zone;
}

/* False: it is none. */
static bool find_bit(const void *arena, size_t bytes, size_t *ret_word, uint64_t *ret_bit) {
    uintptr_t at = (uintptr_t)arena - pie_pymalloc_zone;

    if (bytes != ARENA_BYTES || !pie_pymalloc_is_small(arena) || at & ((1 << STEP_BITS) - 1))
        return false;
    *ret_word = at >> (STEP_BITS + 6);
    *ret_bit = UINT64_C(1) << (at >> STEP_BITS) % 64;
    return true;
}

static bool is_most(_Atomic size_t *greatest, size_t now) {
    size_t before = atomic_load_explicit(greatest, memory_order_relaxed);

    while (now > before)
        if (atomic_compare_exchange_weak_explicit(greatest, &before, now, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

bool pie_arenas_add(const void *arena, size_t bytes) {
    size_t word;
    uint64_t bit;

    if (!arena || !find_bit(arena, bytes, &word, &bit))
        return false;
    is_most(&n_words, word + 1);
    atomic_fetch_or_explicit(&begins[word], bit, memory_order_relaxed);
    return is_most(&most, atomic_fetch_add_explicit(&n_arenas, 1, memory_order_relaxed) + 1);
}

void pie_arenas_remove(const void *arena, size_t bytes) {
    size_t word;
    uint64_t bit;

    if (!find_bit(arena, bytes, &word, &bit) ||
        !(atomic_load_explicit(&begins[word], memory_order_relaxed) & bit))
        return;
    atomic_fetch_and_explicit(&begins[word], ~bit, memory_order_relaxed);
    atomic_fetch_sub_explicit(&n_arenas, 1, memory_order_relaxed);
}

size_t pie_arenas_count(void) {
    return atomic_load_explicit(&n_arenas, memory_order_relaxed);
}

/* A pool that was never used is empty memory, and says that nothing is taken. From 3.12 on another interpreter, which
 * began in a pause, may just give the arena back. */
static uint64_t pool_bytes(const struct pie_pymalloc_pool *pool) {
    struct pie_pymalloc_pool head;

    if (!pie_safe_words(&head, pool, sizeof head / sizeof(uintptr_t)) ||
        head.size_class >= PIE_PYMALLOC_CLASSES)
        return 0;
    uint64_t taken_bytes = (uint64_t)head.taken * (head.size_class + 1) * PIE_PYMALLOC_ALIGNMENT;
    return taken_bytes <= POOL_BYTES ? taken_bytes : 0;
}

static uint64_t arena_bytes(const char *arena) {
    uint64_t bytes = 0;

    for (size_t at = 0; at < ARENA_BYTES; at += POOL_BYTES)
        bytes += pool_bytes((const struct pie_pymalloc_pool *)(const void *)(arena + at));
    return bytes;
}

uint64_t pie_arenas_in_use_bytes(void) {
    size_t words = atomic_load_explicit(&n_words, memory_order_relaxed);
    uint64_t bytes = 0;

    for (size_t word = 0; word < words; word++)
        for (uint64_t bits = atomic_load_explicit(&begins[word], memory_order_relaxed); bits;
             bits &= bits - 1) {
            uint64_t at = (64 * word + (uint64_t)__builtin_ctzll(bits)) << STEP_BITS;
            bytes += arena_bytes((const char *)pie_pymalloc_zone + at);
        }
    return bytes;
}
