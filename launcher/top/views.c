/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/top/views.h"

#include <string.h>

/* Functions and lines: their own figures, those of all below them, and what they allocated. A row without samples of
 * its own has no row in the first view. */
enum {
    OWN,
    OWN_SHARE,
    TOTAL,
    TOTAL_SHARE,
    OWN_PYTHON,
    OWN_NATIVE,
    OWN_SYSTEM,
    OWN_WAIT,
    TOTAL_PYTHON,
    TOTAL_NATIVE,
    TOTAL_SYSTEM,
    TOTAL_WAIT,
    ALLOCATED,
    CODE_FIGURES
};

/* Of three views, brought together by one sort: of joins, SQLite would compare each row with each other one. more: the
 * text of the last column, and its join; of no more rows than a screen keeps. */
#define CODE(total, own, memory, more, source)                                                               \
    "SELECT coalesce(own_s, self_s), coalesce(own_share, iif(self_s = 0, 0, NULL)), total_s, total_share,"   \
    " python_s, native_s, system_s, coalesce(wait_s, 0), total_python_s, total_native_s, total_system_s,"    \
    " total_wait_s, bytes, t.function, t.file, t.line, t.library, " more " FROM ("                           \
    "SELECT run, file, line, function, max(library) AS library, max(rank) AS rank, max(self_s) AS self_s,"   \
    " max(total_s) AS total_s, max(total_share) AS total_share, max(total_python_s) AS total_python_s,"      \
    " max(total_native_s) AS total_native_s, max(total_system_s) AS total_system_s, max(total_wait_s) AS"    \
    " total_wait_s, max(own_s) AS own_s, max(own_share) AS own_share, max(python_s) AS python_s,"            \
    " max(native_s) AS native_s, max(system_s) AS system_s, max(wait_s) AS wait_s, max(bytes) AS bytes"      \
    " FROM (SELECT run, file, line, function, library, rank, self_s, total_s, total_share, python_s AS"      \
    " total_python_s, native_s AS total_native_s, system_s AS total_system_s, wait_s AS total_wait_s, NULL"  \
    " AS own_s, NULL AS own_share, NULL AS python_s, NULL AS native_s, NULL AS system_s, NULL AS wait_s,"    \
    " NULL AS bytes FROM " total " WHERE run = :run"                                                         \
    " UNION ALL SELECT run, file, line, function, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"     \
    " cpu_s, cpu_share, python_s, native_s, system_s, wait_s, NULL FROM " own " WHERE run = :run"            \
    " UNION ALL SELECT run, file, line, function, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"     \
    " NULL, NULL, NULL, NULL, NULL, NULL, allocated_bytes FROM " memory " WHERE run = :run)"                 \
    " WHERE file IS NOT NULL GROUP BY run, file, line, function HAVING max(rank) IS NOT NULL"                \
    " ORDER BY rank LIMIT 20000) t" source " ORDER BY t.rank"

#define CODE_COLUMNS(python, native, system, wait, whole)                                                    \
    {                                                                                                        \
        {"OWN s", PIE_TOP_SECONDS, OWN, .rank = 3},     {"OWN%", PIE_TOP_SHARE, OWN_SHARE, .rank = 1},       \
        {"TOT s", PIE_TOP_SECONDS, TOTAL, .rank = 4},   {"TOT%", PIE_TOP_SHARE, TOTAL_SHARE, .rank = 2},     \
        {"PY", PIE_TOP_PART, python, whole, 5},         {"NAT", PIE_TOP_PART, native, whole, 5},             \
        {"SYS", PIE_TOP_PART, system, whole, 7},        {"WAIT s", PIE_TOP_SECONDS, wait, .rank = 6},        \
        {"ALLOC", PIE_TOP_BYTES, ALLOCATED, .rank = 8},                                                      \
    }
#define CODE_SHAPES                                                                                          \
    .figures = CODE_FIGURES, .shapes = 2, .sort = {0, 2},                                                    \
    .columns = {CODE_COLUMNS(OWN_PYTHON, OWN_NATIVE, OWN_SYSTEM, OWN_WAIT, OWN),                             \
                CODE_COLUMNS(TOTAL_PYTHON, TOTAL_NATIVE, TOTAL_SYSTEM, TOTAL_WAIT, TOTAL)},                  \
    .nothing = "no Python code was seen running so far"

enum { THREAD_CPU, THREAD_SHARE, THREAD_PYTHON, THREAD_NATIVE, THREAD_SYSTEM, THREAD_WAIT, THREAD_RUNNABLE };
enum { THREAD_THROTTLED = THREAD_RUNNABLE + 1, THREAD_WALL, THREAD_SAMPLES, THREAD_FIGURES };
enum { LINE_ALLOCATED, LINE_PEAK, LINE_LIVE, LINE_AVERAGE, LINE_PYTHON, LINE_MEMORY_SAMPLES, MEMORY_FIGURES };
enum { WASTED, WASTED_SHARE, AGAIN, AGAIN_SHARE, LEAKED, FINDING_FIGURES };

static const char threads_sql[] =
    "SELECT cpu_s, cpu_share, python_s, native_s, system_s, wait_s, runnable_s, throttled_s, wall_s, samples,"
    " coalesce(nullif(name, ''), 'thread ' || tid), NULL, NULL, NULL,"
    " 'process ' || pid || iif(threads > 1, ', ' || threads || ' threads', ', thread ' || tid)"
    " FROM v_thread WHERE run = :run ORDER BY cpu_s DESC, wait_s DESC, process, thread";

