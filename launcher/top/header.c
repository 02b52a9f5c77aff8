/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "launcher/text/off_times.h"
#include "launcher/text/text.h"
#include "launcher/top/frame.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"

enum {
    COMMAND,
    WALL,
    CPU,
    PYTHON,
    NATIVE,
    SYSTEM,
    SAMPLES,
    PROCESSES,
    THREADS,
    OVERHEAD,
    PEAK,
    RSS_PEAK,
    RSS,
    CAUSE,
    STATUS,
    OFF_TIMES
};

static const char header_sql[] =
    "SELECT v.command, v.wall_s, v.cpu_s, v.python_s, v.native_s, v.system_s, v.samples, v.processes, "
    "v.threads,"
    " v.overhead_share, v.peak_bytes, v.rss_peak_bytes,"
    " (SELECT sum(rss) FROM (SELECT c.rss_bytes AS rss, max(c.t_ns) FROM process p JOIN footprint c"
    " ON c.process = p.id WHERE p.run = :run AND p.ended_ns IS NULL GROUP BY p.id)),"
    " v.cause, v.exit_status," PIE_OFF_TIMES_COLUMNS " FROM v_run v" PIE_OFF_TIMES_JOIN " WHERE v.run = :run";

static const char running_sql[] =
    "SELECT pid, host IS :host FROM process WHERE run = :run AND cause IS NULL AND"
    " ended_ns IS NULL";

static double figure(struct pie_cursor *cursor, int column) {
    return pie_cursor_type(cursor, column) == PIE_VALUE_NULL ? (double)NAN : pie_cursor_real(cursor, column);
}

/* Of another machine nothing is known but that the file does not say that it ended. */
static bool may_run(int64_t pid, bool is_here) {
    return !is_here || (pid > 0 && (kill((pid_t)pid, 0) == 0 || errno != ESRCH));
}

static int find_running(struct pie_reader *reader, int64_t run, bool *ret_is_running, char **ret_message) {
    struct utsname host = {0};
    struct pie_cursor *cursor;
    int r = pie_cursor_open(reader, running_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    (void)uname(&host);
    pie_cursor_bind_int(cursor, ":run", run);
    pie_cursor_bind_text(cursor, ":host", host.nodename);
    while (!*ret_is_running && (r = pie_cursor_next(cursor, ret_message)) > 0)
        *ret_is_running = may_run(pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1));
    pie_cursor_close(cursor);
    return r < 0 ? r : 0;
}

static char *state_of(const struct pie_top_header *header, const char *cause, struct pie_cursor *cursor) {
    char *state = NULL;
    int64_t status = pie_cursor_int(cursor, STATUS);
    if (header->is_running)
        return strdup("running");
    if (!cause)
        return strdup("gone");
    if (pie_cursor_type(cursor, STATUS) != PIE_VALUE_NULL && status > 0)
        return asprintf(&state, "ended: %s, status %lld", cause, (long long)status) < 0 ? NULL : state;
    return strdup("ended");
}

static char *waiting_of(struct pie_cursor *cursor) {
    char *text = NULL;
    size_t size;
    FILE *out =
        pie_cursor_type(cursor, OFF_TIMES + 1) == PIE_VALUE_NULL ? NULL : open_memstream(&text, &size);
    if (!out)
        return NULL;
    pie_off_times_print(out, cursor, OFF_TIMES);
    fclose(out);
    return text;
}

static void fill(struct pie_top_header *header, struct pie_cursor *cursor) {
    const char *command = pie_cursor_text(cursor, COMMAND), *cause = pie_cursor_text(cursor, CAUSE);
    char *clean = cause ? pie_text_printable(cause) : NULL;
    header->command = command ? pie_text_printable(command) : NULL;
    header->state = state_of(header, clean, cursor);
    free(clean);
    header->waiting = waiting_of(cursor);
    header->wall_s = figure(cursor, WALL);
    header->cpu_s = figure(cursor, CPU);
    header->python_s = figure(cursor, PYTHON);
    header->native_s = figure(cursor, NATIVE);
    header->system_s = figure(cursor, SYSTEM);
    header->samples = figure(cursor, SAMPLES);
    header->processes = figure(cursor, PROCESSES);
    header->threads = figure(cursor, THREADS);
    header->overhead_share = figure(cursor, OVERHEAD);
    header->peak_bytes = figure(cursor, PEAK);
    bool has_rss = header->is_running && pie_cursor_type(cursor, RSS) != PIE_VALUE_NULL;
    header->rss_bytes = figure(cursor, has_rss ? RSS : RSS_PEAK);
}

int pie_top_header_read(struct pie_reader *reader, int64_t run, struct pie_top_header *header,
                        char **ret_message) {
    struct pie_cursor *cursor;
    int r = find_running(reader, run, &header->is_running, ret_message);
    if (r == 0)
        r = pie_cursor_open_once(reader, header_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    r = pie_cursor_next(cursor, ret_message);
    if (r > 0)
        fill(header, cursor);
    else if (r == 0)
        r = pie_message(-ENODATA, ret_message, "run %lld holds nothing yet", (long long)run);
    pie_cursor_close(cursor);
    return r < 0 ? r : 0;
}

void pie_top_header_finish(struct pie_top_header *header) {
    free(header->command);
    free(header->state);
    free(header->waiting);
    *header = (struct pie_top_header){0};
}
