/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Ways out of the process that run no atexit handlers: _exit(), _Exit() and quick_exit() are exported and call a hook
 * first, but never in a vfork child. Death by a signal calls nothing. */

/* hook(status) must be idempotent; NULL: none. Context: launcher (before Python starts). */
void pie_exit_set_hook(void (*hook)(int status));
/* In a forked child. Context: fork child. */
void pie_exit_fork_child(void);
