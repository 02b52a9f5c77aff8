/* SPDX-License-Identifier: Apache-2.0 */

/* The kernel has one figure for it, throttled_usec in cpu.stat, of a whole group and summed over processors. A thread
 * that is throttled is runnable meanwhile, so its run delay (/proc/PID/task/TID/schedstat) has the same time in it,
 * beside the time in the run queue. The throttled part of the delay is found as follows:
 *
 * A period's quota is used up by all processors at about the same time, and the next period lets all of them go on.
 * With n processors busy, a throttled period P adds n P - quota to the sum, and each thread loses the n-th part of
 * that. So n comes out of the sums themselves: n = (sum / periods + quota) / P. (A group that was idle in a part of the
 * period makes n too small, never too large.)
 *
 * A thread's delay is booked by the kernel when it runs again, the group's time when it is let go, just before. So the
 * part of a delay that just came is the throttled time that came with it and was not this thread's before. */

#include "profiler/machine/throttle.h"

#include "profiler/base/proc_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* If a quota is set later, or a process is moved, this much may be missed. */
static const uint64_t FIND_NS = 2000000000;
static const uint64_t FRESH_NS = 1000000;
/* Below it nothing is read: the shortest time that a group is throttled is longer. */
static const uint64_t DELAY_MIN_NS = 500000;
static const uint64_t LATE_NS = 60000000; /* from a delay to its being seen: some wall ticks */

enum { CLOSED = 0, NOT_KEPT = -1 };

const struct pie_throttle_files pie_throttle_kernel_files = {"/proc/self/mountinfo", "/proc/self/cgroup"};

/* "key value" at the start of a line. */
static bool number_of(const char *text, const char *key, uint64_t *ret_value) {
    size_t length = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            *ret_value = strtoull(line + length, NULL, 10);
            return true;
        }
    }
    return false;
}

static bool read_file(const struct pie_throttle_level *level, const char *name, char *text, size_t size) {
    char path[PIE_THROTTLE_PATH_BYTES + PIE_THROTTLE_ROOM_BYTES];

    snprintf(path, sizeof path, "%s/%s", level->path, name);
    return pie_proc_read(path, text, size) > 0;
}

static void close_kept(struct pie_throttle_level *level) {
    if (level->stat > 0)
        close(level->stat);
    level->stat = CLOSED;
}

/* To find it takes the kernel longer than to make its text, which one reading takes whole. A group that is no more
 * says ENODEV; another may be made under its name. */
static bool read_stat(const struct pie_throttle *throttle, struct pie_throttle_level *level, char *text,
                      size_t size) {
    const char *name = level->is_local ? "cpu.stat.local" : "cpu.stat";
    char path[PIE_THROTTLE_PATH_BYTES + PIE_THROTTLE_ROOM_BYTES];

    snprintf(path, sizeof path, "%s/%s", level->path, name);
    if (level->stat == CLOSED)
        level->stat = throttle->open_kept ? throttle->open_kept(path) : NOT_KEPT;
    if (level->stat == NOT_KEPT)
        return read_file(level, name, text, size);
    ssize_t length = level->stat == CLOSED ? 0 : pread(level->stat, text, size - 1, 0);
    if (length <= 0) {
        close_kept(level);
        return false;
    }
    text[length] = '\0';
    return true;
}

/* In ns; version 2 says microseconds. False: no quota. */
static bool read_quota(const struct pie_throttle_level *level, uint64_t *ret_quota_ns,
                       uint64_t *ret_period_ns) {
    char text[64], period[64], *end;

    if (read_file(level, "cpu.max", text, sizeof text)) {
        *ret_quota_ns = strtoull(text, &end, 10) * 1000;
        *ret_period_ns = strtoull(end, NULL, 10) * 1000;
        return end != text && *ret_period_ns > 0;
    }
    if (!read_file(level, "cpu.cfs_quota_us", text, sizeof text) || text[0] == '-' ||
        !read_file(level, "cpu.cfs_period_us", period, sizeof period))
        return false;
    *ret_quota_ns = strtoull(text, NULL, 10) * 1000;
    *ret_period_ns = strtoull(period, NULL, 10) * 1000;
    return *ret_period_ns > 0;
}

static bool read_throttled(const struct pie_throttle *throttle, struct pie_throttle_level *level,
                           uint64_t *ret_ns, uint64_t *ret_periods) {
    char text[1024];

    *ret_periods = 0;
    if (!read_stat(throttle, level, text, sizeof text))
        return false;
    if (!level->is_local && !number_of(text, "nr_throttled", ret_periods))
        return false;
    if (number_of(text, "throttled_time", ret_ns))
        return true;
    if (!number_of(text, "throttled_usec", ret_ns))
        return false;
    *ret_ns *= 1000;
    return true;
}

