/* SPDX-License-Identifier: Apache-2.0 */

/* Finding such a file takes the kernel thrice as long as making its text. So its descriptor is kept, in the collection
 * thread's own table. Where it has none, the numbers are the program's, and files are closed again. */

#include "profiler/time/wait_files.h"

#include "profiler/base/proc_file.h"
#include "profiler/machine/descriptors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLOSED = 0, NOT_KEPT = -1 };

int pie_wait_files_open(const char *path) {
    if (!pie_descriptors_are_own())
        return NOT_KEPT;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return CLOSED;
    if (!pie_descriptor_is_scarce(fd))
        return fd;
    close(fd);
    return NOT_KEPT;
}

static int open_kept(int32_t tid, const char *name) {
    char path[64];

    snprintf(path, sizeof path, "/proc/thread-self/../%d/%s", tid, name);
    return pie_wait_files_open(path);
}

/* Their text is made whole by one reading. */
static bool read_text(int *fd, int32_t tid, const char *name, char *text, size_t size) {
    if (*fd == CLOSED)
        *fd = open_kept(tid, name);
    if (*fd == NOT_KEPT)
        return pie_proc_read_task(tid, name, text, size) > 0;
    ssize_t length = *fd == CLOSED ? 0 : pread(*fd, text, size - 1, 0);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return true;
}

char pie_wait_files_state(struct pie_wait_files *files, int32_t tid) {
    char text[512];

    if (!read_text(&files->stat, tid, "stat", text, sizeof text))
        return 0;
    const char *state = strrchr(text, ')'); /* the name before it may hold anything */
    return state && state[1] ? state[2] : 0;
}

bool pie_wait_files_delay(struct pie_wait_files *files, int32_t tid, uint64_t *ret_ns, uint64_t *ret_slices) {
    char text[96], *end;

    if (!read_text(&files->schedstat, tid, "schedstat", text, sizeof text))
        return false;
    strtoull(text, &end, 10);
    *ret_ns = strtoull(end, &end, 10);
    *ret_slices = strtoull(end, NULL, 10);
    return true;
}

static void close_kept(int *fd) {
    if (*fd > 0)
        close(*fd);
    *fd = CLOSED;
}

void pie_wait_files_close(struct pie_wait_files *files) {
    close_kept(&files->stat);
    close_kept(&files->schedstat);
}
