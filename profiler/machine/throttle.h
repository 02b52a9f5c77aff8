/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Time in which a CPU quota (cgroup cpu.max, or cpu.cfs_quota_us of version 1) kept this process's threads from
 * running. Context: drain. */

enum {
    PIE_THROTTLE_PATH_BYTES = 512,
    PIE_THROTTLE_LEVELS_MAX = 4,  /* groups with a quota, from the process's own outwards */
    PIE_THROTTLE_HISTORY = 32,    /* readings */
    PIE_THROTTLE_ROOM_BYTES = 32, /* for the name of a file behind the path of a group */
};

struct pie_throttle_level {
    char path[PIE_THROTTLE_PATH_BYTES]; /* of the group's folder */
    bool is_local;         /* it shows no quota: what a group further out does to it is known only as a sum */
    bool has_begun;        /* the next two are known */
    uint64_t throttled_ns; /* at the last reading, summed over the processors */
    uint64_t periods;      /* of the quota, that were throttled */
    double processors;     /* on which its threads are throttled at the same time */
    int stat; /* descriptor of the file with these figures; 0: not open yet, -1: opened each time */
};

struct pie_throttle {
    struct pie_throttle_level levels[PIE_THROTTLE_LEVELS_MAX];
    size_t n_levels;
    uint64_t total_ns; /* of wall time, since the first reading */
    uint64_t read_ns, found_ns;
    struct {
        uint64_t at_ns, total_ns;
    } history[PIE_THROTTLE_HISTORY]; /* the last readings, oldest first */
    size_t n_history;
    /* Opens a file to be kept open: its descriptor, -1: none is kept, 0: there is no such file. NULL: none is kept. */
    int (*open_kept)(const char *path);
};

/* The files that name the process's groups; the kernel's unless a test has others. */
struct pie_throttle_files {
    const char *mountinfo, *cgroup;
};
extern const struct pie_throttle_files pie_throttle_kernel_files;

/* Finds the groups (again): a process can be moved, and a quota set, at any time. */
void pie_throttle_find(struct pie_throttle *throttle, const struct pie_throttle_files *files);

/* Finds them and reads for the first time. */
void pie_throttle_begin(struct pie_throttle *throttle, uint64_t now_ns);

/* Reads the groups' figures. now_ns: CLOCK_MONOTONIC. */
void pie_throttle_read(struct pie_throttle *throttle, uint64_t now_ns);

/* How much of the last delay_ns that a thread waited for a processor (it runs by now) it was throttled. *seen_ns: of
 * this thread, from call to call; at first 0. Reads and finds when it is time. */
uint64_t pie_throttle_share(struct pie_throttle *throttle, uint64_t now_ns, uint64_t delay_ns,
                            uint64_t *seen_ns);