/* The index-th field of a line, from 0; its length in *ret_length. */
static const char *field(const char *line, int index, size_t *ret_length) {
    for (; index > 0; index--) {
        line += strcspn(line, " \n");
        line += *line == ' ';
    }
    *ret_length = strcspn(line, " \n");
    return line;
}

static bool has_word(const char *list, size_t length, const char *word) {
    size_t size = strlen(word);

    for (const char *at = list, *end = list + length; at < end; at += strcspn(at, ", :\n") + 1)
        if (strcspn(at, ", :\n") == size && strncmp(at, word, size) == 0)
            return true;
    return false;
}

/* The path of the process in the hierarchy that has the CPU controller: "4:cpu,cpuacct:/a/b", or "0::/a/b". */
static bool path_in(const char *text, bool is_v2, char *path, size_t size) {
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *controllers = strchr(line, ':');
        const char *at = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!at)
            return false;
        size_t length = (size_t)(at - controllers - 1);
        if (is_v2 ? length == 0 && line[0] == '0' : has_word(controllers + 1, length, "cpu"))
            return snprintf(path, size, "%.*s", (int)strcspn(at + 1, "\n"), at + 1) < (int)size;
    }
    return false;
}

/* Where a line of mountinfo mounts that hierarchy; what of it is seen there begins at its root. */
static bool is_mount(const char *line, bool is_v2, char *root, char *point) {
    const char *end = line + strcspn(line, "\n"), *dash = strstr(line, " - ");
    size_t length, root_length, point_length;

    if (!dash || dash > end)
        return false;
    const char *type = field(dash + 3, 0, &length);
    if (length != (is_v2 ? 7 : 6) || strncmp(type, is_v2 ? "cgroup2" : "cgroup", length) != 0)
        return false;
    const char *options = field(dash + 3, 2, &length);
    if (!is_v2 && !has_word(options, length, "cpu"))
        return false;
    const char *root_at = field(line, 3, &root_length), *point_at = field(line, 4, &point_length);
    if (root_length >= PIE_THROTTLE_PATH_BYTES || point_length >= PIE_THROTTLE_PATH_BYTES)
        return false;
    snprintf(root, PIE_THROTTLE_PATH_BYTES, "%.*s", (int)root_length, root_at);
    snprintf(point, PIE_THROTTLE_PATH_BYTES, "%.*s", (int)point_length, point_at);
    return true;
}

static void add_level(struct pie_throttle *throttle, const char *folder, bool is_local) {
    struct pie_throttle_level level = {.is_local = is_local, .processors = 1, .stat = NOT_KEPT};
    uint64_t ns, periods;

    if (throttle->n_levels == PIE_THROTTLE_LEVELS_MAX)
        return;
    snprintf(level.path, sizeof level.path, "%s", folder);
    if ((!is_local && !read_quota(&level, &ns, &periods)) || !read_throttled(throttle, &level, &ns, &periods))
        return;
    level.stat = CLOSED;
    throttle->levels[throttle->n_levels++] = level;
}

/* From the process's own group outwards, as far as this mount shows. */
static void add_levels(struct pie_throttle *throttle, const char *root, const char *point, const char *path) {
    char folder[2 * PIE_THROTTLE_PATH_BYTES];
    size_t skip = strcmp(root, "/") == 0 ? 0 : strlen(root), base = strlen(point);

    if (strncmp(path, root, skip) != 0 || strstr(path, "/.."))
        skip = strlen(path); /* a namespace: the mount's root is the nearest group that can be seen */
    if (strlen(point) + strlen(path + skip) >= PIE_THROTTLE_PATH_BYTES)
        return;
    size_t length = (size_t)snprintf(folder, sizeof folder, "%s%s", point, path + skip);
    while (length > base && folder[length - 1] == '/')
        folder[--length] = '\0';
    char own[sizeof folder];
    snprintf(own, sizeof own, "%s", folder);
    for (;;) {
        add_level(throttle, folder, false);
        if (length <= base)
            break;
        while (length > base && folder[length - 1] != '/')
            length--;
        length -= length > base;
        folder[length] = '\0';
    }
    if (throttle->n_levels == 0)
        add_level(throttle, own, true);
}

/* True: the hierarchy is there. */
static bool find_in(struct pie_throttle *throttle, const char *mounts, const char *cgroup, bool is_v2) {
    char root[PIE_THROTTLE_PATH_BYTES], point[PIE_THROTTLE_PATH_BYTES], path[PIE_THROTTLE_PATH_BYTES];

    if (!path_in(cgroup, is_v2, path, sizeof path))
        return false;
    for (const char *line = mounts; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (is_mount(line, is_v2, root, point)) {
            add_levels(throttle, root, point, path);
            return true;
        }
    }
    return false;
}

