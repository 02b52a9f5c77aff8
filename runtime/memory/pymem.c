/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Python asks three domains for memory: OBJ and MEM share pymalloc, which serves up to 512 bytes from pools in arenas
 * and asks RAW for the rest; RAW asks malloc(). So small blocks are counted here, and the exported malloc() counts the
 * rest, as Python's where the RAW hook says so: nothing is counted twice.
 *
 * To count a block that goes its size must be known. pymalloc keeps a size class at the head of each pool (pymalloc.h);
 * what is needed is to tell pymalloc's blocks from others. So arenas are mapped at hinted addresses in a zone of
 * their own, where the kernel puts nothing unasked, and an address in the zone is pymalloc's. All this
 * is tried out with the first request; under another allocator (PYTHONMALLOC, -X dev) blocks are counted below it
 * instead. */

#include "runtime/memory/pymem.h"

#include "profiler/base/clocks.h"
#include "profiler/base/home.h"
#include "profiler/heap/heap.h"
#include "profiler/heap/known_prices.h"
#include "profiler/heap/price.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/facts.h"
#include "runtime/memory/pymalloc.h"
#include "runtime/memory/pymem_answers.h"
#include "runtime/memory/tls.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    ARENA_LEAST_BYTES = 256 * 1024, /* smaller ones are chunks of Python's frame stacks */
    FREED_MAX = 1024,               /* addresses of arenas that can be used again */
    HINTS = 4,
    PRICE_BYTES = 32, /* a number's */
    PRICE_ALIVE = 4,
    PRICE_BLOCKS = 512,
    PRICE_ROUNDS = 5,
};

extern __thread struct pie_heap_thread *pie_heap_self PIE_TLS;

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
static PyMemAllocatorEx originals[3]; /* by PyMemAllocatorDomain */
static bool counts_arenas;            /* as one block each */

/* 0: RAW's, as larger ones are. */
static size_t size_of_request(size_t bytes) {
    return (bytes + PIE_PYMALLOC_ALIGNMENT - 1) & ~(size_t)(PIE_PYMALLOC_ALIGNMENT - 1);
}

/* --- OBJ and MEM over pymalloc --- */

/* The same one for both. Its functions take no notice of ctx, nor do ours: a program that sets an allocator may put one
 * of them beside another domain's ctx. */
static const PyMemAllocatorEx *const pymalloc = &originals[PYMEM_DOMAIN_OBJ];

__attribute__((noinline, cold)) static void *small_malloc_slowly(void *ctx, size_t bytes,
                                                                 const void *caller) {
    const PyMemAllocatorEx *original = ctx;
    void *block = original->malloc(original->ctx, bytes);
    struct pie_heap_thread *heap = pie_heap_self;

    if (pie_pymalloc_is_small(block))
        pie_heap_allocated_slowly(heap, PIE_HEAP_PYTHON, block, size_of_request(bytes), caller);
    return block;
}

/* Counted before, so that a call to pymalloc is the last thing to do. */
ALWAYS_INLINE void *small_malloc_counted(const PyMemAllocatorEx *original, size_t bytes) {
    struct pie_heap_thread *heap = pie_heap_self;
    size_t size_class = (bytes - 1) / PIE_PYMALLOC_ALIGNMENT;

    if (heap && size_class < PIE_PYMALLOC_CLASSES) {
        struct pie_heap_count *count = &heap->counts[PIE_HEAP_PYTHON];
        count->allocated_bytes += (size_class + 1) * PIE_PYMALLOC_ALIGNMENT;
        if (__builtin_expect(count->allocated_bytes >= count->allocated_limit, 0))
            return small_malloc_slowly((void *)original, bytes, __builtin_return_address(0));
        void *block = pie_pymalloc_take(size_class);
        if (block)
            return block;
    }
    return original->malloc(original->ctx, bytes);
}

static void *small_malloc(void *ctx, size_t bytes) {
    return small_malloc_counted(pymalloc, bytes);
}

/* Where arenas cannot be had any more: what is not small was malloc()'s, and is counted there. */
static void *small_malloc_checked(void *ctx, size_t bytes) {
    const PyMemAllocatorEx *original = pymalloc;
    void *block = original->malloc(original->ctx, bytes);
    struct pie_heap_thread *heap = pie_heap_self;

    if (heap && pie_pymalloc_is_small(block))
        pie_heap_allocated(heap, PIE_HEAP_PYTHON, block, size_of_request(bytes), __builtin_return_address(0));
    return block;
}

