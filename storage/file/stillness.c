/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/stillness.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

enum { TICKS_NS = 20000000 }; /* two of the longest, CONFIG_HZ=100 */

static int look(const char *path, struct pie_stillness *ret_stillness) {
    struct stat status;
    if (stat(path, &status) < 0)
        return -errno;
    *ret_stillness = (struct pie_stillness){.device = status.st_dev,
                                            .inode = status.st_ino,
                                            .size_bytes = status.st_size,
                                            .written = status.st_mtim};
    return 0;
}

static bool is_same_time(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* A write within the same tick as the last one would not be seen. A time in the future is another machine's. */
static bool is_fresh(struct timespec written) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)(now.tv_sec - written.tv_sec) * 1000000000 + (now.tv_nsec - written.tv_nsec) < TICKS_NS;
}

int pie_stillness_begin(const char *path, struct pie_stillness *ret_stillness) {
    int r = look(path, ret_stillness);
    if (r < 0 || !is_fresh(ret_stillness->written))
        return r;
    nanosleep(&(struct timespec){.tv_nsec = TICKS_NS}, NULL);
    return look(path, ret_stillness);
}

bool pie_stillness_holds(const char *path, const struct pie_stillness *stillness) {
    struct pie_stillness now = {0};
    return look(path, &now) == 0 && now.device == stillness->device && now.inode == stillness->inode &&
           now.size_bytes == stillness->size_bytes && is_same_time(now.written, stillness->written);
}
