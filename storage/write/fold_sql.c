/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/write/fold_sql.h"

#include <stddef.h>

#include "storage/file/packing.h"
#include "storage/file/sums.h"

#define WEIGHT(table, node, what)                                                                            \
    {"SELECT total(" what ") FROM " table " WHERE process = ?1",                                             \
     "SELECT " node ", slice_s, " what " FROM " table " WHERE process = ?1"}

const struct pie_fold_weight pie_fold_weights[PIE_FOLD_WEIGHTS] = {
    WEIGHT("every_sample", "node", "python_ns + native_ns + system_ns"),
    WEIGHT("every_sample", "node", "wait_ns + runnable_ns + throttled_ns"),
    WEIGHT("every_allocated", "node", "python_bytes + native_bytes"),
    WEIGHT("every_copy", "node", "bytes"),
    WEIGHT("watch", "first_node", "weight_ns"),
    WEIGHT("watch", "second_node", "weight_ns"),
};

/* Ids that count down (fold.h). */
#define OTHER "4294967295"
#define IS_FOLDED "IN (SELECT node FROM temp.folded)"
#define MOVE(table, key, sums, moved_key, add)                                                               \
    PIE_INSERT_INTO(table, key, sums)                                                                        \
    " SELECT process, slice_s, " moved_key ", " sums " FROM " table " JOIN temp.folded f ON f.node = " table \
    ".node WHERE process = ?1" add
/* Packed rows are packed anew, in a table of its own for the time. */
#define REPACK(table, kind, block, rows)                                                                     \
    "INSERT INTO temp.repacked SELECT slice_s, " kind ", " block " AS block, " rows                          \
    " FROM (SELECT s.*, coalesce(f.target, s.node) AS target FROM every_" table                              \
    " s LEFT JOIN temp.folded f ON f.node = s.node WHERE s.process = ?1 AND s.packed = 1)"                   \
    " GROUP BY slice_s, block"
#define REPACKED "INSERT INTO packed SELECT ?1, slice_s, kind, block, rows FROM temp.repacked"
#define DROP(table) "DELETE FROM " table " WHERE process = ?1 AND node " IS_FOLDED

#define WAIT "process, thread, node, cause, resource, peer, holds_gil, wait_ns, looks, is_rest"
#define ALLOCATION_SUMS                                                                                      \
    "samples, allocated_python_bytes, allocated_native_bytes, allocated_sq_bytes2, live_bytes, "             \
    "live_sq_bytes2, peak_python_bytes, peak_native_bytes, peak_sq_bytes2, live_bytes_s, mallocs, frees, "   \
    "kept_1, kept_2, kept_3, kept_4, kept_5, kept_6, kept_7, kept_8, first_ns, blocks, rises, falls"
#define ADD(column) column " = " column " + excluded." column ", "

