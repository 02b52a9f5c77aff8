/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* What pymalloc.h does itself, and pymalloc beside it, on the same pools. Arenas are mapped in a zone of the test's
 * own, so that it can look into every pool: how many blocks are taken there, and whether the list of free ones is
 * whole.
 *
 * What is accepted and what is refused is asked in processes of their own, as the profiler asks it: with the first
 * request for a small block. They are this program again, with the words "try" and what to put around the allocator. */

#include "runtime/memory/pymalloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HAS_LISTS (PY_VERSION_HEX < 0x030C0000) /* of the whole process */

enum {
    ARENA_LEAST_BYTES = 256 * 1024,
    ARENAS_MAX = 4096, /* mapped in all: no address is used again */
    POOL_BYTES = 1 << 14,
    POOL_HEAD_BYTES = 48,
    POOLS_MAX = 1 << 18,
};

static const uintptr_t ZONE = UINT64_C(0x200000000000);

static struct {
    unsigned char *at; /* NULL: gone */
    size_t bytes;
} arenas[ARENAS_MAX];
static size_t n_arenas;
static uintptr_t zone_next;
static PyMemAllocatorEx originals[3]; /* by PyMemAllocatorDomain */

static void *map_arena(void *ctx, size_t bytes) {
    bool is_arena = bytes >= ARENA_LEAST_BYTES;

    if (is_arena && n_arenas == ARENAS_MAX)
        return NULL;
    void *at = mmap((void *)(is_arena ? zone_next : 0), bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | (is_arena ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if (is_arena) {
        zone_next += bytes;
        arenas[n_arenas].at = at;
        arenas[n_arenas++].bytes = bytes;
    }
    return at;
}

static void unmap_arena(void *ctx, void *at, size_t bytes) {
    munmap(at, bytes);
    for (size_t i = 0; i < n_arenas; i++)
        if (arenas[i].at == at)
            arenas[i].at = NULL;
}

/* --- Looking into pools --- */

/* The blocks that are free, of those that were ever handed out; -1: the list is not whole. */
static long free_blocks(const struct pie_pymalloc_pool *pool, size_t bytes, long limit) {
    uintptr_t head = (uintptr_t)pool;
    long n = 0;

    for (void *block = pool->first_free; block; block = *(pie_pymalloc_link *)block) {
        uintptr_t offset = (uintptr_t)block - head;
        if (offset < POOL_HEAD_BYTES || offset >= pool->next_offset ||
            (offset - POOL_HEAD_BYTES) % bytes != 0 || ++n > limit)
            return -1;
    }
    return n;
}

static void check_pool(const struct pie_pymalloc_pool *pool) {
    assert_true(pool->size_class < PIE_PYMALLOC_CLASSES);
    size_t bytes = pie_pymalloc_size(pool);
    assert_int_equal((pool->next_offset - POOL_HEAD_BYTES) % bytes, 0);
    long handed_out = (long)((pool->next_offset - POOL_HEAD_BYTES) / bytes);
    assert_true(handed_out <= (long)((POOL_BYTES - POOL_HEAD_BYTES) / bytes));
    assert_int_equal(free_blocks(pool, bytes, handed_out), handed_out - (long)pool->taken);
}

/* Of all pools in use; their lists are checked by the way. */
static size_t blocks_taken(void) {
    size_t sum = 0;

    for (size_t i = 0; i < n_arenas; i++) {
        for (size_t at = 0; arenas[i].at && at + POOL_BYTES <= arenas[i].bytes; at += POOL_BYTES) {
            const struct pie_pymalloc_pool *pool = (const void *)(arenas[i].at + at);
            if (pool->next_offset == 0) /* never used */
                continue;
            check_pool(pool);
            sum += pool->taken;
        }
    }
    return sum;
}

/* --- What is put around the allocator --- */

enum { WRAPPED_CLASS_BYTES = 160 };

struct wrapped {
    const PyMemAllocatorEx *original;
    const char *how;
    void *held;
    size_t n_twice; /* frees of what is free */
};

static bool is(const struct wrapped *wrapped, const char *how) {
    return strcmp(wrapped->how, how) == 0;
}

static void *wrapped_malloc(void *ctx, size_t bytes) {
    struct wrapped *wrapped = ctx;
    size_t asked = bytes;

    if (is(wrapped, "swaps") && (bytes == WRAPPED_CLASS_BYTES || bytes == WRAPPED_CLASS_BYTES + 16))
        asked = 2 * WRAPPED_CLASS_BYTES + 16 - bytes;
    if (is(wrapped, "larger") && bytes == WRAPPED_CLASS_BYTES)
        asked = bytes + 16;
    if (is(wrapped, "large too") && bytes > PIE_PYMALLOC_MAX)
        asked = PIE_PYMALLOC_MAX;
    if (is(wrapped, "outside") && bytes == WRAPPED_CLASS_BYTES)
        return malloc(bytes);
    return wrapped->original->malloc(wrapped->original->ctx, asked);
}

static bool is_free(const struct wrapped *wrapped, const void *block) {
    if (!pie_pymalloc_is_small(block))
        return false;
    for (void *other = pie_pymalloc_pool_of(block)->first_free; other; other = *(pie_pymalloc_link *)other)
        if (other == block)
            return true;
    return block == wrapped->held;
}

static void wrapped_free(void *ctx, void *block) {
    struct wrapped *wrapped = ctx;

    if (is(wrapped, "never frees"))
        return;
    if (is_free(wrapped, block)) {
        wrapped->n_twice++;
        return;
    }
    if (is(wrapped, "delays")) {
        void *last = wrapped->held;
        wrapped->held = block;
        block = last;
    }
    if (is(wrapped, "outside") && !pie_pymalloc_is_small(block))
        free(block);
    else
        wrapped->original->free(wrapped->original->ctx, block);
}

/* --- One try --- */

enum verdict {
    OBJ_ACCEPTED = 1,
    MEM_ACCEPTED = 2,
    ALL_LISTS = 4,
    SOME_LISTS = 8,
    LEFT = 16, /* blocks stay allocated */
    FREED_TWICE = 32,
    FAILED = 64,
};

static const char *wrapper;

static bool is_accepted(PyMemAllocatorDomain domain, unsigned *verdict) {
    static struct wrapped wrappeds[3];
    struct wrapped *wrapped = &wrappeds[domain];
    const PyMemAllocatorEx *original = &originals[domain];

    if (!*wrapper)
        return pie_pymalloc_try(original->malloc, original->free, original->ctx);
    wrapped->original = original;
    wrapped->how = wrapper;
    bool result = pie_pymalloc_try(wrapped_malloc, wrapped_free, wrapped);
    if (wrapped->held)
        original->free(original->ctx, wrapped->held);
    if (wrapped->n_twice > 0)
        *verdict |= FREED_TWICE;
    return result;
}

/* In how many classes the block that came back last is taken. */
static size_t classes_with_lists(void) {
    const PyMemAllocatorEx *original = &originals[PYMEM_DOMAIN_OBJ];
    size_t n = 0;

    for (size_t i = 0; i < PIE_PYMALLOC_CLASSES; i++) {
        void *blocks[3];
        for (int k = 0; k < 3; k++)
            blocks[k] = original->malloc(original->ctx, (i + 1) * 16);
        original->free(original->ctx, blocks[0]);
        original->free(original->ctx, blocks[1]);
        bool has_list = pie_pymalloc_take(i) == blocks[1];
        n += has_list;
        if (has_list)
            original->free(original->ctx, blocks[1]);
        original->free(original->ctx, blocks[2]);
    }
    return n;
}

static unsigned try_all(void) {
    unsigned verdict = 0;

    verdict |= is_accepted(PYMEM_DOMAIN_OBJ, &verdict) ? OBJ_ACCEPTED : 0;
    verdict |= is_accepted(PYMEM_DOMAIN_MEM, &verdict) ? MEM_ACCEPTED : 0;
    verdict |= blocks_taken() != 0 ? LEFT : 0;
    if (verdict == (OBJ_ACCEPTED | MEM_ACCEPTED)) {
        size_t n = classes_with_lists();
        verdict |= n == PIE_PYMALLOC_CLASSES ? ALL_LISTS : n > 0 ? SOME_LISTS : 0;
        verdict |= blocks_taken() != 0 ? LEFT : 0;
    }
    return verdict;
}

static unsigned verdict_here;

static void decide(void) {
    for (int i = PYMEM_DOMAIN_MEM; i <= PYMEM_DOMAIN_OBJ; i++)
        PyMem_SetAllocator((PyMemAllocatorDomain)i, &originals[i]);
    verdict_here = try_all();
}

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

/* As the launcher does it: between preinitialization and initialization. */
static bool start_python(const char *around) {
    PyObjectArenaAllocator in_zone = {NULL, map_arena, unmap_arena};
    PyPreConfig preconfig;
    PyConfig config;

    wrapper = around;
    verdict_here = FAILED;
    PyPreConfig_InitPythonConfig(&preconfig);
    if (PyStatus_Exception(Py_PreInitialize(&preconfig)))
        return false;
    pie_pymalloc_zone = zone_next = ZONE;
    PyObject_SetArenaAllocator(&in_zone);
    for (int i = PYMEM_DOMAIN_MEM; i <= PYMEM_DOMAIN_OBJ; i++) {
        PyMemAllocatorDomain domain = (PyMemAllocatorDomain)i;
        PyMemAllocatorEx first = {&originals[i], first_malloc, first_calloc, first_realloc, first_free};
        PyMem_GetAllocator(domain, &originals[i]);
        PyMem_SetAllocator(domain, &first);
    }
    PyConfig_InitPythonConfig(&config);
    PyStatus status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    return !PyStatus_Exception(status);
}

/* --- What is accepted --- */

static unsigned verdict_on(const char *allocator, const char *around) {
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        if (allocator)
            setenv("PYTHONMALLOC", allocator, 1);
        execl("/proc/self/exe", "test_pymalloc", "try", around, (char *)NULL);
        _exit(FAILED);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return (unsigned)WEXITSTATUS(status);
}

static const unsigned ACCEPTED = OBJ_ACCEPTED | MEM_ACCEPTED | (HAS_LISTS ? ALL_LISTS : 0);

static void test_pymalloc_is_accepted(void **state) {
    assert_int_equal(verdict_here, ACCEPTED);
    assert_int_equal(verdict_on(NULL, ""), ACCEPTED);
    assert_int_equal(verdict_on("pymalloc", ""), ACCEPTED);
    assert_int_equal(verdict_on("pymalloc", "nothing"), ACCEPTED); /* the wrapper itself is no reason */
}

static void test_other_allocators_are_refused(void **state) {
    assert_int_equal(verdict_on("malloc", ""), 0);
    assert_int_equal(verdict_on("malloc_debug", ""), 0);
    assert_int_equal(verdict_on("debug", ""), 0);
    assert_int_equal(verdict_on("pymalloc_debug", ""), 0);
#ifdef WITH_MIMALLOC
    assert_int_equal(verdict_on("mimalloc", ""), 0);
#endif
}

/* A block at the begin of its mapping, at a low address: without a zone, what lies before it must not be read. */
static void *malloc_low(void *ctx, size_t bytes) {
    return ctx;
}

static void free_low(void *ctx, void *block) {}

static void test_without_a_zone_nothing_is_read(void **state) {
    enum { PAGE = 4096, PLACE = 0x7f001000 }; /* no pool begins there */
    uintptr_t zone = pie_pymalloc_zone;
    char *low = mmap((void *)(uintptr_t)PLACE, PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_not_equal(low, MAP_FAILED);

    pie_pymalloc_zone = 0;
    bool is_known = pie_pymalloc_try(malloc_low, free_low, low);
    pie_pymalloc_zone = zone;
    assert_false(is_known);
    munmap(low, PAGE);
}

static void test_blocks_of_elsewhere_are_refused(void **state) {
    assert_int_equal(verdict_on("pymalloc", "outside"), 0);
    assert_int_equal(verdict_on("pymalloc", "large too"), 0);
}

static void test_other_sizes_are_refused(void **state) {
    assert_int_equal(verdict_on("pymalloc", "swaps"), 0);
    assert_int_equal(verdict_on("pymalloc", "larger"), 0);
}

static void test_other_orders_are_refused(void **state) {
    /* What was freed when the order was seen to be another is freed again: nothing is asked of what follows. */
    assert_int_equal(verdict_on("pymalloc", "delays"), 0);
    assert_int_equal(verdict_on("pymalloc", "never frees"), LEFT);
}

/* --- Mixed with pymalloc --- */

static uint64_t random_state;

static uint64_t random_next(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545F4914F6CDD1D) >> 16;
}

struct block {
    uint64_t *at;
    size_t bytes; /* as asked for */
    uint64_t pattern;
    PyMemAllocatorDomain domain;
};

static struct {
    size_t taken, asked_to_take, given, asked_to_give;
} counts;

static size_t words_of(size_t bytes) {
    return (bytes + 15) / 16 * 2;
}

/* All of it, also what was not asked for: there lies another block if it was handed out twice. */
static void fill(struct block *block) {
    block->pattern = random_next() | UINT64_C(1) << 63;
    for (size_t i = 0; i < words_of(block->bytes); i++)
        block->at[i] = block->pattern + i;
}

static void verify(const struct block *block, size_t bytes) {
    for (size_t i = 0; i < bytes / 8; i++)
        if (block->at[i] != block->pattern + i)
            fail_msg("word %zu of a block of %zu bytes was overwritten", i, block->bytes);
}

/* As the hook does it. What is taken is what pymalloc would have given. */
static void *take(PyMemAllocatorDomain domain, size_t bytes) {
    const PyMemAllocatorEx *original = &originals[domain];
    size_t size_class = (bytes - 1) / PIE_PYMALLOC_ALIGNMENT;
    void *block = pie_pymalloc_take(size_class);

    counts.asked_to_take++;
    if (!block)
        return original->malloc(original->ctx, bytes);
    counts.taken++;
    assert_int_equal(pie_pymalloc_size(block), (size_class + 1) * PIE_PYMALLOC_ALIGNMENT);
    if (counts.taken % 8 == 0) {
        assert_true(pie_pymalloc_give(block));
        assert_ptr_equal(original->malloc(original->ctx, bytes), block);
    }
    return block;
}

static void give(struct block *block) {
    const PyMemAllocatorEx *original = &originals[block->domain];
    bool is_given = pie_pymalloc_give(block->at);

    counts.asked_to_give++;
    counts.given += is_given;
    if (!is_given)
        original->free(original->ctx, block->at);
    block->at = NULL;
}

static void allocate(struct block *block, size_t bytes, bool is_ours) {
    block->domain = random_next() % 2 ? PYMEM_DOMAIN_OBJ : PYMEM_DOMAIN_MEM;
    const PyMemAllocatorEx *original = &originals[block->domain];

    block->bytes = bytes;
    block->at = is_ours                 ? take(block->domain, bytes)
                : random_next() % 4 > 0 ? original->malloc(original->ctx, bytes)
                                        : original->calloc(original->ctx, 1, bytes);
    assert_non_null(block->at);
    assert_true(pie_pymalloc_is_small(block->at));
    assert_int_equal((uintptr_t)block->at % PIE_PYMALLOC_ALIGNMENT, 0);
    fill(block);
}

static void reallocate(struct block *block, size_t bytes) {
    const PyMemAllocatorEx *original = &originals[block->domain];

    block->at = original->realloc(original->ctx, block->at, bytes);
    assert_non_null(block->at);
    verify(block, bytes < block->bytes ? bytes : block->bytes);
    block->bytes = bytes;
    fill(block);
}

static void release(struct block *block, bool is_ours) {
    const PyMemAllocatorEx *original = &originals[block->domain];

    verify(block, words_of(block->bytes) * 8);
    if (is_ours) {
        give(block);
        return;
    }
    original->free(original->ctx, block->at);
    block->at = NULL;
}

enum { SLOTS = 20000, OPERATIONS = 1000000, PHASE = 50000 };

static void verify_all(const struct block *blocks, size_t n_live, size_t taken_before) {
    size_t n = 0;

    for (size_t i = 0; i < SLOTS; i++)
        if (blocks[i].at) {
            verify(&blocks[i], words_of(blocks[i].bytes) * 8);
            n++;
        }
    assert_int_equal(n, n_live);
    assert_int_equal(blocks_taken(), taken_before + n_live);
}

/* More and more blocks, then fewer and fewer: pools fill and empty. */
static void run_mix(uint64_t seed) {
    struct block *blocks = calloc(SLOTS, sizeof *blocks);
    size_t n_live = 0, taken_before = blocks_taken();

    random_state = seed;
    for (int done = 0; done < OPERATIONS;) {
        struct block *block = &blocks[random_next() % SLOTS];
        bool is_growing = done / PHASE % 2 == 0, is_rare = random_next() % 8 == 0;
        bool is_ours = random_next() % 4 > 0;
        size_t bytes = random_next() % PIE_PYMALLOC_MAX + 1;

        if (block->at && random_next() % 16 == 0)
            reallocate(block, bytes);
        else if (!block->at && (is_growing || is_rare)) {
            allocate(block, bytes, is_ours);
            n_live++;
        } else if (block->at && (!is_growing || is_rare)) {
            release(block, is_ours);
            n_live--;
        } else
            continue;
        if (++done % PHASE == 0)
            verify_all(blocks, n_live, taken_before);
    }
    for (size_t i = 0; i < SLOTS; i++)
        if (blocks[i].at)
            release(&blocks[i], i % 2);
    assert_int_equal(blocks_taken(), taken_before);
    free(blocks);
}

static void test_a_mix_with_pymalloc(void **state) {
    memset(&counts, 0, sizeof counts);
    for (uint64_t seed = 1; seed <= 3; seed++)
        run_mix(seed);
    /* The common case is common. */
    assert_true(counts.asked_to_take > OPERATIONS && counts.asked_to_give > OPERATIONS);
    assert_true(counts.given > counts.asked_to_give / 2);
    if (HAS_LISTS)
        assert_true(counts.taken > counts.asked_to_take / 4);
    else
        assert_int_equal(counts.taken, 0);
}

/* --- Pools that become full and empty again --- */

enum { MANY = 5000 };
enum order { FIRST_IN_FIRST_OUT, LAST_IN_FIRST_OUT, ANY_ORDER, ORDERS };

/* What must be left to pymalloc while these go: the first of a full pool, and the last of each that is left empty. */
static size_t left_to_pymalloc(const struct block blocks[MANY]) {
    static uint16_t ours[POOLS_MAX];
    size_t n = 0;

    memset(ours, 0, sizeof ours);
    for (size_t i = 0; i < MANY; i++) {
        size_t pool = ((uintptr_t)blocks[i].at - pie_pymalloc_zone) / POOL_BYTES;
        assert_true(pool < POOLS_MAX);
        ours[pool]++;
    }
    for (size_t i = 0; i < MANY; i++) {
        const struct pie_pymalloc_pool *pool = pie_pymalloc_pool_of(blocks[i].at);
        uint16_t *n_ours = &ours[((uintptr_t)pool - pie_pymalloc_zone) / POOL_BYTES];
        if (*n_ours > 0)
            n += (size_t)(pool->first_free == NULL) + (pool->taken == *n_ours);
        *n_ours = 0;
    }
    return n;
}

static void shuffle(struct block blocks[MANY]) {
    for (size_t i = MANY - 1; i > 0; i--) {
        size_t other = random_next() % (i + 1);
        struct block block = blocks[i];
        blocks[i] = blocks[other];
        blocks[other] = block;
    }
}

static void fill_and_empty(size_t size_class, enum order order) {
    static struct block blocks[MANY];
    size_t bytes = (size_class + 1) * PIE_PYMALLOC_ALIGNMENT, taken_before = blocks_taken();
    size_t pools_least = MANY / ((POOL_BYTES - POOL_HEAD_BYTES) / bytes);

    for (size_t i = 0; i < MANY; i++)
        allocate(&blocks[i], bytes, true);
    assert_int_equal(blocks_taken(), taken_before + MANY);
    if (order == ANY_ORDER)
        shuffle(blocks);
    size_t left = left_to_pymalloc(blocks);
    assert_true(left >= pools_least);
    memset(&counts, 0, sizeof counts);
    for (size_t i = 0; i < MANY; i++)
        release(&blocks[order == LAST_IN_FIRST_OUT ? MANY - 1 - i : i], true);
    assert_int_equal(counts.asked_to_give, MANY);
    assert_int_equal(counts.given, MANY - left);
    assert_int_equal(blocks_taken(), taken_before);
}

static void test_pools_fill_and_empty(void **state) {
    random_state = 4;
    for (size_t i = 0; i < PIE_PYMALLOC_CLASSES; i++)
        for (int order = 0; order < ORDERS; order++)
            for (int round = 0; round < 2; round++)
                fill_and_empty(i, (enum order)order);
}

/* Two of three stay away, and what comes back is taken again: pools are neither full nor empty. */
static void test_pools_with_holes(void **state) {
    static struct block blocks[MANY];

    random_state = 5;
    for (size_t i = 0; i < PIE_PYMALLOC_CLASSES; i++) {
        size_t bytes = (i + 1) * PIE_PYMALLOC_ALIGNMENT, taken_before = blocks_taken();
        for (size_t k = 0; k < MANY; k++)
            allocate(&blocks[k], bytes, k % 2);
        for (int round = 0; round < 3; round++) {
            shuffle(blocks);
            for (size_t k = 0; k < MANY; k += 3)
                release(&blocks[k], true);
            assert_int_equal(blocks_taken(), taken_before + MANY - (MANY + 2) / 3);
            for (size_t k = 0; k < MANY; k += 3)
                allocate(&blocks[k], bytes, true);
            assert_int_equal(blocks_taken(), taken_before + MANY);
        }
        for (size_t k = 0; k < MANY; k++)
            release(&blocks[k], k % 2);
        assert_int_equal(blocks_taken(), taken_before);
    }
}

/* It goes on with the same pools. */
static void test_python_works_afterwards(void **state) {
    assert_int_equal(
        PyRun_SimpleString("import gc, sys\n"
                           "kept = {str(i): (i, float(i), bytes(i % 600)) for i in range(50000)}\n"
                           "assert all(kept[str(i)] == (i, float(i), bytes(i % 600)) for i in range(50000))\n"
                           "del kept; gc.collect()\n"),
        0);
    blocks_taken();
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pymalloc_is_accepted),
        cmocka_unit_test(test_other_allocators_are_refused),
        cmocka_unit_test(test_without_a_zone_nothing_is_read),
        cmocka_unit_test(test_blocks_of_elsewhere_are_refused),
        cmocka_unit_test(test_other_sizes_are_refused),
        cmocka_unit_test(test_other_orders_are_refused),
        cmocka_unit_test(test_a_mix_with_pymalloc),
        cmocka_unit_test(test_pools_fill_and_empty),
        cmocka_unit_test(test_pools_with_holes),
        cmocka_unit_test(test_python_works_afterwards),
    };
    bool is_try = argc == 3 && strcmp(argv[1], "try") == 0;

    if (!is_try)
        unsetenv("PYTHONMALLOC");
    if (!start_python(is_try ? argv[2] : ""))
        return FAILED;
    return is_try ? (int)verdict_here : cmocka_run_group_tests(tests, NULL, NULL);
}
