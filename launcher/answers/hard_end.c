/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/hard_end.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "launcher/answers/profile.h"
#include "profiler/base/clocks.h"
#include "storage/read/reader.h"

enum { GRACE_S = 1 };

static struct {
    struct pie_reader *reader; /* NULL: there is no limit */
    double deadline_s;         /* CLOCK_MONOTONIC */
    double paused_s;
    bool is_json;
    char line[160], object[200];
} limit;

static double now_s(void) {
    return (double)pie_monotonic_ns() / PIE_NS_PER_S;
}

static void set_timer(double seconds) {
    struct timeval value = {.tv_sec = (time_t)seconds};
    value.tv_usec = (suseconds_t)((seconds - (double)value.tv_sec) * 1e6);
    struct itimerval timer = {.it_value = value};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* What was printed is held back in buffers and goes with the process. */
static void end(int signal_number) {
    if (limit.is_json && write(STDOUT_FILENO, limit.object, strlen(limit.object)) < 0)
        _exit(PIE_PROFILE_FAILED);
    if (write(STDERR_FILENO, limit.line, strlen(limit.line)) < 0)
        _exit(PIE_PROFILE_FAILED);
    _exit(PIE_PROFILE_FAILED);
}

void pie_hard_end_start(struct pie_reader *reader, double seconds, bool is_json) {
    static const char text[] = "the query took longer than %g s; ask for less or raise --timeout";
    char message[128];
    limit.reader = reader;
    limit.deadline_s = now_s() + seconds;
    limit.is_json = is_json;
    snprintf(message, sizeof message, text, seconds);
    snprintf(limit.line, sizeof limit.line, "pieprof: %s\n", message);
    snprintf(limit.object, sizeof limit.object, "{\"schema\": 1, \"error\": \"%s\"}\n", message);
    pie_reader_set_time_limit(reader, seconds);
    pie_reader_end_in(reader, seconds);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = end, .sa_flags = SA_RESTART}, NULL);
    set_timer(seconds + GRACE_S);
}

void pie_hard_end_pause(void) {
    if (!limit.reader)
        return;
    set_timer(0);
    limit.paused_s = now_s();
    limit.is_json = false; /* its beginning is printed now */
}

void pie_hard_end_resume(void) {
    if (!limit.reader)
        return;
    double left_s = limit.deadline_s - limit.paused_s;
    limit.deadline_s = now_s() + left_s;
    pie_reader_end_in(limit.reader, left_s > 0 ? left_s : 1e-9);
    set_timer(left_s > 0 ? left_s + GRACE_S : GRACE_S);
}

void pie_hard_end_stop(void) {
    set_timer(0);
    limit.reader = NULL;
}