const char *const pie_fold_contexts_sql[] = {
    "INSERT OR IGNORE INTO function (process, id, kind, name) VALUES (?1, " OTHER ", 1, '(other)')",
    "INSERT OR IGNORE INTO location (process, id, function) VALUES (?1, " OTHER ", " OTHER ")",
    "INSERT OR IGNORE INTO node (process, id, parent, location, line_location, own_location, library_module, "
    "entry_function) SELECT ?1, t.target, nullif(" OTHER " - t.target, 0), " OTHER ", " OTHER ", "
    "k.own_location, k.library_module, k.entry_function FROM (SELECT DISTINCT target FROM temp.folded) t "
    "LEFT JOIN node k ON k.process = ?1 AND k.id = " OTHER " - t.target",
    MOVE("sample", PIE_SAMPLE_KEY, PIE_SAMPLE_SUMS, "thread, f.target", PIE_SAMPLE_ADD),
    DROP("sample"),
    "INSERT INTO wait (" WAIT ") SELECT process, thread, coalesce(a.target, wait.node), cause, resource, "
    "coalesce(b.target, peer), holds_gil, wait_ns, looks, is_rest FROM wait LEFT JOIN temp.folded a ON "
    "a.node = "
    "wait.node LEFT JOIN temp.folded b ON b.node = peer WHERE process = ?1 AND (a.node IS NOT NULL OR b.node "
    "IS NOT NULL)" PIE_WAIT_ADD,
    "DELETE FROM wait WHERE process = ?1 AND (node " IS_FOLDED " OR peer " IS_FOLDED ")",
    "INSERT INTO task (" PIE_TASK_COLUMNS
    ") SELECT process, thread, coalesce(a.target, task.node), coalesce(b.target, coroutine), cause, name, "
    "wait_ns, cpu_ns FROM task LEFT JOIN temp.folded a ON a.node = task.node LEFT JOIN temp.folded b ON "
    "b.node = "
    "coroutine WHERE process = ?1 AND (a.node IS NOT NULL OR b.node IS NOT NULL)" PIE_TASK_ADD,
    "DELETE FROM task WHERE process = ?1 AND (node " IS_FOLDED " OR coroutine " IS_FOLDED ")",
    MOVE("related", PIE_RELATED_KEY, PIE_RELATED_SUMS, "thread, f.target, kind", PIE_RELATED_ADD),
    DROP("related"),
    PIE_INSERT_INTO(
        "watch", PIE_WATCH_KEY,
        PIE_WATCH_SUMS) " SELECT process, slice_s, kind, outcome, memory, traits, length, coalesce(a.target, "
                        "first_node), "
                        "coalesce(b.target, second_node), own_operation, inner_operation, " PIE_WATCH_SUMS
                        " FROM watch LEFT JOIN temp.folded a ON a.node = first_node LEFT JOIN temp.folded b "
                        "ON b.node = "
                        "second_node WHERE process = ?1 AND (a.node IS NOT NULL OR b.node IS NOT "
                        "NULL)" PIE_WATCH_ADD,
    "DELETE FROM watch WHERE process = ?1 AND (first_node " IS_FOLDED " OR second_node " IS_FOLDED ")",
    MOVE("allocated", PIE_ALLOCATED_KEY, PIE_ALLOCATED_SUMS, "f.target", PIE_ALLOCATED_ADD),
    DROP("allocated"),
    MOVE("copy", PIE_COPY_KEY, PIE_COPY_SUMS, "f.target, estimate", PIE_COPY_ADD),
    DROP("copy"),
    "INSERT INTO copy_end (process, node, outcome, copies, bytes) SELECT process, f.target, outcome, copies, "
    "bytes FROM copy_end JOIN temp.folded f ON f.node = copy_end.node WHERE process = ?1" PIE_COPY_END_ADD,
    DROP("copy_end"),
    REPACK("sample", "1", PIE_PACKING_BLOCK("thread", "target"), PIE_PACK_SAMPLE("thread", "target")),
    REPACK("allocated", "2", PIE_PACKING_BLOCK("0", "target"), PIE_PACK_ALLOCATED("target")),
    REPACK("copy", "3", PIE_PACKING_BLOCK("estimate", "target"), PIE_PACK_COPY("target")),
    "DELETE FROM packed WHERE process = ?1",
    REPACKED,
    "DELETE FROM temp.repacked",
    "INSERT INTO allocation (process, node, size, " ALLOCATION_SUMS ")"
    " SELECT process, f.target, size, " ALLOCATION_SUMS " FROM allocation"
    " JOIN temp.folded f ON f.node = allocation.node WHERE process = ?1"
    " ON CONFLICT DO UPDATE SET " ADD("samples") ADD("allocated_python_bytes") ADD("allocated_native_bytes")
        ADD("allocated_sq_bytes2") ADD("live_bytes") ADD("live_sq_bytes2") ADD("peak_python_bytes")
            ADD("peak_native_bytes") ADD("peak_sq_bytes2") ADD("live_bytes_s") ADD("mallocs") ADD("frees")
                ADD("kept_1") ADD("kept_2") ADD("kept_3") ADD("kept_4") ADD("kept_5") ADD("kept_6")
                    ADD("kept_7") ADD("kept_8") ADD("blocks") ADD("rises")
                        ADD("falls") "first_ns = min(first_ns, excluded.first_ns)",
    DROP("allocation"),
    "INSERT INTO reading (process, node, kind, " PIE_READING_SUMS ", max_size)"
    " SELECT process, f.target, kind, " PIE_READING_SUMS ", max_size FROM reading"
    " JOIN temp.folded f ON f.node = reading.node WHERE process = ?1"
    " ON CONFLICT DO UPDATE SET " ADD("samples") ADD("cpu_ns") ADD("cpu_sq_ns2") ADD("same") ADD("rises")
        ADD("others") ADD("lower_ns") ADD("upper_ns")
            ADD("sum_size") "max_size = max(max_size, excluded.max_size)",
    DROP("reading"),
    DROP("holder"),
    "UPDATE footprint SET node = (SELECT target FROM temp.folded f WHERE f.node = footprint.node)"
    " WHERE process = ?1 AND node " IS_FOLDED,
    "DELETE FROM node WHERE process = ?1 AND id " IS_FOLDED,
    /* Names that nothing has any more. */
    "DELETE FROM location WHERE process = ?1 AND NOT pie_location_in_use(id) AND id NOT IN ("
    "SELECT location FROM node WHERE process = ?1 UNION ALL "
    "SELECT line_location FROM node WHERE process = ?1 AND line_location IS NOT NULL UNION ALL "
    "SELECT own_location FROM node WHERE process = ?1 AND own_location IS NOT NULL UNION ALL "
    "SELECT caller FROM location WHERE process = ?1 AND caller IS NOT NULL UNION ALL "
    "SELECT location FROM line_footprint WHERE process = ?1)",
    "DELETE FROM function WHERE process = ?1 AND id NOT IN ("
    "SELECT function FROM location WHERE process = ?1 UNION ALL "
    "SELECT entry_function FROM node WHERE process = ?1 AND entry_function IS NOT NULL)",
    "DELETE FROM file WHERE process = ?1 AND id NOT IN ("
    "SELECT file FROM function WHERE process = ?1 AND file IS NOT NULL)",
    /* Text that was compiled under a name which is no file's. */
    "DELETE FROM source_line WHERE source IN (SELECT id FROM source WHERE path LIKE '<%' AND path NOT IN "
    "(SELECT path FROM file UNION ALL SELECT file FROM learned_loop WHERE file IS NOT NULL UNION ALL "
    "SELECT file FROM learned_call WHERE file IS NOT NULL))",
    "DELETE FROM source WHERE path LIKE '<%' AND id NOT IN (SELECT source FROM source_line)",
    NULL,
};

