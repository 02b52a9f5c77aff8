/* SPDX-License-Identifier: Apache-2.0 */

/* What counts of the memory that is mapped, and that it is found again in whatever pieces it goes. */
#include "runtime/memory/mappings.h"
#include "runtime/memory/mapping_table.h"

#include "tests/runtime/heap_fake.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS, WRITABLE = PROT_READ | PROT_WRITE, THREADS = 4 };

static struct pie_heap_thread heap;
static void *(*volatile map)(void *, size_t, int, int, int, off_t) = mmap;

static int begin(void **state) {
    heap_fake_begin(&heap, false);
    heap_fake_track_all(false);
    heap_fake_forget();
    return 0;
}

static int end(void **state) {
    heap_fake_end();
    return 0;
}

static int64_t live_pages(void) {
    int64_t live = heap_fake_live(&heap);

    assert_int_equal(live % PAGE, 0);
    assert_int_equal(heap.counts[PIE_HEAP_PYTHON].allocated_bytes, 0);
    return live / PAGE;
}

static char *map_pages(size_t pages) {
    char *mapped = map(NULL, pages * PAGE, WRITABLE, ANONYMOUS, -1, 0);

    assert_ptr_not_equal(mapped, MAP_FAILED);
    return mapped;
}

static void unmap_pages(char *at, size_t pages) {
    errno = 77;
    assert_int_equal(munmap(at, pages * PAGE), 0);
    assert_int_equal(errno, 77);
}

/* Pages that a mapping with these flags adds to the count; it goes again. */
static int64_t counted(size_t bytes, int protection, int flags, int fd) {
    int64_t before = live_pages();
    void *mapped = map(NULL, bytes, protection, flags, fd, 0);
    int64_t added = live_pages() - before;

    assert_ptr_not_equal(mapped, MAP_FAILED);
    assert_int_equal(munmap(mapped, bytes), 0);
    assert_int_equal(live_pages(), before);
    return added;
}

static void test_what_counts(void **state) {
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    assert_int_equal(counted(10 * PAGE, WRITABLE, ANONYMOUS, -1), 10);
    assert_int_equal(counted(10 * PAGE + 1, WRITABLE, ANONYMOUS, -1), 11);
    assert_int_equal(counted(PAGE, WRITABLE, MAP_SHARED | MAP_ANONYMOUS, -1), 1);
    assert_int_equal(counted(PAGE, WRITABLE | PROT_EXEC, ANONYMOUS, -1), 1);
    assert_int_equal(counted(PAGE, PROT_NONE, ANONYMOUS, -1), 0);
    assert_int_equal(counted(PAGE, PROT_READ, ANONYMOUS, -1), 0);
    assert_int_equal(counted(PAGE, WRITABLE, ANONYMOUS | MAP_STACK, -1), 0);
    assert_int_equal(counted(PAGE, WRITABLE, ANONYMOUS | MAP_GROWSDOWN, -1), 0);
    assert_int_equal(counted(PAGE, WRITABLE, ANONYMOUS | MAP_NORESERVE, -1), 0);
    assert_int_equal(counted(PAGE, PROT_READ, MAP_PRIVATE, file), 0);
    assert_int_equal(counted(PAGE, WRITABLE, MAP_PRIVATE, file), 0);
    pie_mappings_quiet++;
    assert_int_equal(counted(PAGE, WRITABLE, ANONYMOUS, -1), 0);
    pie_mappings_quiet--;
    close(file);
}

