/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <ucontext.h>

struct pie_pystack_ops;
struct pie_clock_ops;
struct pie_thread;

/* Takes one sample of the calling thread, interrupted at context. Context: signal (one handler at a time per
 * thread). */
void pie_sample_take(const struct pie_clock_ops *clock, const struct pie_pystack_ops *ops,
                     struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext);
