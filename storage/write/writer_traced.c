/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "storage/write/writer_internal.h"

/* Rows about loops. All are totals that replace what the file has. Figures that need calls which were timed are missing
 * where there were none: SQLite stores what is not a number as NULL. */

/* SQLite's integers are signed. */
static int64_t integer(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* A loop comes again with each flush; its line is asked for once. */
static int want_line(struct pie_writer *writer, const struct pie_traced_loop_row *row) {
    int r = row->loop > writer->source_of_traced ? pie_writer_want_source(writer, row->file, row->line) : 0;
    if (r == 0 && row->loop > writer->source_of_traced)
        writer->source_of_traced = row->loop;
    return r;
}

int pie_writer_put_traced_loop(struct pie_writer *writer, const struct pie_traced_loop_row *row) {
    int r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_TRACED_LOOP, "iitzttdiiidt", writer->process,
                           (int64_t)row->loop, row->file, (int64_t)row->line, row->function, row->policy,
                           row->confidence, integer(row->entries), integer(row->iterations),
                           integer(row->observed_iterations), row->body_s, row->note);
    return r == 0 ? want_line(writer, row) : r;
}

int pie_writer_put_traced_call(struct pie_writer *writer, const struct pie_traced_call_row *row) {
    bool is_timed = row->observed_calls > 0;
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_TRACED_CALL, "iiitztiiziidddddddd", writer->process,
                          (int64_t)row->loop, (int64_t)row->call, row->file, (int64_t)row->line, row->callee,
                          (int64_t)row->is_native, (int64_t)row->state, integer(row->decided_after),
                          integer(row->calls), integer(row->observed_calls), row->share, row->share_low,
                          row->share_high, is_timed ? row->mean_s : NAN,
                          row->observed_calls > 1 ? row->variance_s2 : NAN, is_timed ? row->p50_s : NAN,
                          is_timed ? row->p95_s : NAN, is_timed ? row->p99_s : NAN);
}
