/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pie_clock_ops;
struct pie_thread;

/* What one signal of a clock costs outside of its handler: the interrupt, its way to the handler and the way back. A
 * handler sees nothing of it, and in a virtual machine it is several times as long as the handler. It is measured when
 * the profile begins. Where the clock leaves records of when its periods ended, that price follows each thread: a busy
 * processor's caches make it twice as much. */
struct pie_clock_price {
    uint64_t signal_ns; /* of one signal */
    uint64_t
        whole_permille; /* of the time from a record to the handler: the whole of it; 0: there are no records */
    /* Of switching to a thread and away from it, for a clock that is an event of the kernel's, whose timer is set and
     * taken back then; and where its period is longer than the kernel's tick. 0: no such clock. */
    uint64_t switch_ns, long_switch_ns;
    /* After a signal or a trap the program loads again what it had in the caches: a hypervisor that is asked for a
     * timer leaves little of it. For PIE_CLOCK_HOT_BYTES. */
    uint64_t reload_ns;
};

/* What a busy Python program has in its caches. It lies between 16 KiB, a loop of bytecode, and all of the second
 * level: no time, and 40 to 60 us, on a machine where a signal takes 40. */
enum { PIE_CLOCK_HOT_BYTES = 96 << 10 };

/* Measured at the first call, in 2 to 6 ms, unless it is known. Context: drain (the clock's signals are taken). */
const struct pie_clock_price *pie_clock_price(const struct pie_clock_ops *clock);
/* The price if it is known, else NULL, for the process's children. Context: any. */
const struct pie_clock_price *pie_clock_price_known(void);
/* As another process of this machine has measured it. Context: launcher (before the engine starts). */
void pie_clock_price_set(const struct pie_clock_price *price);

/* Longer than a tick of the kernel, which is 4 ms, or 10 ms where it is longest. */
#define PIE_CLOCK_LONG_PERIOD_NS UINT64_C(12000000)

/* As reload_ns. Context: signal. */
uint64_t pie_clock_reload_ns(void);

/* A signal of the clock has come to a thread that has no slot: to the one that measures. Context: signal. */
void pie_clock_price_entered(void);
/* When that was last, CLOCK_MONOTONIC. Context: drain. */
uint64_t pie_clock_price_last_entered_ns(void);

/* What one of the thread's signals costs by now. Context: signal. */
uint64_t pie_clock_signal_ns(const struct pie_thread *thread);
/* What was measured in a short loop, as it is by now on this thread. Context: signal. */
uint64_t pie_clock_scaled_ns(const struct pie_thread *thread, uint64_t ns);
/* The handler of a signal runs whose period ended then, in user code. Context: signal. */
void pie_clock_note_delivery(struct pie_thread *thread, uint64_t ended_ns);