static void *small_calloc(void *ctx, size_t count, size_t bytes) {
    const PyMemAllocatorEx *original = pymalloc;
    void *block = original->calloc(original->ctx, count, bytes);
    struct pie_heap_thread *heap = pie_heap_self;

    if (heap && pie_pymalloc_is_small(block))
        pie_heap_allocated(heap, PIE_HEAP_PYTHON, block, size_of_request(count * bytes),
                           __builtin_return_address(0));
    return block;
}

__attribute__((noinline, cold)) static void small_free_slowly(void *ctx, void *block) {
    const PyMemAllocatorEx *original = ctx;

    pie_heap_freeing_slowly(pie_heap_self, PIE_HEAP_PYTHON, block, 0);
    original->free(original->ctx, block);
}

ALWAYS_INLINE void small_free_counted(const PyMemAllocatorEx *original, void *block) {
    struct pie_heap_thread *heap = pie_heap_self;

    if (heap && pie_pymalloc_is_small(block)) {
        struct pie_heap_count *count = &heap->counts[PIE_HEAP_PYTHON];
        count->freed_bytes += pie_pymalloc_size(block);
        if (__builtin_expect(count->freed_bytes >= count->freed_limit || pie_heap_may_be_tracked(block), 0)) {
            small_free_slowly((void *)original, block);
            return;
        }
        if (pie_pymalloc_give(block))
            return;
    }
    original->free(original->ctx, block);
}

static void small_free(void *ctx, void *block) {
    small_free_counted(pymalloc, block);
}

/* From small to large and back, malloc() and free() below count the large part. */
static void *small_realloc(void *ctx, void *block, size_t bytes) {
    const PyMemAllocatorEx *original = pymalloc;
    struct pie_heap_thread *heap = pie_heap_self;

    if (!heap || !pie_pymalloc_is_small(block)) {
        void *moved = original->realloc(original->ctx, block, bytes);
        if (heap && pie_pymalloc_is_small(moved)) /* shrunk, or fresh */
            pie_heap_allocated(heap, PIE_HEAP_PYTHON, moved, pie_pymalloc_size(moved),
                               __builtin_return_address(0));
        return moved;
    }
    size_t old_bytes = pie_pymalloc_size(block);
    uint32_t token = pie_heap_resizing(block);
    void *moved = original->realloc(original->ctx, block, bytes);
    size_t new_bytes = !moved ? old_bytes : pie_pymalloc_is_small(moved) ? pie_pymalloc_size(moved) : 0;
    pie_heap_resized(heap, PIE_HEAP_PYTHON, token, moved ? moved : block, old_bytes, new_bytes,
                     __builtin_return_address(0));
    return moved;
}

/* --- CPython's own functions --- */

#if defined(PIE_HAS_PYTHON_TABLES) && defined(__x86_64__)

/* CPython asks the allocator in force through a pointer, but its own without a call. So do we with ours: where memory
 * is counted, CPython's functions begin with a jump to these. It saves a third to a half of what counting a small block
 * costs. They ask the allocator in force as CPython does, so the program may set another one. Where memory is not
 * counted, nothing is changed. The tables of what is in force have these names in a copied libpython
 * (scripts/python-archive). */
extern PyMemAllocatorEx pie_python_PyObject __attribute__((visibility("hidden")));
extern PyMemAllocatorEx pie_python_PyMem __attribute__((visibility("hidden")));

enum { ENTRIES = 4, JUMP_BYTES = 5, PAGE_BYTES = 4096 };

static const uint8_t JUMP = 0xe9; /* jmp, with a distance of 32 bits from the next instruction */

ALWAYS_INLINE void *malloc_directly(const PyMemAllocatorEx *in_force, PyMemAllocatorDomain domain,
                                    size_t bytes) {
    if (__builtin_expect(in_force->malloc == small_malloc, 1))
        return small_malloc_counted(&originals[domain], bytes);
    return bytes > (size_t)PY_SSIZE_T_MAX ? NULL : in_force->malloc(in_force->ctx, bytes);
}

ALWAYS_INLINE void free_directly(const PyMemAllocatorEx *in_force, PyMemAllocatorDomain domain, void *block) {
    if (__builtin_expect(in_force->free == small_free, 1))
        small_free_counted(&originals[domain], block);
    else
        in_force->free(in_force->ctx, block);
}

static void *object_malloc(size_t bytes) {
    return malloc_directly(&pie_python_PyObject, PYMEM_DOMAIN_OBJ, bytes);
}

static void object_free(void *block) {
    free_directly(&pie_python_PyObject, PYMEM_DOMAIN_OBJ, block);
}

static void *mem_malloc(size_t bytes) {
    return malloc_directly(&pie_python_PyMem, PYMEM_DOMAIN_MEM, bytes);
}

