/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* In a forked child, which has one thread. Context: fork child. */
void pie_threads_fork_child(void);
