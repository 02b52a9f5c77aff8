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
#include "profiler/heap/pauses.h"
#include "profiler/heap/price.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/arenas.h"
#include "runtime/memory/facts.h"
#include "runtime/memory/pymalloc.h"
#include "runtime/memory/pymem_answers.h"
#include "runtime/memory/pymem_work.h"
#include "runtime/memory/tls.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    ARENA_LEAST_BYTES = 256 * 1024, /* smaller ones are chunks of Python's frame stacks */
    PRICE_ROUNDS = 5,               /* as the program begins, which waits for it */
    PAUSE_ROUNDS = 50,
};

extern __thread struct pie_heap_thread *pie_heap_self PIE_TLS;

static PyMemAllocatorEx originals[3]; /* by PyMemAllocatorDomain */
static bool counts_arenas;            /* as one block each */
static _Atomic bool is_checked;       /* arenas cannot be had any more */

/* 0: RAW's, as larger ones are. */
static size_t size_of_request(size_t bytes) {
    return (bytes + PIE_PYMALLOC_ALIGNMENT - 1) & ~(size_t)(PIE_PYMALLOC_ALIGNMENT - 1);
}

/* --- OBJ and MEM over pymalloc --- */

/* The same one for both. Its functions take no notice of ctx, nor do ours: a program that sets an allocator may put one
 * of them beside another domain's ctx. */
static const PyMemAllocatorEx *const pymalloc = &originals[PYMEM_DOMAIN_OBJ];

/* After a block was taken and counted. All functions that take blocks do: what only some of them see ends late, and a
 * slice that is counted is longer than one that is not. */
ALWAYS_INLINE void act_on_request(void) {
    if (__builtin_expect(pie_heap_has_request(), 0))
        pie_heap_pauses_act();
}

