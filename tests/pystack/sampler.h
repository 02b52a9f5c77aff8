/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/ports/pystack.h"

/* A small sampling profiler for tests: signals that a thread sends to itself, and timers. It has the handler that
 * pie_safe_load() needs, and an oracle: it copies each frame's names at the moment of the sample by its own means. */

enum {
    SAMPLER_FRAMES_MAX = 128,
    SAMPLER_ORACLE_BYTES = 48,
};

struct sampler_frame {
    uint32_t id, offset;
    bool has_marker;
};

struct sampler_sample {
    unsigned flags;
    size_t n;
    struct sampler_frame frames[SAMPLER_FRAMES_MAX];
};

/* What the timers' samples showed, checked by sampler_judge(). */
struct sampler_verdict {
    uint64_t samples, invalid, empty; /* empty: a Python thread without a frame */
    uint64_t frames, wrong, unnamed;  /* wrong: the id's names are not the oracle's; unnamed: no id */
    uint64_t naive_wrong;             /* of the frames, if names were looked up by address now */
};

/* Maps the region, watches code objects, takes the signals; once, before Python starts. False on failure. */
bool sampler_init(void);

/* Installs the handlers; again where something else has taken the signals since. False on failure. */
bool sampler_take_signals(void);

const struct pie_pystack_ops *sampler_ops(void);

/* Interrupts the calling thread and returns what its handler saw; valid until this thread's next sample. */
const struct sampler_sample *sampler_take(void);

/* Interrupts the calling thread every period_us microseconds; returns the number of the timer, or -1. */
int sampler_arm(long period_us);
void sampler_disarm(int timer);

void sampler_judge(struct sampler_verdict *ret_verdict);
