/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A seccomp filter that the program sets for itself. A forbidden call may end the process, and the profiler's work in a
 * thread (clocks, watches, the end of the profile) takes system calls. So the exported prctl() and syscall() see the
 * filter coming, and the profiler withdraws before it is set. It withdraws from the thread, or from the process where
 * the filter is for all threads or set by the main one. */

/* hook() ends the profile of the process, which goes on without. Context: launcher (before Python starts). */
void pie_filter_set_hook(void (*hook)(void));