static void mem_free(void *block) {
    free_directly(&pie_python_PyMem, PYMEM_DOMAIN_MEM, block);
}

static const struct {
    uintptr_t of_python, ours;
} entries[ENTRIES] = {{(uintptr_t)PyObject_Malloc, (uintptr_t)object_malloc},
                      {(uintptr_t)PyObject_Free, (uintptr_t)object_free},
                      {(uintptr_t)PyMem_Malloc, (uintptr_t)mem_malloc},
                      {(uintptr_t)PyMem_Free, (uintptr_t)mem_free}};
static uint8_t own_code[ENTRIES][JUMP_BYTES]; /* what the jumps took the place of */
static bool jumps;

/* The page stays executable meanwhile: a system that forbids that changes nothing, and then nothing is. */
static bool write_code(uintptr_t at, const uint8_t code[JUMP_BYTES]) {
    uintptr_t page = at & ~(uintptr_t)(PAGE_BYTES - 1);
    size_t bytes = at + JUMP_BYTES - page;

    if (syscall(SYS_mprotect, page, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
        return false;
    memcpy((void *)at, code, JUMP_BYTES);
    syscall(SYS_mprotect, page, bytes, PROT_READ | PROT_EXEC);
    return true;
}

/* With the GIL, or before there is one: nobody is in these functions. */
static void jump_directly(bool wanted) {
    for (int i = 0; i < ENTRIES && jumps != wanted; i++) {
        uint8_t code[JUMP_BYTES] = {JUMP};
        int32_t distance = (int32_t)(entries[i].ours - entries[i].of_python - JUMP_BYTES);
        memcpy(code + 1, &distance, sizeof distance);
        if (wanted)
            memcpy(own_code[i], (const void *)entries[i].of_python, JUMP_BYTES);
        if (!write_code(entries[i].of_python, wanted ? code : own_code[i]))
            return; /* at the first one, if at all */
    }
    jumps = wanted;
}

static bool does_jump(void) {
    return jumps;
}

#else

static void jump_directly(bool wanted) {}

static bool does_jump(void) {
    return false;
}

#endif

/* --- RAW, and OBJ and MEM over anything else: malloc() below counts, for Python or for RAW's caller --- */

/* A library that asks RAW in place of malloc(), as newer releases of NumPy do for arrays, has native memory. RAW's
 * functions jump to the hook, so it returns to their caller. Where they call it, that is the interpreter, and the
 * memory is Python's. */
static enum pie_heap_domain domain_of(const PyMemAllocatorEx *original, const void *caller) {
    bool is_foreign = original == &originals[PYMEM_DOMAIN_RAW] && !pie_home_contains((uintptr_t)caller);

    return is_foreign ? PIE_HEAP_NATIVE : PIE_HEAP_PYTHON;
}

#define FOR_CALLER(statement)                                                                                \
    do {                                                                                                     \
        enum pie_heap_domain before = pie_allocator_domain;                                                  \
        pie_allocator_domain = domain_of(original, __builtin_return_address(0));                             \
        statement;                                                                                           \
        pie_allocator_domain = before;                                                                       \
    } while (0)

static void *raw_malloc(void *ctx, size_t bytes) {
    const PyMemAllocatorEx *original = ctx;
    void *block;

    FOR_CALLER(block = original->malloc(original->ctx, bytes));
    return block;
}

static void *raw_calloc(void *ctx, size_t count, size_t bytes) {
    const PyMemAllocatorEx *original = ctx;
    void *block;

    FOR_CALLER(block = original->calloc(original->ctx, count, bytes));
    return block;
}

static void *raw_realloc(void *ctx, void *block, size_t bytes) {
    const PyMemAllocatorEx *original = ctx;
    void *moved;

    FOR_CALLER(moved = original->realloc(original->ctx, block, bytes));
    return moved;
}

static void raw_free(void *ctx, void *block) {
    const PyMemAllocatorEx *original = ctx;

    FOR_CALLER(original->free(original->ctx, block));
}

/* --- Arenas --- */

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

static void hook_small(PyMemAllocatorDomain domain, void *(*small)(void *ctx, size_t bytes));

static void *arena_alloc(void *ctx, size_t bytes) {
    bool is_arena = bytes >= ARENA_LEAST_BYTES;
    void *arena = is_arena && pie_pymalloc_zone ? map_in_zone(bytes) : map(0, bytes);
    struct pie_heap_thread *heap = pie_heap_self;

    if (!arena && is_arena && pie_pymalloc_zone) {
        hook_small(PYMEM_DOMAIN_MEM, small_malloc_checked);
        hook_small(PYMEM_DOMAIN_OBJ, small_malloc_checked);
    }

    if (counts_arenas && is_arena)
        pie_memory_facts_note(
            "Python's small objects are counted by arenas: its allocator is not the usual one");
    if (heap && arena && (counts_arenas || !is_arena))
        pie_heap_allocated(heap, PIE_HEAP_PYTHON, arena, bytes, __builtin_return_address(0));
    return arena;
}

static void arena_free(void *ctx, void *arena, size_t bytes) {
    bool is_arena = bytes >= ARENA_LEAST_BYTES;
    struct pie_heap_thread *heap = pie_heap_self;

    if (heap && (counts_arenas || !is_arena))
        pie_heap_freeing(heap, PIE_HEAP_PYTHON, arena, bytes);
    syscall(SYS_munmap, arena, bytes);
    if (is_arena && pie_pymalloc_zone && pie_pymalloc_is_small(arena))
        note_freed((uintptr_t)arena);
}

/* --- Installing --- */

static void choose_zone(void) {
    uint32_t random = 0;

    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
    pie_pymalloc_zone = ZONE_LOW + ((uintptr_t)(random >> 8) << 20); /* up to 16 TiB further */
    zone_next = pie_pymalloc_zone;
}

static void hook_small(PyMemAllocatorDomain domain, void *(*small)(void *ctx, size_t bytes)) {
    PyMemAllocatorEx ours = {&originals[domain], small, small_calloc, small_realloc, small_free};

    PyMem_SetAllocator(domain, &ours);
}

static void hook_raw(PyMemAllocatorDomain domain) {
    PyMemAllocatorEx ours = {&originals[domain], raw_malloc, raw_calloc, raw_realloc, raw_free};

    PyMem_SetAllocator(domain, &ours);
}

static bool is_pymalloc(const PyMemAllocatorEx *allocator) {
    return pie_pymalloc_try(allocator->malloc, allocator->free, allocator->ctx);
}

/* Found out once, by the first request: to try pymalloc needs pools of which nothing is in use, and where it fails, no
 * block is taken directly any more. */
static bool has_pymalloc;

/* How Python's small blocks are counted. */
static void decide(void) {
    has_pymalloc =
        memcmp(&originals[PYMEM_DOMAIN_MEM], pymalloc, sizeof *pymalloc) == 0 && is_pymalloc(pymalloc);
    if (has_pymalloc) {
        hook_small(PYMEM_DOMAIN_MEM, small_malloc);
        hook_small(PYMEM_DOMAIN_OBJ, small_malloc);
        jump_directly(true);
        return;
    }
    hook_raw(PYMEM_DOMAIN_MEM);
    hook_raw(PYMEM_DOMAIN_OBJ);
    pie_pymalloc_zone = 0;
    counts_arenas = true;
}

/* The first request of all. Before it there may be no interpreter, whose arenas they are from 3.12 on; it is not
 * counted. */
static void *first_malloc(void *ctx, size_t bytes) {
    const PyMemAllocatorEx *original = ctx;

    decide();
    return original->malloc(original->ctx, bytes);
}

static void *first_calloc(void *ctx, size_t count, size_t bytes) {
    const PyMemAllocatorEx *original = ctx;

    decide();
    return original->calloc(original->ctx, count, bytes);
}

static void *first_realloc(void *ctx, void *block, size_t bytes) {
    const PyMemAllocatorEx *original = ctx;

    decide();
    return original->realloc(original->ctx, block, bytes);
}

static void first_free(void *ctx, void *block) {
    const PyMemAllocatorEx *original = ctx;

    original->free(original->ctx, block);
}

static void hook_first(PyMemAllocatorDomain domain) {
    PyMemAllocatorEx ours = {&originals[domain], first_malloc, first_calloc, first_realloc, first_free};

    PyMem_SetAllocator(domain, &ours);
}

void pie_pymem_install(void) {
    PyObjectArenaAllocator arenas = {NULL, arena_alloc, arena_free};

    for (int i = PYMEM_DOMAIN_RAW; i <= PYMEM_DOMAIN_OBJ; i++)
        PyMem_GetAllocator((PyMemAllocatorDomain)i, &originals[i]);
    pie_pymem_answers_install(originals);
    choose_zone();
    PyObject_SetArenaAllocator(&arenas);
    hook_raw(PYMEM_DOMAIN_RAW);
    hook_first(PYMEM_DOMAIN_MEM);
    hook_first(PYMEM_DOMAIN_OBJ);
}

/* --- What it costs --- */

static void set_allocators(const PyMemAllocatorEx allocators[3]) {
    for (int i = PYMEM_DOMAIN_RAW; i <= PYMEM_DOMAIN_OBJ; i++) {
        PyMemAllocatorEx allocator = allocators[i];
        PyMem_SetAllocator((PyMemAllocatorDomain)i, &allocator);
    }
}

/* Blocks that come while a few others are there, and go soon. Where many are alive at a time, their places differ from
 * run to run, and what they cost by as much as the price. */
static void take_turns(size_t bytes) {
    void *blocks[PRICE_ALIVE] = {NULL};

    for (size_t i = 0; i < PRICE_BLOCKS; i++) {
        PyObject_Free(blocks[i % PRICE_ALIVE]);
        blocks[i % PRICE_ALIVE] = PyObject_Malloc(bytes);
    }
    for (size_t i = 0; i < PRICE_ALIVE; i++)
        PyObject_Free(blocks[i]);
}

static void take_small(void) {
    take_turns(PRICE_BYTES);
}

static void take_large(void) {
    take_turns(PIE_PYMALLOC_MAX + 1);
}

/* Numbers too large to be kept, one of which takes the other's place. */
static void add_numbers(void) {
    PyObject *sum = PyLong_FromLong(1L << 40);

    for (int i = 0; i < PRICE_BLOCKS && sum; i++) {
        PyObject *more = PyNumber_Add(sum, Py_True);
        Py_DECREF(sum);
        sum = more;
    }
    Py_XDECREF(sum);
}

static void make_objects(void) {
    for (int i = 0; i < PRICE_BLOCKS; i++) {
        PyObject *made = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
        Py_XDECREF(made);
    }
}

static uint64_t least_ns(void (*work)(void)) {
    uint64_t least_ns = UINT64_MAX;

    for (int round = 0; round < PRICE_ROUNDS; round++) {
        uint64_t begun_ns = pie_monotonic_ns();
        work();
        uint64_t took_ns = pie_monotonic_ns() - begun_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    return least_ns;
}

/* Of a block, in ns. The program did not ask for these. */
static double pair_ns(void (*work)(void), const PyMemAllocatorEx hooks[3]) {
    static struct pie_heap_thread uncounted = {
        .counts = {{.allocated_limit = UINT64_MAX, .freed_limit = UINT64_MAX},
                   {.allocated_limit = UINT64_MAX, .freed_limit = UINT64_MAX}}};
    struct pie_heap_thread *counts = pie_heap_self;
    bool jumped = does_jump();

    pie_heap_self = &uncounted;
    uint64_t counted_ns = least_ns(work);
    set_allocators(originals);
    jump_directly(false);
    pie_heap_self = NULL;
    uint64_t plain_ns = least_ns(work);
    jump_directly(jumped);
    set_allocators(hooks);
    pie_heap_self = counts;
    return counted_ns > plain_ns ? (double)(counted_ns - plain_ns) / PRICE_BLOCKS : 0;
}

/* The middle of three. A single one differs by half between two builds, by where the linker puts functions. */
static double small_pair_ns(const PyMemAllocatorEx hooks[3]) {
    double a = pair_ns(take_small, hooks), b = pair_ns(add_numbers, hooks), c = pair_ns(make_objects, hooks);
    double low = a < b ? a : b, high = a < b ? b : a;

    return c < low ? low : c > high ? high : c;
}

/* Those of another allocator are other prices, and not handed to children. */
static void set_prices(double small_ns, double large_ns) {
    pie_heap_python_pairs_set(small_ns, large_ns);
    if (!has_pymalloc)
        return;
    pie_heap_price_know(PIE_HEAP_PRICE_SMALL, small_ns);
    pie_heap_price_know(PIE_HEAP_PRICE_LARGE, large_ns);
}

void pie_pymem_measure(void) {
    PyMemAllocatorEx hooks[3];

    for (int i = PYMEM_DOMAIN_RAW; i <= PYMEM_DOMAIN_OBJ; i++) {
        PyMem_GetAllocator((PyMemAllocatorDomain)i, &hooks[i]);
        if (hooks[i].ctx != &originals[i]) /* another's, around ours */
            return;
    }
    double small_ns = pie_heap_price_inherited(PIE_HEAP_PRICE_SMALL),
           large_ns = pie_heap_price_inherited(PIE_HEAP_PRICE_LARGE);
    if (has_pymalloc && small_ns >= 0 && large_ns >= 0)
        set_prices(small_ns, large_ns);
    else if (pie_heap_self)
        set_prices(small_pair_ns(hooks), pair_ns(take_large, hooks));
}
