/* SPDX-License-Identifier: Apache-2.0 */

/* What the exported malloc(), free() and memcpy() cost on their fast paths, in the form of Go's benchmarks:
 *   plain  calls that go to the C library straight
 *   off    through ours, and memory is not profiled
 *   on     through ours, counted; nothing is sampled (what a sample costs is the engine's, not the hook's)
 * The three are measured in turn in short rounds, and the shortest of each counts: what else the machine does only
 * adds. `extra-ns/op` is what the call takes longer than plain.
 *
 * `--once WAY pairs|copies BYTES CALLS` only makes these calls, for a tool that counts instructions (hooks.py). */

#include "bench/heap_bench_calls.h"
#include "runtime/memory/allocator.h"
#include "tests/runtime/heap_fake.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5000, CALLS = 1000, WAYS = 3, COPY_BYTES = 4096 + 1024 };

static const char *const way_names[WAYS] = {"plain", "off", "on"};
static _Alignas(
    4096) char copied[2 * COPY_BYTES]; /* 1 KiB apart modulo a page: loads that look like the stores wait */

static double now_ns(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void run_pairs(int way, size_t calls, size_t bytes) {
    if (way == 0)
        heap_bench_pairs_plain(calls, bytes);
    else
        heap_bench_pairs(calls, bytes);
}

static void run_copies(int way, size_t calls, size_t bytes) {
    if (way == 0)
        heap_bench_copies_plain(calls, copied + COPY_BYTES, copied, bytes);
    else
        heap_bench_copies(calls, copied + COPY_BYTES, copied, bytes);
}

static void begin(int way) {
    static struct pie_heap_thread heap;

    if (way == 2)
        heap_fake_begin(&heap, false);
    pie_copy_left = way == 2 ? heap_fake_copy_distance : INT64_MAX;
}

static void bench(const char *name, void (*run)(int way, size_t calls, size_t bytes), size_t bytes) {
    double best_ns[WAYS] = {1e30, 1e30, 1e30};

    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++) {
            begin(way);
            double begin_ns = now_ns();
            run(way, CALLS, bytes);
            double took_ns = (now_ns() - begin_ns) / CALLS;
            heap_fake_end();
            best_ns[way] = took_ns < best_ns[way] ? took_ns : best_ns[way];
        }
    for (int way = 0; way < WAYS; way++)
        printf("Benchmark%s/%zu/%s %d %.2f ns/op %.2f extra-ns/op\n", name, bytes, way_names[way],
               ROUNDS * CALLS, best_ns[way], best_ns[way] - best_ns[0]);
}

static int once(char *const *words) {
    size_t bytes = strtoul(words[2], NULL, 10), calls = strtoul(words[3], NULL, 10);
    int way = 0;

    while (way < WAYS && strcmp(words[0], way_names[way]) != 0)
        way++;
    bool is_pairs = strcmp(words[1], "pairs") == 0;
    if (way == WAYS || (!is_pairs && (strcmp(words[1], "copies") != 0 || bytes > COPY_BYTES)))
        return EXIT_FAILURE;
    begin(way);
    (is_pairs ? run_pairs : run_copies)(way, calls, bytes);
    heap_fake_end();
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    static const size_t block_sizes[] = {16, 64, 256, 1024}, copy_sizes[] = {8, 64, 256, 4096};

    heap_fake_copy_distance = 10485767; /* Scalene's threshold (§3.2) */
    heap_bench_plain.malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    heap_bench_plain.free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    heap_bench_plain.memcpy = (void *(*)(void *, const void *, size_t))dlsym(RTLD_NEXT, "memcpy");
    if (!pie_allocator_check())
        printf("# not counted: %s\n", pie_allocator_refusal());
    if (argc == 6 && strcmp(argv[1], "--once") == 0)
        return once(argv + 2);
    printf("# allocator: %s\n", pie_allocator_name());
    for (size_t i = 0; i < sizeof block_sizes / sizeof *block_sizes; i++)
        bench("MallocFree", run_pairs, block_sizes[i]);
    for (size_t i = 0; i < sizeof copy_sizes / sizeof *copy_sizes; i++)
        bench("Memcpy", run_copies, copy_sizes[i]);
    return EXIT_SUCCESS;
}
