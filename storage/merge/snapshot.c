/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/merge/snapshot.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/utsname.h>
#include <time.h>

#include "profiler/base/clocks.h"
#include "storage/read/reader.h"

static const struct timespec PAUSE = {0, 20000000};
static const double NS = 1e9;

static const char running_sql[] =
    "SELECT pid, seen_ns FROM process WHERE cause IS NULL AND ended_ns IS NULL AND host IS :host";

/* A process that was killed may have nobody who says so in the file. */
static bool is_alive(int64_t pid) {
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

static int count(struct pie_reader *reader, int64_t since_ns, struct pie_snapshot *ret_state,
                 char **ret_message) {
    struct pie_snapshot state = {0};
    struct pie_cursor *cursor;
    struct utsname host = {0};
    int r = pie_cursor_open(reader, running_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    (void)uname(&host);
    pie_cursor_bind_text(cursor, ":host", host.nodename);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        bool is_running = is_alive(pie_cursor_int(cursor, 0));
        state.running += is_running;
        state.silent += is_running && pie_cursor_int(cursor, 1) < since_ns;
    }
    pie_cursor_close(cursor);
    *ret_state = state;
    return r;
}

int pie_snapshot_wait(const char *path, double wait_s, struct pie_snapshot *ret_state,
                      struct pie_reader **ret_reader, char **ret_message) {
    struct pie_reader *reader;
    int64_t since_ns = (int64_t)pie_clock_ns(CLOCK_REALTIME);
    int r = pie_reader_open_living(path, &reader, ret_message);
    if (r < 0)
        return r;
    while ((r = count(reader, since_ns, ret_state, ret_message)) == 0 && ret_state->silent > 0 &&
           (double)((int64_t)pie_clock_ns(CLOCK_REALTIME) - since_ns) < wait_s * NS)
        nanosleep(&PAUSE, NULL);
    if (r == 0)
        *ret_reader = reader;
    else
        pie_reader_close(reader);
    return r;
}
