/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/base/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int pie_proc_read(const char *path, char *ret_text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    size_t length = 0;
    int r = 0;
    while (length < size - 1) {
        ssize_t n = read(fd, ret_text + length, size - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            r = -errno;
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    close(fd);
    if (r < 0)
        return r;
    ret_text[length] = '\0';
    return (int)length;
}

int pie_proc_read_task(int tid, const char *name, char *ret_text, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/thread-self/../%d/%s", tid, name);
    return pie_proc_read(path, ret_text, size);
}

int pie_proc_read_long(const char *path, long *ret_value) {
    char text[32];
    int r = pie_proc_read(path, text, sizeof(text));
    if (r < 0)
        return r;
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || errno)
        return -EINVAL;
    *ret_value = value;
    return 0;
}

int pie_proc_field(const char *text, const char *key, char *ret_value, size_t size) {
    size_t key_length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, key_length) != 0)
            continue;
        const char *value = line + key_length;
        value += strspn(value, " \t");
        if (*value != ':')
            continue;
        value++;
        value += strspn(value, " \t");
        size_t length = strcspn(value, "\n");
        if (length >= size)
            length = size - 1;
        memcpy(ret_value, value, length);
        ret_value[length] = '\0';
        return (int)length;
    }
    return -ENOENT;
}
