/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/write/statements.h"

#include <sqlite3.h>
#include <stddef.h>

#include "storage/file/packing.h"
#include "storage/file/sums.h"

#define WIDEN(table, key, sums, add)                                                                         \
    PIE_INSERT_INTO(table, key, sums)                                                                        \
    " SELECT process, slice_s - slice_s % ?2, " key ", " sums " FROM " table                                 \
    " WHERE process = ?1 AND slice_s % ?2 <> 0" add
#define WIDENED(table) "DELETE FROM " table " WHERE process = ?1 AND slice_s % ?2 <> 0"
#define FORGET(table) "DELETE FROM " table " WHERE process = ?1 AND slice_s < ?2"
#define PACK(table, kind, block, rows)                                                                       \
    "INSERT INTO packed (process, slice_s, kind, block, rows)"                                               \
    " SELECT process, slice_s, " kind ", " block " AS block, " rows " FROM " table                           \
    " WHERE process = ?1 AND slice_s < ?2 GROUP BY process, slice_s, block"                                  \
    " ON CONFLICT DO UPDATE SET rows = merge_packed(kind, rows, excluded.rows)"

static const char *const sql[PIE_STATEMENT_COUNT] = {
    [PIE_STATEMENT_RUN] = "INSERT OR IGNORE INTO run (started_ns, pieprof_version, overhead_budget, "
                          "identity) VALUES (?, ?, ?, ?)",
    [PIE_STATEMENT_PROCESS] = "INSERT INTO process (run, pid, parent_pid, parent, started_ns, seen_ns, argv, "
                              "executable, clock, clock_note,"
                              " period_ns, sampler, sampler_note, host, slice_width_s) VALUES (?1, ?2, ?3, "
                              "(SELECT max(id) FROM process "
                              "WHERE run = ?1 AND pid = ?3), ?4, ?4, ?5, ?6, ?7,"
                              " ?8, ?9, ?10, ?11, ?12, 1)",
    [PIE_STATEMENT_PROCESS_SEEN] =
        "UPDATE process SET seen_ns = ?2, cause = nullif(cause, 'gone') WHERE id = ?1",
    [PIE_STATEMENT_PROCESS_ENDED] =
        "UPDATE process SET seen_ns = ?2, ended_ns = ?2, cause = ?3, exit_status = ?4 WHERE id = ?1",
    /* A process is known to others by host, pid and a time that is not later than its start. */
    [PIE_STATEMENT_PROCESS_WITHOUT_ROW] =
        "INSERT INTO process (run, pid, parent_pid, parent, started_ns, seen_ns, argv, executable, clock, "
        "clock_note, sampler, host) SELECT ?1, ?2, ?3, (SELECT max(id) FROM process WHERE run = ?1 AND pid = "
        "?3 AND host = ?8), ?4, ?4, ?5, ?6, 'none', ?7, 'none', ?8 WHERE NOT EXISTS (SELECT 1 FROM process "
        "WHERE run = ?1 AND pid = ?2 AND host = ?8 AND started_ns >= ?4)",
    [PIE_STATEMENT_PROCESS_FOUND_ENDED] =
        "UPDATE process SET seen_ns = coalesce(?5, seen_ns), ended_ns = ?5, cause = ?6, exit_status = ?7 "
        "WHERE run = ?1 AND pid = ?2 AND started_ns >= ?3 AND host = ?4 AND (cause IS NULL OR cause = "
        "'gone')",
    [PIE_STATEMENT_PROCESS_UNTOLD] =
        "INSERT OR REPLACE INTO counter (process, name, value, is_drop) SELECT id, ?5, 1, 1 FROM process "
        "WHERE run = ?1 AND pid = ?2 AND started_ns >= ?3 AND host = ?4 AND cause IS NULL AND clock <> "
        "'none'",
    [PIE_STATEMENT_PROCESS_LOST] =
        "INSERT OR REPLACE INTO counter (process, name, value, is_drop) SELECT id, ?5, 1, 1 FROM process "
        "WHERE run = ?1 AND pid = ?2 AND started_ns >= ?3 AND host = ?4",
    [PIE_STATEMENT_PROCESS_GONE] = "UPDATE process SET cause = 'gone' WHERE id = ? AND cause IS NULL",
    [PIE_STATEMENT_ENVIRONMENT] = "INSERT OR REPLACE INTO environment (run, key, value) VALUES (?, ?, ?)",
    [PIE_STATEMENT_THREAD] = "INSERT OR REPLACE INTO thread (process, id, tid, name, is_main, started_ns, "
                             "ended_ns, cpu_ns, wall_ns, samples, threads, wait_ns, "
                             "runnable_ns, throttled_ns)"
                             " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_MODULE] =
        "INSERT INTO module (process, id, path, build_id, library) VALUES (?, ?, ?, ?, ?)",
    [PIE_STATEMENT_FILE] = "INSERT INTO file (process, id, path, is_own, library) VALUES (?, ?, ?, ?, ?)",
    [PIE_STATEMENT_FILE_LIBRARY] = "UPDATE file SET library = ?3 WHERE process = ?1 AND id = ?2",
    [PIE_STATEMENT_FUNCTION] = "INSERT INTO function (process, id, kind, name, file, first_line, module)"
                               " VALUES (?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_LOCATION] =
        "INSERT OR REPLACE INTO location (process, id, function, line, caller, address, "
        "is_in_loop) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_NODE] = "INSERT OR REPLACE INTO node (process, id, parent, location, line_location, "
                           "own_location, library_module, entry_function)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_SAMPLE] =
        PIE_INSERT_INTO("sample", PIE_SAMPLE_KEY,
                        PIE_SAMPLE_SUMS) " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" PIE_SAMPLE_ADD,
    [PIE_STATEMENT_WAIT] =
        "INSERT INTO wait (process, thread, node, cause, resource, peer, holds_gil, wait_ns, "
        "looks, is_rest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" PIE_WAIT_ADD,
    [PIE_STATEMENT_TASK] =
        "INSERT INTO task (" PIE_TASK_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)" PIE_TASK_ADD,
    [PIE_STATEMENT_RELATED] = PIE_INSERT_INTO("related", PIE_RELATED_KEY,
                                              PIE_RELATED_SUMS) " VALUES (?, ?, ?, ?, ?, ?)" PIE_RELATED_ADD,
    [PIE_STATEMENT_WATCH] = PIE_INSERT_INTO(
        "watch", PIE_WATCH_KEY,
        PIE_WATCH_SUMS) " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" PIE_WATCH_ADD,
    [PIE_STATEMENT_READING] =
        "INSERT OR REPLACE INTO reading (process, node, kind, " PIE_READING_SUMS ", max_size)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_ALLOCATION] =
        "INSERT OR REPLACE INTO allocation (process, node, size, samples, allocated_python_bytes, "
        "allocated_native_bytes, allocated_sq_bytes2, live_bytes, live_sq_bytes2, peak_python_bytes, "
        "peak_native_bytes, peak_sq_bytes2, live_bytes_s, mallocs, frees, kept_1, kept_2, kept_3, kept_4, "
        "kept_5, kept_6, kept_7, kept_8, first_ns, blocks, rises, falls)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_ALLOCATED] = PIE_INSERT_INTO(
        "allocated", PIE_ALLOCATED_KEY, PIE_ALLOCATED_SUMS) " VALUES (?, ?, ?, ?, ?, ?, ?)" PIE_ALLOCATED_ADD,
    [PIE_STATEMENT_LINE_FOOTPRINT] =
        "INSERT OR REPLACE INTO line_footprint (process, location, t_ns, live_bytes) VALUES (?, ?, ?, ?)",
    [PIE_STATEMENT_LINE_FOOTPRINT_FORGET] =
        "DELETE FROM line_footprint WHERE process = ? AND location = ? AND t_ns = ?",
    [PIE_STATEMENT_FOOTPRINT] = "INSERT OR REPLACE INTO footprint (process, t_ns, python_bytes, "
                                "native_bytes, rss_bytes, node) VALUES (?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_FOOTPRINT_FORGET] = "DELETE FROM footprint WHERE process = ? AND t_ns = ?",
    [PIE_STATEMENT_HEAP] =
        "INSERT OR REPLACE INTO heap (process, peak_ns, peak_python_bytes, peak_native_bytes, "
        "rss_peak_bytes, "
        "allocated_python_bytes, allocated_native_bytes, freed_python_bytes, freed_native_bytes, "
        "profiler_bytes, threshold_bytes, allocator, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_COPY] =
        PIE_INSERT_INTO("copy", PIE_COPY_KEY, PIE_COPY_SUMS) " VALUES (?, ?, ?, ?, ?, ?, ?)" PIE_COPY_ADD,
    [PIE_STATEMENT_COPY_END] =
        "INSERT INTO copy_end (process, node, outcome, copies, bytes) VALUES (?, ?, ?, "
        "?, ?)" PIE_COPY_END_ADD,
    [PIE_STATEMENT_RETENTION_PATH] =
        "INSERT OR REPLACE INTO holder (process, node, size, text) VALUES (?, ?, ?, ?)",
    [PIE_STATEMENT_TRACED_LOOP] =
        "INSERT OR REPLACE INTO learned_loop (process, id, file, line, function, policy, confidence, "
        "entries, "
        "iterations, observed_iterations, body_s, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_TRACED_CALL] =
        "INSERT OR REPLACE INTO learned_call (process, loop, call, file, line, callee, is_native, state, "
        "decided_after, calls, observed_calls, share, share_low, share_high, mean_s, variance_s2, p50_s, "
        "p95_s, p99_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_WINDOW] =
        "INSERT OR REPLACE INTO windowed (process, file, line, callee, is_item, is_in_loop, calls, raised, "
        "compared, distinct_args, distinct_results, once, twice, again, alike, same, singles, grew, "
        "arg_bytes, call_ns, again_ns, alike_ns, single_ns, bulk_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_CALLED] = "INSERT OR REPLACE INTO called (process, file, line, callee, function, "
                             "function_line, is_in_loop, calls, "
                             "raised, compared, distinct_args, distinct_results, once, twice, again, alike, "
                             "same, call_ns, again_ns, "
                             "alike_ns, line_ns, function_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                             "?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_PASSED] = "INSERT OR REPLACE INTO passed (process, file, line, callee, kind, is_in_loop, "
                             "calls, items, carried, "
                             "call_ns, line_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PIE_STATEMENT_COUNTER] =
        "INSERT OR REPLACE INTO counter (process, name, value, is_drop) VALUES (?, ?, ?, ?)",
    [PIE_STATEMENT_OVERHEAD] = "INSERT OR REPLACE INTO overhead (process, collector, cpu_ns, rate_hz)"
                               " VALUES (?, ?, ?, ?)",
    [PIE_STATEMENT_SPENT] =
        PIE_INSERT_INTO("spent", PIE_SPENT_KEY, PIE_SPENT_SUMS) " VALUES (?, ?, ?, ?)" PIE_SPENT_ADD,
    [PIE_STATEMENT_SOURCE] = "INSERT OR IGNORE INTO source (run, path) VALUES (?, ?)",
    [PIE_STATEMENT_SOURCE_LINE] = "INSERT OR IGNORE INTO source_line (source, line, text)"
                                  " SELECT id, ?3, ?4 FROM source WHERE run = ?1 AND path = ?2",
    [PIE_STATEMENT_WIDEN_PROCESS] = "UPDATE process SET slice_width_s = ?2 WHERE id = ?1",
    [PIE_STATEMENT_WIDEN_SAMPLE] = WIDEN("sample", PIE_SAMPLE_KEY, PIE_SAMPLE_SUMS, PIE_SAMPLE_ADD),
    [PIE_STATEMENT_WIDEN_RELATED] = WIDEN("related", PIE_RELATED_KEY, PIE_RELATED_SUMS, PIE_RELATED_ADD),
    [PIE_STATEMENT_WIDEN_WATCH] = WIDEN("watch", PIE_WATCH_KEY, PIE_WATCH_SUMS, PIE_WATCH_ADD),
    [PIE_STATEMENT_WIDEN_ALLOCATED] =
        WIDEN("allocated", PIE_ALLOCATED_KEY, PIE_ALLOCATED_SUMS, PIE_ALLOCATED_ADD),
    [PIE_STATEMENT_WIDEN_COPY] = WIDEN("copy", PIE_COPY_KEY, PIE_COPY_SUMS, PIE_COPY_ADD),
    [PIE_STATEMENT_WIDEN_SPENT] = WIDEN("spent", PIE_SPENT_KEY, PIE_SPENT_SUMS, PIE_SPENT_ADD),
    [PIE_STATEMENT_WIDEN_PACKED] =
        "INSERT OR REPLACE INTO packed (process, slice_s, kind, block, rows)"
        " SELECT process, slice_s - slice_s % ?2 AS wide_s, kind, block, merge_packed(kind, rows)"
        " FROM packed WHERE process = ?1 GROUP BY wide_s, kind, block HAVING max(slice_s) > wide_s",
    [PIE_STATEMENT_WIDENED_SAMPLE] = WIDENED("sample"),
    [PIE_STATEMENT_WIDENED_RELATED] = WIDENED("related"),
    [PIE_STATEMENT_WIDENED_WATCH] = WIDENED("watch"),
    [PIE_STATEMENT_WIDENED_ALLOCATED] = WIDENED("allocated"),
    [PIE_STATEMENT_WIDENED_COPY] = WIDENED("copy"),
    [PIE_STATEMENT_WIDENED_SPENT] = WIDENED("spent"),
    [PIE_STATEMENT_WIDENED_PACKED] = WIDENED("packed"),
    [PIE_STATEMENT_FORGET_PROCESS] = "UPDATE process SET forgotten_s = ?2 WHERE id = ?1",
    [PIE_STATEMENT_FORGET_SAMPLE] = FORGET("sample"),
    [PIE_STATEMENT_FORGET_RELATED] = FORGET("related"),
    [PIE_STATEMENT_FORGET_WATCH] = FORGET("watch"),
    [PIE_STATEMENT_FORGET_ALLOCATED] = FORGET("allocated"),
    [PIE_STATEMENT_FORGET_COPY] = FORGET("copy"),
    [PIE_STATEMENT_FORGET_SPENT] = FORGET("spent"),
    [PIE_STATEMENT_FORGET_PACKED] = FORGET("packed"),
    [PIE_STATEMENT_PACK_SAMPLE] =
        PACK("sample", "1", PIE_PACKING_BLOCK("thread", "node"), PIE_PACK_SAMPLE("thread", "node")),
    [PIE_STATEMENT_PACK_ALLOCATED] =
        PACK("allocated", "2", PIE_PACKING_BLOCK("0", "node"), PIE_PACK_ALLOCATED("node")),
    [PIE_STATEMENT_PACK_COPY] =
        PACK("copy", "3", PIE_PACKING_BLOCK("estimate", "node"), PIE_PACK_COPY("node")),
    [PIE_STATEMENT_PACKED_SAMPLE] = FORGET("sample"),
    [PIE_STATEMENT_PACKED_ALLOCATED] = FORGET("allocated"),
    [PIE_STATEMENT_PACKED_COPY] = FORGET("copy"),
};

int pie_statements_get(void *data, unsigned statement, sqlite3_stmt **ret_statement) {
    struct pie_statements *statements = data;
    if (statement >= PIE_STATEMENT_COUNT)
        return -SQLITE_MISUSE;
    sqlite3_stmt **slot = &statements->prepared[statement];
    int code = SQLITE_OK;
    if (!*slot)
        code = sqlite3_prepare_v3(statements->db, sql[statement], -1, SQLITE_PREPARE_PERSISTENT, slot, NULL);
    if (code != SQLITE_OK)
        return -code;
    *ret_statement = *slot;
    return 0;
}

void pie_statements_finish(struct pie_statements *statements) {
    for (size_t i = 0; i < PIE_STATEMENT_COUNT; i++) {
        sqlite3_finalize(statements->prepared[i]);
        statements->prepared[i] = NULL;
    }
}