/* Whatever code lay there is not believed to be there any more; data costs nothing. */
static void test_code_is_told(void **state) {
    heap_fake_rewritten_bytes = 0;
    void *at = map(NULL, 4 * PAGE, WRITABLE, ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    assert_int_equal(heap_fake_rewritten_bytes, 0);
    assert_ptr_equal(map(at, PAGE + 1, PROT_READ | PROT_EXEC, ANONYMOUS | MAP_FIXED, -1, 0), at);
    assert_int_equal(heap_fake_rewritten_bytes, 2 * PAGE);
    assert_ptr_equal(map(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, -1, 0), MAP_FAILED);
    assert_int_equal(heap_fake_rewritten_bytes, 2 * PAGE);
    assert_int_equal(munmap(at, 4 * PAGE), 0);
}

static void test_both_names_count(void **state) {
    void *mapped = mmap64(NULL, PAGE, WRITABLE, ANONYMOUS, -1, 0);

    assert_int_equal(live_pages(), 1);
    unmap_pages(mapped, 1);
    assert_int_equal(live_pages(), 0);
}

static void test_allocators_are_not_counted(void **state) {
    pie_mappings_set_allocator((void *)(uintptr_t)unmap_pages); /* this program is one */
    assert_int_equal(counted(PAGE, WRITABLE, ANONYMOUS, -1), 0);
    pie_mappings_set_allocator(NULL);
    assert_int_equal(counted(PAGE, WRITABLE, ANONYMOUS, -1), 1);
}

static void test_not_profiled(void **state) {
    char *before = map_pages(2);

    heap_fake_end();
    unmap_pages(before, 2); /* forgotten, also by a thread that does not count */
    char *mapped = map_pages(2);
    pie_heap_self = &heap;
    assert_int_equal(live_pages(), 2);
    unmap_pages(mapped, 2);
    assert_int_equal(live_pages(), 2);
}

static void test_what_is_told(void **state) {
    heap_fake_begin(&heap, true);
    char *mapped = map_pages(3);
    assert_int_equal(heap_fake_count, 1);
    assert_int_equal(heap_fake_notes[0].call, HEAP_FAKE_ALLOCATED);
    assert_ptr_equal(heap_fake_notes[0].block, mapped);
    assert_int_equal(heap_fake_notes[0].bytes, 3 * PAGE);
    assert_int_equal(heap_fake_notes[0].domain, PIE_HEAP_NATIVE);
    assert_non_null(heap_fake_notes[0].caller);
    unmap_pages(mapped, 3);
    assert_int_equal(heap_fake_count, 2);
    assert_int_equal(heap_fake_notes[1].call, HEAP_FAKE_FREEING);
    assert_ptr_equal(heap_fake_notes[1].block, mapped);
}

static void test_unmapping_in_pieces(void **state) {
    char *mapped = map_pages(10);

    unmap_pages(mapped, 2); /* head */
    assert_int_equal(live_pages(), 8);
    unmap_pages(mapped + 8 * PAGE, 2); /* tail */
    assert_int_equal(live_pages(), 6);
    unmap_pages(mapped + 4 * PAGE, 1); /* middle */
    assert_int_equal(live_pages(), 5);
    unmap_pages(mapped + 4 * PAGE, 1); /* a hole already */
    assert_int_equal(live_pages(), 5);
    unmap_pages(mapped, 10); /* the rest, holes included */
    assert_int_equal(live_pages(), 0);
}

/* What is left of a mapping is the same allocation: it is resized, and goes on at its new start. */
static void test_pieces_are_resizes(void **state) {
    char *mapped = map_pages(4);

    heap_fake_track_all(true);
    unmap_pages(mapped, 1);
    assert_int_equal(heap_fake_count, 2);
    assert_int_equal(heap_fake_notes[0].call, HEAP_FAKE_RESIZING);
    assert_ptr_equal(heap_fake_notes[0].block, mapped);
    assert_int_equal(heap_fake_notes[1].call, HEAP_FAKE_RESIZED);
    assert_int_equal(heap_fake_notes[1].token, heap_fake_notes[0].token);
    assert_ptr_equal(heap_fake_notes[1].block, mapped + PAGE);
    assert_int_equal(heap_fake_notes[1].old_bytes, 4 * PAGE);
    assert_int_equal(heap_fake_notes[1].bytes, 3 * PAGE);
    heap_fake_track_all(false);
    unmap_pages(mapped + PAGE, 3);
    assert_int_equal(live_pages(), 0);
}

static void test_unmapping_several(void **state) {
    enum { MANY = 3 * PIE_MAPPING_CUTS + 1 };
    char *space = map(NULL, 2 * MANY * PAGE, PROT_NONE, ANONYMOUS, -1, 0);

    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(map(space + 2 * i * PAGE, PAGE, WRITABLE, ANONYMOUS | MAP_FIXED, -1, 0),
                         space + 2 * i * PAGE);
    assert_int_equal(live_pages(), MANY);
    unmap_pages(space, 2 * MANY);
    assert_int_equal(live_pages(), 0);
}

static void test_mapping_over_counted_memory(void **state) {
    char *mapped = map_pages(6);

    map(mapped + PAGE, 2 * PAGE, PROT_NONE, ANONYMOUS | MAP_FIXED, -1, 0);
    assert_int_equal(live_pages(), 4);
    map(mapped, 6 * PAGE, WRITABLE, ANONYMOUS | MAP_FIXED, -1, 0);
    assert_int_equal(live_pages(), 6);
    unmap_pages(mapped, 6);
    assert_int_equal(live_pages(), 0);
}

static void test_failures(void **state) {
    char *mapped = map_pages(4);

    errno = 0;
    assert_int_equal(munmap(mapped + 1, PAGE), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(munmap(mapped, 0), -1);
    assert_int_equal(munmap(mapped, SIZE_MAX), -1);
    assert_int_equal(live_pages(), 4);
    errno = 0;
    assert_ptr_equal(map(mapped, 4 * PAGE, WRITABLE, MAP_PRIVATE | MAP_FIXED, -1, 0), MAP_FAILED);
    assert_int_equal(errno, EBADF);
    assert_int_equal(live_pages(), 4);
    errno = 0;
    assert_ptr_equal(map(NULL, (size_t)1 << 60, WRITABLE, ANONYMOUS, -1, 0), MAP_FAILED);
    assert_int_equal(errno, ENOMEM);
    errno = 0;
    assert_ptr_equal(mremap(mapped, 4 * PAGE, (size_t)1 << 46, MREMAP_MAYMOVE), MAP_FAILED);
    assert_int_equal(errno, ENOMEM);
    assert_ptr_equal(mremap(mapped + 1, 4 * PAGE, PAGE, MREMAP_MAYMOVE), MAP_FAILED);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(live_pages(), 4);
    unmap_pages(mapped, 4);
    assert_int_equal(live_pages(), 0);
}

static void test_mremap(void **state) {
    char *mapped = map_pages(4), *blocker = map_pages(64);

    memset(mapped, 'x', 4 * PAGE);
    heap_fake_track_all(true);
    heap_fake_forget();
    char *moved = mremap(mapped, 4 * PAGE, 1000 * PAGE, MREMAP_MAYMOVE);
    assert_ptr_not_equal(moved, MAP_FAILED);
    assert_int_equal(moved[4 * PAGE - 1], 'x');
    assert_int_equal(heap_fake_count, 2);
    assert_int_equal(heap_fake_notes[1].call, HEAP_FAKE_RESIZED);
    assert_int_equal(heap_fake_notes[1].token, heap_fake_notes[0].token);
    assert_ptr_equal(heap_fake_notes[1].block, moved);
    heap_fake_track_all(false);
    assert_int_equal(live_pages(), 1064);
    moved = mremap(moved, 1000 * PAGE, 10 * PAGE, 0);
    assert_int_equal(live_pages(), 74);
    char *onto = mremap(moved, 10 * PAGE, 10 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, blocker);
    assert_ptr_equal(onto, blocker);
    assert_int_equal(blocker[0], 'x');
    assert_int_equal(live_pages(), 64); /* ten of the blocker's pages went */
    char *part = mremap(blocker + 20 * PAGE, 5 * PAGE, 50 * PAGE, MREMAP_MAYMOVE); /* out of its middle */
    assert_ptr_not_equal(part, MAP_FAILED);
    assert_int_equal(live_pages(), 64 - 5 + 50);
    unmap_pages(part, 50);
    unmap_pages(blocker, 64);
    assert_int_equal(live_pages(), 0);
}

static void test_mremap_that_leaves_the_old(void **state) {
    char *mapped = map_pages(4);
    char *moved = mremap(mapped, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);

    if (moved == MAP_FAILED)
        skip(); /* before Linux 5.7 */
    assert_int_equal(live_pages(), 4);
    unmap_pages(moved, 4);
    unmap_pages(mapped, 4);
    assert_int_equal(live_pages(), 0);
}

static void *map_and_unmap(void *argument) {
    struct pie_heap_thread *own = argument;

    heap_fake_begin(own, false);
    for (unsigned i = 1; i < 3000; i++) {
        size_t pages = i % 7 + 3;
        char *mapped = map_pages(pages);
        unmap_pages(mapped + PAGE, 1);
        unmap_pages(mapped, pages);
    }
    heap_fake_end();
    return NULL;
}

static void test_threads(void **state) {
    static struct pie_heap_thread heaps[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, map_and_unmap, &heaps[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_true(heaps[i].counts[PIE_HEAP_NATIVE].allocated_bytes > 3000 * PAGE);
        assert_int_equal(heap_fake_live(&heaps[i]), 0);
    }
}

static void test_a_forked_child_goes_on(void **state) {
    char *mapped = map_pages(4);
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        munmap(mapped, 2 * PAGE);
        _exit(live_pages() == 2 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    unmap_pages(mapped, 4);
    assert_int_equal(live_pages(), 0);
}

/* The last test: places that were used once are looked at from then on. */
static void test_a_full_table(void **state) {
    struct pie_mapping_cut cuts[PIE_MAPPING_CUTS];
    uint64_t before = pie_mappings_refused();
    uintptr_t far = (uintptr_t)1 << 46;

    for (int i = 0; i < PIE_MAPPING_RANGES; i++)
        assert_true(pie_mapping_table_add(far + (uintptr_t)i * 2 * PAGE, PAGE));
    assert_false(pie_mapping_table_add(far - PAGE, PAGE));
    assert_int_equal(pie_mappings_refused(), before + 1);
    assert_int_equal(counted(PAGE, WRITABLE, ANONYMOUS, -1), 0); /* the program sees nothing of it */
    for (int i = 0; i < PIE_MAPPING_RANGES / PIE_MAPPING_CUTS; i++)
        assert_int_equal(pie_mapping_table_cut(far, (size_t)PIE_MAPPING_RANGES * 2 * PAGE, cuts),
                         PIE_MAPPING_CUTS);
    assert_int_equal(pie_mapping_table_cut(far, (size_t)PIE_MAPPING_RANGES * 2 * PAGE, cuts), 0);
    assert_false(pie_mapping_table_add(far, (size_t)1 << 40)); /* cannot be expressed */
    assert_false(pie_mapping_table_add((uintptr_t)1 << 56, PAGE));
    assert_int_equal(counted(PAGE, WRITABLE, ANONYMOUS, -1), 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(what_counts),
        TEST(code_is_told),
        TEST(both_names_count),
        TEST(allocators_are_not_counted),
        TEST(not_profiled),
        TEST(what_is_told),
        TEST(unmapping_in_pieces),
        TEST(pieces_are_resizes),
        TEST(unmapping_several),
        TEST(mapping_over_counted_memory),
        TEST(failures),
        TEST(mremap),
        TEST(mremap_that_leaves_the_old),
        TEST(threads),
        TEST(a_forked_child_goes_on),
        TEST(a_full_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
