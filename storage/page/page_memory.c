/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page_part.h"
#include "storage/page/page_table.h"

/* Curves of memory: of the processes and the lines that had most, and as many as would all have all their points. */

enum { CURVES = 20, CURVE_POINTS = 100 /* as in storage/write/curve.h */ };

static const struct pie_page_statement curves[] = {
    {
        .name = "memory_timeline",
        .sql = "SELECT process, t_s, python_bytes, native_bytes, rss_bytes, file AS file_string, line FROM ("
               "SELECT *, max(heap_bytes) OVER (PARTITION BY process) AS most FROM v_memory_timeline WHERE "
               "run = :run)"
               " ORDER BY most DESC, process, t_s",
        .order = "the process's peak",
        .rows_max = CURVES * CURVE_POINTS,
        .bytes_max = 120000,
    },
    {
        .name = "line_timeline",
        .sql =
            "SELECT process, file AS file_string, line, t_s, live_bytes FROM ("
            "SELECT *, max(live_bytes) OVER (PARTITION BY process, file, line) AS most FROM v_line_timeline"
            " WHERE run = :run) ORDER BY most DESC, process, file, line, t_s",
        .order = "the line's most live bytes",
        .rows_max = CURVES * CURVE_POINTS,
        .bytes_max = 80000,
    },
};

int pie_page_add_curves(struct pie_page *page, char **ret_message) {
    int r = 0;
    for (size_t i = 0; i < sizeof curves / sizeof *curves && r == 0; i++)
        r = pie_page_add_statement(page, &curves[i], ret_message);
    return r;
}
