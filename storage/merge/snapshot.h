/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* How far the processes are that write a profile. Context: cli. */
struct pie_reader;

struct pie_snapshot {
    int64_t running; /* processes of this machine that have not ended */
    int64_t silent;  /* of these, those that did not write while it was waited for them */
};

/* Waits until all running processes of this machine have written what they measured before the call, at most wait_s.
 * *ret_reader is to be closed when the snapshot is made: while it is open no program that is done with the file can
 * take the log from beside it, so pie_merge_files() reads it under locks. Returns 0, or -errno and one line for people
 * (heap) where the file cannot be read. */
int pie_snapshot_wait(const char *path, double wait_s, struct pie_snapshot *ret_state,
                      struct pie_reader **ret_reader, char **ret_message);
