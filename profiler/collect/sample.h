/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

struct pie_pystack_ops;
struct pie_clock_ops;
struct pie_thread;

/* Whether samples are taken. Between the last look at the threads and the end of the process a signal that was under
 * way would otherwise be counted, and its sample be in no row. Context: drain, engine start. */
void pie_sample_allow(bool is_allowed);

/* Takes one sample of the calling thread, interrupted at context, if that is allowed. The caller is inside
 * (pie_thread_enter()), so who forbids samples and then finds no thread inside has seen the last one. Context: signal
 * (one handler at a time per thread). */
void pie_sample_take(const struct pie_clock_ops *clock, const struct pie_pystack_ops *ops,
                     struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext);
