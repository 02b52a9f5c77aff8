/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* After an unhandled KeyboardInterrupt Python finishes, and then kills itself by SIGINT, so that its parent sees a
 * death by that signal. hook is called right before, with the signal's number: neither exit() nor _exit() will be.
 * Context: launcher (before Python starts). */
void pie_interrupt_set_hook(void (*hook)(int signal_number));
