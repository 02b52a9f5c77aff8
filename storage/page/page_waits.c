/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page_part.h"
#include "storage/page/page_table.h"

/* Why threads waited, without lines: these sums stay whole where rows of the question "wait causes" are cut. */

static const struct pie_page_statement sums[] = {
    {
        .name = "wait_causes",
        .sql = "SELECT cause, sum(wait_ns) / 1e9 AS wait_s,"
               " sum(wait_ns) / nullif(sum(sum(wait_ns)) OVER (), 0) AS wait_share,"
               " sum(iif(holds_gil, wait_ns, 0)) / 1e9 AS held_s"
               " FROM x_wait_cause WHERE run = :run GROUP BY cause ORDER BY 2 DESC, cause",
        .order = "waiting",
        .rows_max = 20,
        .bytes_max = 4000,
    },
    {
        .name = "thread_waits",
        .sql = "SELECT process, thread, cause, sum(wait_ns) / 1e9 AS wait_s FROM x_wait_cause"
               " WHERE run = :run GROUP BY process, thread, cause HAVING sum(wait_ns) > 0"
               " ORDER BY wait_s DESC, process, thread, cause",
        .order = "waiting",
        .rows_max = 600,
        .bytes_max = 30000,
    },
    {
        .name = "slice_waits",
        .sql =
            "SELECT slice, cause, wait_ns / 1e9 AS wait_s FROM x_slice_wait WHERE run = :run AND wait_ns > 0"
            " ORDER BY wait_s DESC, slice, cause",
        .order = "waiting",
        .rows_max = 256 * 14,
        .bytes_max = 80000,
    },
};

int pie_page_add_waits(struct pie_page *page, char **ret_message) {
    int r = 0;
    for (size_t i = 0; i < sizeof sums / sizeof *sums && r == 0; i++)
        r = pie_page_add_statement(page, &sums[i], ret_message);
    return r;
}
