/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"

#include <stdbool.h>
#include <stdint.h>

/* For whom threads without Python frames work: those of pools (OpenMP, BLAS, rayon). Context of all: drain. */

struct pie_aggregate;
struct pie_record;
struct pie_thread;

/* A sample of a thread, as it was drained. */
void pie_pools_sample(const struct pie_thread *thread, const struct pie_record *record);

/* A Python thread has waited there for native code that holds it up. */
void pie_pools_wait(const struct pie_thread *thread, struct pie_cct_id node, uint64_t wait_ns);

/* The tick's samples and waits are complete: what native threads ran in it is booked where Python threads waited for
 * them. Nodes that were given before are not used again. */
void pie_pools_settle(struct pie_aggregate *aggregate);

/* In a forked child. */
void pie_pools_forget(void);
