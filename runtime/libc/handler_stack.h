/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_thread;

/* Calls work(argument) on the thread's own stack for handlers, wherever the handler that calls this was begun: on the
 * program's alternate stack, which may be as small as the kernel allows, or on a stack of a coroutine's. Context:
 * signal. */
void pie_handler_stack_run(struct pie_thread *thread, void (*work)(void *), void *argument);