/* What is known of it goes over, its descriptor too. */
static void take_over(struct pie_throttle *before, struct pie_throttle_level *level) {
    for (size_t i = 0; i < before->n_levels; i++) {
        struct pie_throttle_level *same = &before->levels[i];
        if (strcmp(same->path, level->path) != 0 || same->is_local != level->is_local)
            continue;
        *level = *same;
        same->stat = CLOSED;
        return;
    }
}

void pie_throttle_find(struct pie_throttle *throttle, const struct pie_throttle_files *files) {
    static char mounts[65536]; /* collection thread only */
    static struct pie_throttle before;
    char cgroup[4096];

    before = *throttle;
    throttle->n_levels = 0;
    if (pie_proc_read(files->mountinfo, mounts, sizeof mounts) > 0 &&
        pie_proc_read(files->cgroup, cgroup, sizeof cgroup) > 0 && !find_in(throttle, mounts, cgroup, false))
        find_in(throttle, mounts, cgroup, true);
    for (size_t i = 0; i < throttle->n_levels; i++)
        take_over(&before, &throttle->levels[i]);
    for (size_t i = 0; i < before.n_levels; i++)
        close_kept(&before.levels[i]);
}

/* Wall time out of what a level's sum grew by. */
static uint64_t wall_time(struct pie_throttle_level *level, uint64_t grown_ns, uint64_t periods) {
    uint64_t quota_ns, period_ns;

    if (periods > 0 && !level->is_local && read_quota(level, &quota_ns, &period_ns)) {
        double n = ((double)grown_ns / (double)periods + (double)quota_ns) / (double)period_ns;
        level->processors = n > 1 ? n : 1;
    }
    return (uint64_t)((double)grown_ns / level->processors);
}

static void note(struct pie_throttle *throttle, uint64_t now_ns) {
    if (throttle->n_history == PIE_THROTTLE_HISTORY)
        memmove(throttle->history, throttle->history + 1, --throttle->n_history * sizeof *throttle->history);
    throttle->history[throttle->n_history].at_ns = now_ns;
    throttle->history[throttle->n_history++].total_ns = throttle->total_ns;
}

void pie_throttle_read(struct pie_throttle *throttle, uint64_t now_ns) {
    throttle->read_ns = now_ns;
    for (size_t i = 0; i < throttle->n_levels; i++) {
        struct pie_throttle_level *level = &throttle->levels[i];
        uint64_t ns, periods;
        if (!read_throttled(throttle, level, &ns, &periods))
            continue;
        if (level->has_begun && ns > level->throttled_ns)
            throttle->total_ns += wall_time(level, ns - level->throttled_ns, periods - level->periods);
        level->throttled_ns = ns;
        level->periods = periods;
        level->has_begun = true;
    }
    note(throttle, now_ns);
}

void pie_throttle_begin(struct pie_throttle *throttle, uint64_t now_ns) {
    throttle->found_ns = now_ns;
    pie_throttle_find(throttle, &pie_throttle_kernel_files);
    pie_throttle_read(throttle, now_ns);
}

/* The total at a time in the past; the oldest that is known. */
static uint64_t total_at(const struct pie_throttle *throttle, uint64_t at_ns) {
    uint64_t total_ns = throttle->n_history ? throttle->history[0].total_ns : 0;

    for (size_t i = 0; i < throttle->n_history && throttle->history[i].at_ns <= at_ns; i++)
        total_ns = throttle->history[i].total_ns;
    return total_ns;
}

uint64_t pie_throttle_share(struct pie_throttle *throttle, uint64_t now_ns, uint64_t delay_ns,
                            uint64_t *seen_ns) {
    if (delay_ns < DELAY_MIN_NS)
        return 0;
    if (now_ns >= throttle->found_ns + FIND_NS) { /* a thread's end may be before it */
        pie_throttle_find(throttle, &pie_throttle_kernel_files);
        throttle->found_ns = now_ns;
    }
    if (throttle->n_levels == 0)
        return 0;
    if (now_ns >= throttle->read_ns + FRESH_NS)
        pie_throttle_read(throttle, now_ns);
    uint64_t back_ns = delay_ns + LATE_NS;
    uint64_t from_ns = total_at(throttle, now_ns > back_ns ? now_ns - back_ns : 0);
    if (from_ns < *seen_ns)
        from_ns = *seen_ns;
    uint64_t share_ns = throttle->total_ns - from_ns < delay_ns ? throttle->total_ns - from_ns : delay_ns;
    *seen_ns = from_ns + share_ns;
    return share_ns;
}