__attribute__((noinline, cold)) static void *small_malloc_slowly(void *ctx, size_t bytes,
                                                                 const void *caller) {
    const PyMemAllocatorEx *original = ctx;
    void *block = original->malloc(original->ctx, bytes);
    struct pie_heap_thread *heap = pie_heap_self;

    if (pie_pymalloc_is_small(block))
        pie_heap_allocated_slowly(heap, PIE_HEAP_PYTHON, block, size_of_request(bytes), caller);
    act_on_request();
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

__attribute__((noinline, cold)) static void *small_malloc_acting(const PyMemAllocatorEx *original,
                                                                 size_t bytes);

/* While counting pauses (profiler/heap/pauses.h). */
ALWAYS_INLINE void *small_malloc_paused(const PyMemAllocatorEx *original, size_t bytes) {
    size_t size_class = (bytes - 1) / PIE_PYMALLOC_ALIGNMENT;

    if (__builtin_expect(pie_heap_has_request(), 0))
        return small_malloc_acting(original, bytes);
    if (size_class < PIE_PYMALLOC_CLASSES) {
        void *block = pie_pymalloc_take(size_class);
        if (block)
            return block;
    }
    return original->malloc(original->ctx, bytes);
}

static void *small_malloc_acting(const PyMemAllocatorEx *original, size_t bytes) {
    pie_heap_pauses_act();
    if (pie_heap_is_paused)
        return original->malloc(original->ctx, bytes);
    return small_malloc_counted(original, bytes);
}

static void *small_malloc(void *ctx, size_t bytes) {
    if (__builtin_expect(pie_heap_is_paused, 0))
        return small_malloc_paused(pymalloc, bytes);
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

    if (heap && !pie_heap_is_paused && pie_pymalloc_is_small(block))
        pie_heap_allocated(heap, PIE_HEAP_PYTHON, block, size_of_request(count * bytes),
                           __builtin_return_address(0));
    act_on_request();
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

__attribute__((noinline, cold)) static void small_free_acting(const PyMemAllocatorEx *original, void *block) {
    pie_heap_pauses_act();
    if (!pie_heap_is_paused)
        small_free_counted(original, block);
    else if (pie_heap_self)
        small_free_slowly((void *)original, block);
    else
        original->free(original->ctx, block);
}

/* The end of a block that was sampled is heard of. */
ALWAYS_INLINE void small_free_paused(const PyMemAllocatorEx *original, void *block) {
    if (pie_pymalloc_is_small(block)) {
        if (__builtin_expect(pie_heap_may_be_tracked(block) || pie_heap_has_request(), 0)) {
            small_free_acting(original, block);
            return;
        }
        if (pie_pymalloc_give(block))
            return;
    }
    original->free(original->ctx, block);
}

static void small_free(void *ctx, void *block) {
    if (__builtin_expect(pie_heap_is_paused, 0))
        small_free_paused(pymalloc, block);
    else
        small_free_counted(pymalloc, block);
}

/* From small to large and back, malloc() and free() below count the large part. */
static void *small_realloc(void *ctx, void *block, size_t bytes) {
    const PyMemAllocatorEx *original = pymalloc;
    struct pie_heap_thread *heap = pie_heap_self;

    if (!heap || !pie_pymalloc_is_small(block)) {
        void *moved = original->realloc(original->ctx, block, bytes);
        if (heap && !pie_heap_is_paused && pie_pymalloc_is_small(moved)) /* shrunk, or fresh */
            pie_heap_allocated(heap, PIE_HEAP_PYTHON, moved, pie_pymalloc_size(moved),
                               __builtin_return_address(0));
        act_on_request();
        return moved;
    }
    size_t old_bytes = pie_pymalloc_size(block);
    uint32_t token = pie_heap_resizing(block);
    void *moved = original->realloc(original->ctx, block, bytes);
    size_t new_bytes = !moved ? old_bytes : pie_pymalloc_is_small(moved) ? pie_pymalloc_size(moved) : 0;
    if (pie_heap_is_paused)
        new_bytes = old_bytes; /* it is followed, not counted */
    pie_heap_resized(heap, PIE_HEAP_PYTHON, token, moved ? moved : block, old_bytes, new_bytes,
                     __builtin_return_address(0));
    act_on_request();
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
                                    size_t bytes, bool is_paused) {
    if (__builtin_expect(in_force->malloc == small_malloc, 1))
        return is_paused ? small_malloc_paused(&originals[domain], bytes)
                         : small_malloc_counted(&originals[domain], bytes);
    return bytes > (size_t)PY_SSIZE_T_MAX ? NULL : in_force->malloc(in_force->ctx, bytes);
}

ALWAYS_INLINE void free_directly(const PyMemAllocatorEx *in_force, PyMemAllocatorDomain domain, void *block,
                                 bool is_paused) {
    if (__builtin_expect(in_force->free != small_free, 0))
        in_force->free(in_force->ctx, block);
    else if (is_paused)
        small_free_paused(&originals[domain], block);
    else
        small_free_counted(&originals[domain], block);
}

#define ENTRY_POINTS(name, domain, table, is_paused)                                                         \
    static void *name##_malloc(size_t bytes) {                                                               \
        return malloc_directly(&(table), domain, bytes, is_paused);                                          \
    }                                                                                                        \
    static void name##_free(void *block) {                                                                   \
        free_directly(&(table), domain, block, is_paused);                                                   \
    }

ENTRY_POINTS(object, PYMEM_DOMAIN_OBJ, pie_python_PyObject, false)
ENTRY_POINTS(mem, PYMEM_DOMAIN_MEM, pie_python_PyMem, false)
ENTRY_POINTS(paused_object, PYMEM_DOMAIN_OBJ, pie_python_PyObject, true)
ENTRY_POINTS(paused_mem, PYMEM_DOMAIN_MEM, pie_python_PyMem, true)

enum jump { TO_NONE, TO_COUNTED, TO_PAUSED, JUMPS };

static const struct {
    uintptr_t of_python, ours[JUMPS];
} entries[ENTRIES] = {
    {(uintptr_t)PyObject_Malloc, {0, (uintptr_t)object_malloc, (uintptr_t)paused_object_malloc}},
    {(uintptr_t)PyObject_Free, {0, (uintptr_t)object_free, (uintptr_t)paused_object_free}},
    {(uintptr_t)PyMem_Malloc, {0, (uintptr_t)mem_malloc, (uintptr_t)paused_mem_malloc}},
    {(uintptr_t)PyMem_Free, {0, (uintptr_t)mem_free, (uintptr_t)paused_mem_free}}};
static uint8_t own_code[ENTRIES][JUMP_BYTES]; /* what the jumps took the place of */
static enum jump jumps_to;

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