#define ENDED "process = ?1 AND ended_ns IS NOT NULL AND is_main = 0 AND name NOT LIKE '(%'"

const char *const pie_fold_threads_choose =
    "INSERT INTO temp.folded SELECT t.id, g.first FROM thread t JOIN (SELECT pie_kind_of_name(name) AS kind, "
    "min(id) AS first FROM thread WHERE " ENDED " GROUP BY 1 HAVING count(*) > 1) g"
    " ON g.kind = pie_kind_of_name(t.name) WHERE t." ENDED " AND t.id <> g.first";

const char *const pie_fold_threads_sql[] = {
    PIE_INSERT_INTO(
        "sample", PIE_SAMPLE_KEY,
        PIE_SAMPLE_SUMS) " SELECT process, slice_s, f.target, sample.node, " PIE_SAMPLE_SUMS " FROM sample"
                         " JOIN temp.folded f ON f.node = sample.thread WHERE process = ?1" PIE_SAMPLE_ADD,
    "DELETE FROM sample WHERE process = ?1 AND thread " IS_FOLDED,
    "INSERT INTO wait (" WAIT ") SELECT process, f.target, wait.node, cause, resource, peer, holds_gil, "
    "wait_ns, looks, is_rest FROM wait JOIN temp.folded f ON f.node = wait.thread WHERE process = "
    "?1" PIE_WAIT_ADD,
    "DELETE FROM wait WHERE process = ?1 AND thread " IS_FOLDED,
    "INSERT INTO task (" PIE_TASK_COLUMNS ") SELECT process, f.target, task.node, coroutine, cause, name, "
    "wait_ns, cpu_ns FROM task JOIN temp.folded f ON f.node = task.thread WHERE process = ?1" PIE_TASK_ADD,
    "DELETE FROM task WHERE process = ?1 AND thread " IS_FOLDED,
    PIE_INSERT_INTO(
        "related", PIE_RELATED_KEY,
        PIE_RELATED_SUMS) " SELECT process, slice_s, f.target, related.node, kind, " PIE_RELATED_SUMS
                          " FROM related JOIN temp.folded f ON f.node = related.thread WHERE process = "
                          "?1" PIE_RELATED_ADD,
    "DELETE FROM related WHERE process = ?1 AND thread " IS_FOLDED,
    "INSERT INTO temp.repacked SELECT slice_s, 1, " PIE_PACKING_BLOCK(
        "target",
        "node") " AS block, " PIE_PACK_SAMPLE("target",
                                              "node") " FROM (SELECT s.*, coalesce(f.target, s.thread) AS "
                                                      "target FROM "
                                                      "every_sample s LEFT JOIN temp.folded f ON f.node = "
                                                      "s.thread WHERE s.process = ?1 AND s.packed = 1)"
                                                      " GROUP BY slice_s, block",
    "DELETE FROM packed WHERE process = ?1 AND kind = 1",
    REPACKED,
    "DELETE FROM temp.repacked",
    "INSERT INTO thread (process, id, name, is_main, started_ns, ended_ns, cpu_ns, wall_ns, samples, "
    "threads, "
    "wait_ns, runnable_ns, throttled_ns) SELECT process, f.target, name, 0, started_ns, ended_ns, cpu_ns, "
    "wall_ns, samples, threads, wait_ns, runnable_ns, throttled_ns FROM thread"
    " JOIN temp.folded f ON f.node = thread.id WHERE process = ?1 ON CONFLICT DO UPDATE SET tid = NULL, "
    "name = pie_kind_of_name(name), started_ns = min(started_ns, excluded.started_ns), "
    "ended_ns = max(ended_ns, excluded.ended_ns), " ADD("cpu_ns") ADD("wall_ns") ADD("samples") ADD("threads")
        ADD("wait_ns") ADD("runnable_ns") "throttled_ns = throttled_ns + excluded.throttled_ns",
    "DELETE FROM thread WHERE process = ?1 AND id " IS_FOLDED,
    NULL,
};
