/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/time/clock.h"
#include "profiler/time/tasks.h"

#include <stdint.h>
#include <ucontext.h>

struct pie_call_path;
struct pie_thread;

/* A sample of time, as its handler took it. It lives as long as the handler runs. */
struct pie_sample {
    uint64_t time_ns;                   /* CLOCK_MONOTONIC, when the handler began */
    const ucontext_t *ucontext;         /* where the thread was interrupted */
    const struct pie_call_path *stacks; /* both stacks there, and their node */
    struct pie_sample_time time;        /* CPU time that the sample stands for */
    uint64_t cpu_ns;                    /* the thread's CPU clock */
    struct pie_sample_task task;
    uint8_t collects; /* generation of the garbage that is collected, plus one; 0: none, or not known */
};

/* Leaves the sample's record for the collection thread. Context: signal. */
void pie_time_sampled(struct pie_thread *thread, const struct pie_sample *sample);