static bool write_jump(int entry, enum jump to) {
    uint8_t code[JUMP_BYTES] = {JUMP};
    int32_t distance = (int32_t)(entries[entry].ours[to] - entries[entry].of_python - JUMP_BYTES);

    memcpy(code + 1, &distance, sizeof distance);
    if (jumps_to == TO_NONE)
        memcpy(own_code[entry], (const void *)entries[entry].of_python, JUMP_BYTES);
    return write_code(entries[entry].of_python, to == TO_NONE ? own_code[entry] : code);
}

/* With the GIL, or before there is one: nobody is in these functions. False: nothing was changed. */
static bool jump_directly(enum jump to) {
    for (int i = 0; i < ENTRIES && jumps_to != to; i++)
        if (!write_jump(i, to))
            return false; /* at the first one, if at all */
    jumps_to = to;
    return true;
}

static enum jump jumping(void) {
    return jumps_to;
}

#else

enum jump { TO_NONE, TO_COUNTED, TO_PAUSED };

static bool jump_directly(enum jump to) {
    return true;
}

static enum jump jumping(void) {
    return TO_NONE;
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

static void hook_small(PyMemAllocatorDomain domain, void *(*small)(void *ctx, size_t bytes));

static void *arena_alloc(void *ctx, size_t bytes) {
    bool is_arena = bytes >= ARENA_LEAST_BYTES;
    void *arena = pie_arenas_map(bytes, is_arena && pie_pymalloc_zone);
    struct pie_heap_thread *heap = pie_heap_self;

    if (pie_arenas_add(arena, bytes))
        pie_heap_pauses_grown();
    if (!arena && is_arena && pie_pymalloc_zone) {
        atomic_store(&is_checked, true);
        pie_heap_pauses_grown();
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
    pie_arenas_remove(arena, bytes);
    pie_arenas_unmap(arena, bytes, is_arena && pie_pymalloc_zone);
}

/* --- Installing --- */

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

static bool can_pause(void);
static bool set_paused(bool is_paused);
static double paused_price_part(void);

/* How Python's small blocks are counted. */
static void decide(void) {
    static const struct pie_heap_pause_ops pauses = {can_pause, set_paused, pie_arenas_in_use_bytes,
                                                     paused_price_part};

    has_pymalloc =
        memcmp(&originals[PYMEM_DOMAIN_MEM], pymalloc, sizeof *pymalloc) == 0 && is_pymalloc(pymalloc);
    if (has_pymalloc) {
        pie_heap_pauses_install(pie_pymalloc_zone, PIE_PYMALLOC_ZONE_BYTES, &pauses);
        hook_small(PYMEM_DOMAIN_MEM, small_malloc);
        hook_small(PYMEM_DOMAIN_OBJ, small_malloc);
        jump_directly(TO_COUNTED);
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
    pie_arenas_choose_zone();
    PyObject_SetArenaAllocator(&arenas);
    hook_raw(PYMEM_DOMAIN_RAW);
    hook_first(PYMEM_DOMAIN_MEM);
    hook_first(PYMEM_DOMAIN_OBJ);
}

/* --- What it costs --- */

static void get_allocators(PyMemAllocatorEx ret_allocators[3]) {
    for (int i = PYMEM_DOMAIN_RAW; i <= PYMEM_DOMAIN_OBJ; i++)
        PyMem_GetAllocator((PyMemAllocatorDomain)i, &ret_allocators[i]);
}

/* No other one is around them. */
static bool are_ours(const PyMemAllocatorEx allocators[3]) {
    bool are = true;

    for (int i = PYMEM_DOMAIN_RAW; i <= PYMEM_DOMAIN_OBJ; i++)
        are = are && allocators[i].ctx == &originals[i];
    return are;
}

/* Of this domain and those after it. That of raw memory is set before the program begins only: threads ask it without
 * the GIL, while it is set. */
static void set_allocators(const PyMemAllocatorEx allocators[3], int first) {
    for (int i = first; i <= PYMEM_DOMAIN_OBJ; i++) {
        PyMemAllocatorEx allocator = allocators[i];
        PyMem_SetAllocator((PyMemAllocatorDomain)i, &allocator);
    }
}

/* The program did not ask for these. */
static struct pie_heap_thread uncounted = {
    .counts = {{.allocated_limit = UINT64_MAX, .freed_limit = UINT64_MAX},
               {.allocated_limit = UINT64_MAX, .freed_limit = UINT64_MAX}}};

static uint64_t some_blocks_ns(void) {
    return pie_work_least_ns(pie_work_small, PAUSE_ROUNDS) +
           pie_work_least_ns(pie_work_numbers, PAUSE_ROUNDS);
}

/* Of a block, in ns. */
static double pair_ns(void (*work)(void), int rounds, const PyMemAllocatorEx hooks[3], int first) {
    struct pie_heap_thread *counts = pie_heap_self;
    enum jump jumped = jumping();

    pie_heap_self = &uncounted;
    uint64_t counted_ns = pie_work_least_ns(work, rounds);
    set_allocators(originals, first);
    jump_directly(TO_NONE);
    pie_heap_self = NULL;
    uint64_t plain_ns = pie_work_least_ns(work, rounds);
    jump_directly(jumped);
    set_allocators(hooks, first);
    pie_heap_self = counts;
    return counted_ns > plain_ns ? (double)(counted_ns - plain_ns) / PIE_WORK_BLOCKS : 0;
}

/* The middle of three. A single one differs by half between two builds, by where the linker puts functions. */
static double small_pair_ns(int rounds, const PyMemAllocatorEx hooks[3]) {
    double a = pair_ns(pie_work_small, rounds, hooks, PYMEM_DOMAIN_MEM),
           b = pair_ns(pie_work_numbers, rounds, hooks, PYMEM_DOMAIN_MEM),
           c = pair_ns(pie_work_objects, rounds, hooks, PYMEM_DOMAIN_MEM);
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

    get_allocators(hooks);
    if (!are_ours(hooks))
        return;
    double small_ns = pie_heap_price_inherited(PIE_HEAP_PRICE_SMALL),
           large_ns = pie_heap_price_inherited(PIE_HEAP_PRICE_LARGE);
    if (has_pymalloc && small_ns >= 0 && large_ns >= 0)
        set_prices(small_ns, large_ns);
    else if (pie_heap_self)
        set_prices(small_pair_ns(PRICE_ROUNDS, hooks),
                   pair_ns(pie_work_large, PRICE_ROUNDS, hooks, PYMEM_DOMAIN_RAW));
}

/* Interpreters with a GIL each allocate while others ask. None at all: it has ended. */
static bool has_one_interpreter(void) {
    PyInterpreterState *first = PyInterpreterState_Head();

    return first && !PyInterpreterState_Next(first);
}

/* A question to all pools takes 3 ms at most. */
static bool can_pause(void) {
    enum { ARENAS_MAX = 512 };
    PyMemAllocatorEx hooks[3];

    get_allocators(hooks);
    return pie_arenas_count() > 0 && pie_arenas_count() <= ARENAS_MAX && !atomic_load(&is_checked) &&
           are_ours(hooks) && has_one_interpreter();
}

/* Found by its name (bench/counting.py). */
__attribute__((noinline)) static bool set_paused(bool is_paused) {
    if (jumping() != TO_NONE && !jump_directly(is_paused ? TO_PAUSED : TO_COUNTED))
        return false;
    pie_heap_is_paused = is_paused;
    return true;
}

/* Between two blocks of a program that runs. The price of counting is measured anew: in few rounds it differs by a
 * factor of three from run to run, which decides over how much may be counted. */
static double paused_price_part(void) {
    struct pie_heap_thread *counts = pie_heap_self;
    enum jump jumped = jumping();
    PyMemAllocatorEx hooks[3];

    get_allocators(hooks);
    pie_heap_python_pairs_set(small_pair_ns(PAUSE_ROUNDS, hooks), pie_heap_large_pair_ns());
    pie_heap_self = &uncounted;
    uint64_t counted_ns = some_blocks_ns();
    bool is_set = set_paused(true);
    uint64_t paused_ns = some_blocks_ns();
    is_set = set_paused(false) && is_set;
    set_allocators(originals, PYMEM_DOMAIN_MEM);
    jump_directly(TO_NONE);
    uint64_t plain_ns = some_blocks_ns();
    jump_directly(jumped);
    set_allocators(hooks, PYMEM_DOMAIN_MEM);
    pie_heap_self = counts;
    if (!is_set || counted_ns <= plain_ns || paused_ns >= counted_ns)
        return 1;
    return paused_ns > plain_ns ? (double)(paused_ns - plain_ns) / (double)(counted_ns - plain_ns) : 0;
}
