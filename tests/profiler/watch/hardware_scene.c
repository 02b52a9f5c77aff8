/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/profiler/watch/hardware_scene.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

const struct hardware_way hardware_ways[2] = {
    {"in the program's table", &pie_debug_own_table, false},
    {"hidden", &pie_debug_hidden, true},
};

static void pause_ns(long ns) {
    const struct timespec pause = {.tv_nsec = ns};

    nanosleep(&pause, NULL);
}

/* --- The collection thread --- */

static struct {
    pthread_t thread;
    bool is_running;
    _Atomic bool stop, ready, can_hide;
    _Atomic int events;      /* perf events in its table */
    _Atomic uint64_t rounds; /* of serving everybody */
} keeper;

static void serve(void) {
    for (size_t i = 0; i < pie_thread_count(); i++) {
        struct pie_thread *thread = pie_thread_at(i);
        enum pie_thread_state state = pie_thread_state(thread);
        if (state == PIE_THREAD_ENDED) {
            pie_debug_hidden_close(thread);
            pie_thread_give_back(thread);
        } else if (state == PIE_THREAD_STARTING || state == PIE_THREAD_RUNNING) {
            pie_debug_hidden_serve(thread);
        }
    }
}

static void *keep(void *unused) {
    syscall(SYS_close_range, 0u, ~0u, 2u /* CLOSE_RANGE_UNSHARE */);
    keeper.can_hide = pie_debug_hidden_begin();
    keeper.ready = true;
    while (!keeper.stop) {
        serve();
        keeper.events = hardware_descriptors(NULL);
        keeper.rounds++;
        pause_ns(200000);
    }
    serve();
    return NULL;
}

void hardware_keep(void) {
    sigset_t trap, before;

    keeper.stop = keeper.ready = false;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    pthread_sigmask(SIG_BLOCK, &trap, &before);
    assert_int_equal(pthread_create(&keeper.thread, NULL, keep, NULL), 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    keeper.is_running = true;
    while (!keeper.ready)
        pause_ns(100000);
}

void hardware_stop_keeping(void) {
    keeper.stop = true;
    pthread_join(keeper.thread, NULL);
    keeper.is_running = false;
}

void hardware_await(void) {
    uint64_t rounds = keeper.rounds;

    while (keeper.is_running && keeper.rounds < rounds + 2)
        pause_ns(100000);
}

int hardware_kept(void) {
    if (!keeper.is_running)
        return -1;
    hardware_await();
    return keeper.events;
}

/* --- What there is --- */

static int try_breakpoint(void) {
    struct perf_event_attr attr;
    static uint64_t word;

    pie_debug_prepare(&attr, PIE_DEBUG_STORE, (uintptr_t)&word, 8, 0);
    attr.disabled = 1;
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

bool hardware_is_there(const struct hardware_way *way) {
    int error = try_breakpoint();

    if (error) {
        printf("1..0 # SKIP no debug register can be had here: %s\n", strerror(error));
        return false;
    }
    hardware_keep();
    hardware_stop_keeping();
    if (way->is_hidden && !keeper.can_hide)
        printf("1..0 # SKIP descriptors cannot be hidden here: it takes Linux 6.9\n");
    return !way->is_hidden || keeper.can_hide;
}

static bool is_event(const char *number) {
    char path[PATH_MAX], target[64];

    snprintf(path, sizeof path, "/proc/thread-self/fd/%s", number);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    return strcmp(target, "anon_inode:[perf_event]") == 0;
}

int hardware_descriptors(int *ret_lowest) {
    DIR *dir = opendir("/proc/thread-self/fd");
    int events = 0, lowest = -1;

    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!is_event(entry->d_name))
            continue;
        int number = atoi(entry->d_name);
        lowest = lowest < 0 || number < lowest ? number : lowest;
        events++;
    }
    closedir(dir);
    if (ret_lowest)
        *ret_lowest = lowest;
    return events;
}

int hardware_arm(const struct hardware_way *way, struct pie_thread *thread, unsigned index,
                 enum pie_debug_kind kind, const volatile void *address, unsigned length, uint64_t cookie) {
    int r = way->ops->arm(thread, index, kind, (uintptr_t)address, length, cookie);

    /* A round may have passed this thread before it asked, and the kernel may be short of something for a moment. */
    for (int round = 0; r == -EAGAIN && round < 500; round++) {
        hardware_await();
        r = way->ops->arm(thread, index, kind, (uintptr_t)address, length, cookie);
    }
    if (r < 0)
        printf("# register %u of thread %d: %s\n", index, thread->tid, strerror(-r));
    return r;
}

/* --- Traps --- */

static _Atomic unsigned traps[256];

static void on_trap(int signal, siginfo_t *info, void *context) {
    uint64_t cookie;

    memcpy(&cookie, (char *)info + 24, sizeof cookie);
    if (info->si_code == 6)
        traps[cookie & 255]++;
}

void hardware_take_traps(void) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    memset(traps, 0, sizeof traps);
    assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
}

unsigned hardware_traps(uint8_t cookie) {
    return atomic_exchange(&traps[cookie], 0);
}
