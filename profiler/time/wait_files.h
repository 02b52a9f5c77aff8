/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the kernel says of a thread in /proc, read again and again: its files stay open where there are descriptors
 * enough. Context: drain (all of this). */

/* A descriptor; 0: not open yet (0 is never one), -1: the file is opened anew each time. */
struct pie_wait_files {
    int stat, schedstat;
};

/* 'R' runs or waits for a processor, 'S' and 'D' are asleep; 0: the thread is gone. */
char pie_wait_files_state(struct pie_wait_files *files, int32_t tid);

/* How long the thread has waited for a processor so far, and how often it was given one. False: it is gone. */
bool pie_wait_files_delay(struct pie_wait_files *files, int32_t tid, uint64_t *ret_ns, uint64_t *ret_slices);

/* Another thread will be asked about. */
void pie_wait_files_close(struct pie_wait_files *files);

/* Opens a file of the kernel's to be kept open: its descriptor, -1: none is kept, 0: there is no such file. */
int pie_wait_files_open(const char *path);
