/* SPDX-License-Identifier: Apache-2.0 */

/* How many hits of debug registers reach the program with their reason lost: the kernel finds nothing in DR6 and sends
 * TRAP_BRKPT (or TRAP_HWBKPT) where an event should have sent TRAP_PERF; runtime/libc/signals_sigsafe.c, is_lost_hit().
 * It takes a busy virtual machine: run several at once. Knows nothing of the profiler.
 *
 * usage: lost_hits [SECONDS] */

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { REGISTERS = 4, WORDS = 8, TOUCHES = 20, CODE_PERF = 6, CODES = 8 };

static volatile long words[WORDS];
static volatile sig_atomic_t hits[CODES]; /* by si_code */

static void __attribute__((noinline)) called(void) {
    __asm__ volatile("");
}

static void on_trap(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number, (void)context;
    if (info->si_code >= 0 && info->si_code < CODES)
        hits[info->si_code]++;
}

/* Of the called function, or of one of the words. */
static struct perf_event_attr any_breakpoint(void) {
    long choice = random() % (WORDS + 1);

    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .type = PERF_TYPE_BREAKPOINT,
        .bp_type = choice == WORDS ? HW_BREAKPOINT_X : HW_BREAKPOINT_W,
        .bp_addr = choice == WORDS ? (uintptr_t)called : (uintptr_t)&words[choice],
        .bp_len = sizeof(long),
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
    };
}

static void touch(void) {
    for (int i = 0; i < TOUCHES; i++) {
        called();
        words[i % WORDS] = i;
    }
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
    time_t until = time(NULL) + (argc > 1 ? atoi(argv[1]) : 60);
    int fds[REGISTERS];

    sigfillset(&action.sa_mask);
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < REGISTERS; i++) {
        struct perf_event_attr attr = any_breakpoint();
        fds[i] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (fds[i] < 0) {
            perror("lost_hits: perf_event_open");
            return EXIT_FAILURE;
        }
    }
    while (time(NULL) < until) {
        struct perf_event_attr attr = any_breakpoint();
        ioctl(fds[random() % REGISTERS], PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
        touch();
    }
    printf("%d hits told, %d without a reason, %d of no event\n", (int)hits[CODE_PERF], (int)hits[TRAP_BRKPT],
           (int)hits[TRAP_HWBKPT]);
    return EXIT_SUCCESS;
}
