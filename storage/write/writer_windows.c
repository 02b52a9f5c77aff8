/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ports/windows.h"
#include "storage/write/writer_internal.h"

/* Rows about calls that were counted in windows. All are totals that replace what the file has. */

/* SQLite's integers are signed. */
static int64_t integer(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int put_called(struct pie_writer *writer, const struct pie_window_row *row) {
    return pie_rowlog_add(
        &writer->rows, PIE_STATEMENT_CALLED, "itittiiiiiiiiiiiiiiiii", writer->process, row->file,
        (int64_t)row->line, row->callee, row->function, (int64_t)row->function_line, (int64_t)row->is_in_loop,
        integer(row->calls), integer(row->raised), integer(row->compared), integer(row->distinct_args),
        integer(row->distinct_results), integer(row->once), integer(row->twice), integer(row->again),
        integer(row->alike), integer(row->same), integer(row->call_ns), integer(row->again_ns),
        integer(row->alike_ns), integer(row->line_ns), integer(row->function_ns));
}

static int put_passed(struct pie_writer *writer, const struct pie_window_row *row) {
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_PASSED, "ititiiiiiii", writer->process, row->file,
                          (int64_t)row->line, row->callee, (int64_t)row->passed_kind,
                          (int64_t)row->is_in_loop, integer(row->passed), integer(row->passed_items),
                          integer(row->carried), integer(row->passed_ns), integer(row->line_ns));
}

static int put_counted(struct pie_writer *writer, const struct pie_window_row *row) {
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_WINDOW, "ititiiiiiiiiiiiiiiiiiiii", writer->process,
                          row->file, (int64_t)row->line, row->callee, (int64_t)row->is_item,
                          (int64_t)row->is_in_loop, integer(row->calls), integer(row->raised),
                          integer(row->compared), integer(row->distinct_args), integer(row->distinct_results),
                          integer(row->once), integer(row->twice), integer(row->again), integer(row->alike),
                          integer(row->same), integer(row->singles), integer(row->grew),
                          integer(row->arg_bytes), integer(row->call_ns), integer(row->again_ns),
                          integer(row->alike_ns), integer(row->single_ns), integer(row->bulk_ns));
}

int pie_writer_put_window(struct pie_writer *writer, const struct pie_window_row *row) {
    if (row->function_line)
        return put_called(writer, row);
    int r = row->passed ? put_passed(writer, row) : 0;
    return r < 0 ? r : put_counted(writer, row);
}