static const char memory_sql[] =
    "SELECT m.allocated_bytes, m.peak_bytes, m.growth_bytes, m.average_bytes, m.python_share, m.samples,"
    " m.function, m.file, m.line, m.library, s.text FROM v_memory m"
    " LEFT JOIN v_source s ON s.run = m.run AND s.file = m.file AND s.line = m.line"
    " WHERE m.run = :run AND m.file IS NOT NULL ORDER BY m.rank";

/* A leak is a finding too: behind what is redundant. */
static const char findings_sql[] =
    "SELECT wasted_s, wasted_share, again_s, redundant_fraction, NULL, category, coalesce(user_file, file),"
    " coalesce(user_line, line), NULL, advice, 0 AS part, rank FROM v_redundancy WHERE run = :run"
    " UNION ALL SELECT NULL, NULL, NULL, NULL, leaked_bytes, 'leak', coalesce(user_file, file),"
    " coalesce(user_line, line), NULL, 'held by ' || holder, 1, rank FROM v_leak WHERE run = :run"
    " ORDER BY part, rank";

static const struct pie_top_view views[PIE_TOP_VIEWS] = {
    [PIE_TOP_FUNCTIONS] = {"Functions", 'f', "FUNCTION",
                           .sql = CODE("v_total_function", "v_function", "v_memory_function", "NULL", ""),
                           CODE_SHAPES},
    [PIE_TOP_LINES] = {"Lines", 'l', "LINE", .is_place_first = true,
                       .sql = CODE("v_total_line", "v_line", "v_memory", "s.text",
                                   " LEFT JOIN v_source s ON s.run = t.run AND s.file = t.file AND s.line = "
                                   "t.line"),
                       CODE_SHAPES},
    [PIE_TOP_THREADS] = {"Threads", 't', "THREAD", "no thread was seen so far", threads_sql, THREAD_FIGURES,
                         .columns = {{
                             {"CPU s", PIE_TOP_SECONDS, THREAD_CPU, .rank = 1},
                             {"CPU%", PIE_TOP_SHARE, THREAD_SHARE, .rank = 2},
                             {"PY", PIE_TOP_PART, THREAD_PYTHON, THREAD_CPU, 4},
                             {"NAT", PIE_TOP_PART, THREAD_NATIVE, THREAD_CPU, 4},
                             {"SYS", PIE_TOP_PART, THREAD_SYSTEM, THREAD_CPU, 5},
                             {"WAIT s", PIE_TOP_SECONDS, THREAD_WAIT, .rank = 3},
                             {"QUEUE s", PIE_TOP_SECONDS, THREAD_RUNNABLE, .rank = 6},
                             {"QUOTA s", PIE_TOP_SECONDS, THREAD_THROTTLED, .rank = 9},
                             {"ALIVE s", PIE_TOP_SECONDS, THREAD_WALL, .rank = 7},
                             {"SAMPLES", PIE_TOP_COUNT, THREAD_SAMPLES, .rank = 8},
                         }},
                         .shapes = 1},
    [PIE_TOP_MEMORY] = {"Memory", 'm', "LINE", "no allocation was sampled so far", memory_sql, MEMORY_FIGURES,
                        .columns = {{
                            {"ALLOC", PIE_TOP_BYTES, LINE_ALLOCATED, .rank = 1},
                            {"PEAK", PIE_TOP_BYTES, LINE_PEAK, .rank = 2},
                            {"LIVE", PIE_TOP_BYTES, LINE_LIVE, .rank = 3},
                            {"MEAN", PIE_TOP_BYTES, LINE_AVERAGE, .rank = 5},
                            {"PY", PIE_TOP_SHARE, LINE_PYTHON, .rank = 4},
                            {"SAMPLES", PIE_TOP_COUNT, LINE_MEMORY_SAMPLES, .rank = 6},
                        }},
                        .shapes = 1, .is_place_first = true},
    [PIE_TOP_FINDINGS] = {"Findings", 'w', "FINDING", "nothing redundant and no leak was found so far",
                          findings_sql, FINDING_FIGURES,
                          .columns = {{
                              {"WASTED s", PIE_TOP_SECONDS, WASTED, .rank = 1},
                              {"WASTED%", PIE_TOP_SHARE, WASTED_SHARE, .rank = 2},
                              {"AGAIN s", PIE_TOP_SECONDS, AGAIN, .rank = 5},
                              {"AGAIN%", PIE_TOP_SHARE, AGAIN_SHARE, .rank = 4},
                              {"LEAKED", PIE_TOP_BYTES, LEAKED, .rank = 3},
                          }},
                          .shapes = 1, .sort = {-1, -1}},
};

const struct pie_top_view *pie_top_view(enum pie_top_view_id id) {
    return &views[id];
}

int pie_top_view_find(const char *name) {
    for (int id = 0; id < PIE_TOP_VIEWS; id++)
        if (strcasecmp(views[id].name, name) == 0)
            return id;
    return -1;
}

size_t pie_top_column_count(const struct pie_top_column *columns) {
    size_t count = 0;
    while (count < PIE_TOP_COLUMNS_MAX && columns[count].kind != PIE_TOP_NOTHING)
        count++;
    return count;
}
