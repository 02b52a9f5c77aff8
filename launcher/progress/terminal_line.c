/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/progress/terminal_line.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "launcher/text/text.h"

/* The collection thread has descriptors of its own, and 2 is not the program's there. Here it is. */
#define STDERR_OF_THE_PROGRAM "/proc/self/fd/2"

enum { ROWS_MIN = 4, COLUMNS_MIN = 40 };

static struct {
    char path[PATH_MAX]; /* of the terminal; "": it has none here */
    dev_t device;
    bool has_looks;
    _Atomic int rows; /* of the terminal when its region was set; 0: it is not */
} line;

bool pie_terminal_line_find(void) {
    const char *kind = getenv("TERM");
    struct stat status;
    if (!isatty(STDERR_FILENO) || fstat(STDERR_FILENO, &status) < 0 || !kind || !*kind ||
        strcmp(kind, "dumb") == 0)
        return false;
    line.device = status.st_rdev;
    line.has_looks = pie_text_is_colourful(stderr);
    if (ttyname_r(STDERR_FILENO, line.path, sizeof line.path) != 0)
        line.path[0] = 0;
    return true;
}

/* A description of its own, which does not block: a terminal that is stopped (Ctrl-S) stops no thread of ours. */
static int open_path(const char *path) {
    struct stat status;
    int fd = *path ? open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == line.device && isatty(fd))
        return fd;
    close(fd);
    return -1;
}

/* In the background it is another program's, and writing may stop this one (TOSTOP). */
static bool is_foreground(int fd) {
    return tcgetpgrp(fd) == getpgrp();
}

/* A program that has keys without lines is an editor, a pager, a prompt. */
static bool has_lines(int fd) {
    struct termios state;
    return tcgetattr(fd, &state) == 0 && state.c_lflag & ICANON;
}

static void put(int fd, const char *text) {
    size_t size = strlen(text);
    for (ssize_t written; size > 0 && (written = write(fd, text, size)) > 0; size -= (size_t)written)
        text += written;
}

/* Index and reverse index leave the cursor where it is, on a row that has another one below it. Setting the region
 * moves the cursor, so it is saved and restored (DECSC, DECRC), with its looks. */
static void show(int fd, int rows, int columns, const char *text) {
    char buffer[512];
    bool is_set = atomic_exchange(&line.rows, rows) == rows;
    snprintf(buffer, sizeof buffer, "%s\0337\033[1;%dr\033[%d;1H\033[0m\033[2K%s%.*s\033[0m\0338",
             is_set ? "" : "\0337\033[r\0338\033D\033M", rows - 1, rows, line.has_looks ? "\033[2m" : "",
             columns - 1, text);
    put(fd, buffer);
}

void pie_terminal_line_show(const char *text) {
    struct winsize size;
    int fd = open_path(STDERR_OF_THE_PROGRAM);
    if (fd < 0)
        return;
    if (is_foreground(fd) && has_lines(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row >= ROWS_MIN &&
        size.ws_col >= COLUMNS_MIN)
        show(fd, size.ws_row, size.ws_col < 200 ? size.ws_col : 200, text);
    close(fd);
}

/* The program may have given up its standard error since. */
void pie_terminal_line_end(void) {
    char buffer[64];
    int rows = atomic_exchange(&line.rows, 0), fd = rows ? open_path(STDERR_OF_THE_PROGRAM) : -1;
    if (rows && fd < 0)
        fd = open_path(line.path);
    if (fd < 0)
        return;
    snprintf(buffer, sizeof buffer, "\0337\033[r\033[%d;1H\033[2K\0338", rows);
    if (is_foreground(fd))
        put(fd, buffer);
    close(fd);
}
