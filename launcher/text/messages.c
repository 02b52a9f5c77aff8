/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/text/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int verbose_on;

void pie_messages_set_verbose(int verbose) {
    verbose_on = verbose;
}

/* stdio's buffers belong to the profiled program as much as to us: the line is put together here and written
 * at once. A line that does not fit is cut, its end marked. */
static void print_line(const char *kind, const char *format, va_list args) {
    char line[4096 + 256];
    int saved_errno = errno;
    size_t room = sizeof line - 1;
    int head = snprintf(line, room, "pieprof: %s", kind);
    int body = vsnprintf(line + head, room - (size_t)head, format, args);
    size_t length = body < 0 ? (size_t)head : (size_t)head + (size_t)body;
    if (length >= room) {
        length = room - 1;
        memcpy(line + length - 3, "...", 3);
    }
    line[length++] = '\n';
    for (size_t done = 0; done < length;) {
        ssize_t n = write(STDERR_FILENO, line + done, length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    errno = saved_errno;
}

static char last[1024];

void pie_message_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_line("", format, args);
    va_end(args);
    va_start(args, format);
    vsnprintf(last, sizeof last, format, args);
    va_end(args);
}

const char *pie_message_last(void) {
    return last;
}

void pie_message_warning(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_line("warning: ", format, args);
    va_end(args);
}

void pie_message_detail(const char *format, ...) {
    if (!verbose_on)
        return;
    va_list args;
    va_start(args, format);
    print_line("", format, args);
    va_end(args);
}
