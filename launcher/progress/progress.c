/* SPDX-License-Identifier: Apache-2.0 */

/* The sink that the collection thread writes to is given operations of ours for five of its own: they note figures on
 * the way, and then do what the sink's do. So nothing is counted twice, and a run without the line has nothing of
 * this. */

#include "launcher/progress/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/progress/figures.h"
#include "launcher/progress/terminal_line.h"
#include "profiler/base/clocks.h"
#include "profiler/ports/sink.h"

static const uint64_t TERMINAL_NS = 900000000, PLAIN_NS = UINT64_C(10) * PIE_NS_PER_S; /* between two lines */

enum mode { MODE_NONE, MODE_TERMINAL, MODE_PLAIN };

static struct {
    _Atomic enum mode mode;
    struct stat error; /* standard error, when the program began */
    struct pie_progress_figures figures;
    uint64_t overhead_ns; /* of the collectors so far in this flush */
    uint64_t shown_ns;
    const struct pie_sink_ops *real;
    struct pie_sink_ops ops;
} progress;

void pie_progress_prepare(bool is_asked, bool is_verbose) {
    progress.figures.started_ns = progress.shown_ns = pie_monotonic_ns();
    if ((is_asked || is_verbose) && pie_terminal_line_find())
        progress.mode = MODE_TERMINAL;
    else if (is_verbose && !isatty(STDERR_FILENO) && fstat(STDERR_FILENO, &progress.error) == 0)
        progress.mode = MODE_PLAIN;
}

/* --- A line where there is no terminal --- */

/* The program's standard error, which this thread does not have. A pipe is opened anew, so that a full one does not
 * block; a file is the program's own description, or each would write over the other's lines. */
static int open_error(void) {
    if (!S_ISREG(progress.error.st_mode))
        return open("/proc/self/fd/2", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_APPEND | O_CLOEXEC);
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (process < 0)
        return -1;
    int fd = (int)syscall(SYS_pidfd_getfd, process, STDERR_FILENO, 0);
    close(process);
    return fd;
}

static bool is_same_file(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_dev == progress.error.st_dev &&
           status.st_ino == progress.error.st_ino;
}

/* One write(2), so that lines do not mix. Where it cannot be made at once there is no line. */
static void print_plain(char *text, size_t size) {
    int fd = open_error();
    if (fd < 0)
        return;
    size_t length = strnlen(text, size - 1);
    text[length++] = '\n';
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    if (is_same_file(fd) && poll(&out, 1, 0) > 0 && out.revents == POLLOUT)
        (void)!write(fd, text, length);
    close(fd);
}

static void show(void) {
    uint64_t now_ns = pie_monotonic_ns(), every_ns = progress.mode == MODE_TERMINAL ? TERMINAL_NS : PLAIN_NS;
    char text[256];
    if (now_ns - progress.shown_ns < every_ns)
        return;
    progress.shown_ns = now_ns;
    pie_progress_figures_print(&progress.figures, text, sizeof text);
    if (progress.mode == MODE_TERMINAL)
        pie_terminal_line_show(text);
    else
        print_plain(text, sizeof text);
}

/* --- The sink's operations --- */

static int begin(struct pie_sink *sink, int64_t at_ns) {
    progress.overhead_ns = 0;
    return progress.real->begin(sink, at_ns);
}

static int put_sample(struct pie_sink *sink, const struct pie_sample_row *row) {
    progress.figures.samples += row->samples;
    progress.figures.cpu_ns += row->python_ns + row->native_ns + row->system_ns;
    return progress.real->put_sample(sink, row);
}

static int put_overhead(struct pie_sink *sink, const char *collector, uint64_t cpu_ns, double rate_hz) {
    progress.overhead_ns += cpu_ns;
    return progress.real->put_overhead(sink, collector, cpu_ns, rate_hz);
}

static int commit(struct pie_sink *sink, int64_t now_ns) {
    int r = progress.real->commit(sink, now_ns);
    progress.figures.overhead_ns = progress.overhead_ns;
    show();
    return r;
}

static int end_process(struct pie_sink *sink, int64_t now_ns, const char *cause, int exit_status) {
    pie_progress_end();
    return progress.real->end_process(sink, now_ns, cause, exit_status);
}

void pie_progress_watch(struct pie_sink *sink) {
    if (progress.mode == MODE_NONE || progress.real)
        return;
    progress.real = sink->ops;
    progress.ops = *sink->ops;
    progress.ops.begin = begin;
    progress.ops.put_sample = put_sample;
    progress.ops.put_overhead = put_overhead;
    progress.ops.commit = commit;
    progress.ops.end_process = end_process;
    sink->ops = &progress.ops;
}

void pie_progress_end(void) {
    progress.mode = MODE_NONE;
    pie_terminal_line_end();
}
