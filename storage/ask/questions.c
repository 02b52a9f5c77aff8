/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/export/calltree.h"
#include "storage/ask/phrase.h"

#define RANK(order) "row_number() OVER (ORDER BY " order ") AS rank, "
#define COSTLIEST "cpu_s DESC, wait_s DESC, file, line, function"
#define FINDING                                                                                              \
    "redundant_fraction, fraction_low, fraction_high, wasted_s, wasted_share, bytes, traps, sampler, "       \
    "severity, library, user_file, user_line, "
#define FINDINGS                                                                                             \
    .columns = RANK("v.rank") "kind, file, line, function, first_file, first_line, native_function, "        \
                              "native_library, category, evidence, advice, " FINDING                         \
                              "wasted_s_low, wasted_s_high, cpu_s, short_share, watches, verdict, facts, "   \
                              "gain_s, again_s, again_s_low, again_s_high, again",                           \
    .from = "v_redundancy v", .order = "v.rank", .files = "file:line user_file:user_line",                   \
    .functions = "function native_function", .libraries = "library native_library", .is_timed = true,        \
    .is_ranked = true,                                                                                       \
    .when_empty = "no watched access or call was done again; \"hot lines\" tells where the time goes"
#define FUNCTION_FINDINGS                                                                                    \
    .columns = RANK("v.rank") "kind, file, line, function, native_function, native_library, category, "      \
                              "evidence, advice, " FINDING                                                   \
                              "wasted_s_low, wasted_s_high, cpu_s, watches, lines, worst_line, verdict, "    \
                              "facts, gain_s, again_s, again_s_low, again_s_high, again",                    \
    .from = "v_redundancy_function v", .order = "v.rank", .files = "file user_file",                         \
    .functions = "function native_function", .libraries = "library native_library", .is_timed = true,        \
    .is_ranked = true
/* Places are those of either access: the innermost line, and the line of own code that led there. The rank is the one
 * in the run: to number what is left would make the paths of all pairs, not only of those shown. */
#define PAIRS                                                                                                \
    .columns = "rank, kind, file, line, function, second_file, second_line, second_function, "               \
               "native_function, native_library, " FINDING "second_library, second_user_file, "              \
               "second_user_line, redundant, changed, memory, length_s, gap_s, first_path, second_path",     \
    .from = "v_pair", .order = "rank",                                                                       \
    .files = "file:line user_file:user_line second_file:second_line second_user_file:second_user_line",      \
    .functions = "function second_function native_function",                                                 \
    .libraries = "library second_library native_library", .is_timed = true, .is_ranked = true,               \
    .has_long_rows = true
#define MEMORY                                                                                               \
    "file, line, function, allocated_bytes, peak_bytes, average_bytes, growth_bytes, python_share, "         \
    "samples, "                                                                                              \
    "library, user_file, user_line, allocated_low, allocated_high, peak_low, peak_high"
#define MOST_ALLOCATED "allocated_bytes DESC, peak_bytes DESC, file, line, function"
#define MOST_AT_PEAK "peak_bytes DESC, allocated_bytes DESC, file, line, function"
#define COPIES                                                                                               \
    "file, line, function, bytes, bytes_per_s, estimate, samples, bytes_low, bytes_high, library, "          \
    "user_file, "                                                                                            \
    "user_line"
#define MOST_COPIED "bytes DESC, file, line, function, estimate"
#define TRACED_EMPTY                                                                                         \
    "loops are traced where they are named: pieprof --learn FILE:LINE, or for x in pieprof.loop(...) in "    \
    "the "                                                                                                   \
    "program"
#define COST                                                                                                 \
    "cpu_s, python_s, native_s, system_s, wait_s, runnable_s, throttled_s, cpu_share, samples, cpu_s_low, "  \
    "cpu_s_high"

/* Lines by one kind of time in which they did not run. */
#define OFF_LINES(column)                                                                                    \
    .columns = RANK(column " DESC, file, line, function") "file, line, function, " column ", cpu_s, "        \
                                                          "library, user_file, user_line",                   \
    .from = "x_line_share", .where = "file IS NOT NULL AND " column " > 0",                                  \
    .order = column " DESC, file, line, function", .cut = PIE_CUT_THREADS, .is_timed = true,                 \
    .is_ranked = true

static const struct pie_question questions[] = {
    {.name = "hot lines",
     .aliases = "lines|hot line|hottest lines|slow lines|slowest lines|costly lines",
     .columns = RANK(COSTLIEST) "file, line, function, " COST ", library, user_file, user_line",
     .from = "x_line_share",
     .where = "file IS NOT NULL",
     .order = COSTLIEST,
     .is_timed = true,
     .cut = PIE_CUT_THREADS,
     .by_function = "hot functions",
     .is_ranked = true},
    {.name = "hot functions",
     .aliases = "functions|hot function|hottest functions|slow functions|slowest functions|costly functions",
     .columns = RANK(COSTLIEST) "file, line, function, " COST ", library, user_file, user_line",
     .from = "x_function_share",
     .where = "file IS NOT NULL",
     .order = COSTLIEST,
     .is_timed = true,
     .cut = PIE_CUT_THREADS,
     .by_function = "hot functions",
     .is_ranked = true},
    {.name = "native functions",
     .aliases = "native|hot native functions|native function|c functions",
     .columns =
         RANK("cpu_s DESC, wait_s DESC, library, function") "function, library, module, file, line, " COST,
     .from = "x_native_share",
     .order = "cpu_s DESC, wait_s DESC, library, function",
     .is_timed = true,
     .cut = PIE_CUT_THREADS,
     .by_function = "native functions",
     .is_ranked = true},
    {.name = "own lines",
     .aliases = "my lines|hot own lines|user lines",
     .columns = RANK(COSTLIEST) "file, line, function, cpu_s, python_s, native_s, system_s, wait_s, "
                                "runnable_s, throttled_s, cpu_share, "
                                "samples, library, library_cpu_s",
     .from = "v_own_line",
     .order = COSTLIEST,
     .is_timed = true,
     .cut = PIE_CUT_THREADS,
     .is_ranked = true},
    {.name = "waiting", .aliases = "waiting lines|wait|waits|lines that wait", OFF_LINES("wait_s")},
    {.name = "wait causes",
     .aliases = "wait cause|waiting causes|why it waits|"
                "why does it wait|why is it waiting|what does it wait for|what is it waiting for|"
                "reasons to wait|wait reasons",
     .columns =
         RANK("v.rank") "file, line, function, cause, resource, holder_file, holder_line, "
                        "holder_function, holds_gil, wait_s, wait_share, library, user_file, user_line",
     .from = "v_wait v",
     .where = "file IS NOT NULL",
     .order = "v.rank",
     .cut = PIE_CUT_THREADS,
     .is_timed = true,
     .is_ranked = true},
    {.name = "garbage collection",
     .aliases =
         "gc|garbage|garbage collections|gc lines|gc time|garbage collector|time of garbage collection",
     .columns = RANK("v.rank") "file, line, function, gc_s, cpu_share, samples, library",
     .from = "v_gc v",
     .order = "v.rank",
     .files = "file:line",
     .functions = "function",
     .libraries = "library",
     .is_timed = true,
     .is_ranked = true},
    {.name = "runnable", .aliases = "runnable lines|run queue|for a processor", OFF_LINES("runnable_s")},
    {.name = "throttled", .aliases = "throttled lines|throttling|cpu quota", OFF_LINES("throttled_s")},
    {.name = "redundancy",
     .aliases = "redundancies|redundant|redundant lines|redundant accesses|redundant memory accesses|"
                "redundant loads and stores|redundant stores and loads|finding|findings|waste|wasted time|"
                "wasted accesses|wasteful lines",
     FINDINGS,
     .by_function = "redundant functions"},
    {.name = "redundant loads",
     .aliases = "redundant load|redundant reads|redundant read|repeated loads|repeated reads|wasted loads|"
                "wasted load|wasted reads|useless loads|re-reads|loads",
     FINDINGS,
     .where = "kind = 'load'",
     .by_function = "functions with redundant loads"},
    {.name = "redundant stores",
     .aliases = "redundant store|redundant writes|redundant write|repeated stores|repeated writes|"
                "wasted stores|wasted store|wasted writes|useless stores|silent stores|stores",
     FINDINGS,
     .where = "kind = 'store'",
     .by_function = "functions with redundant stores"},
    {.name = "redundant functions",
     .aliases = "functions with redundancy|functions with redundant loads and stores|wasteful functions",
     FUNCTION_FINDINGS,
     .by_function = "redundant functions"},
    {.name = "functions with redundant loads",
     .aliases = "redundant load functions",
     FUNCTION_FINDINGS,
     .where = "kind = 'load'",
     .by_function = "functions with redundant loads"},
    {.name = "functions with redundant stores",
     .aliases = "redundant store functions",
     FUNCTION_FINDINGS,
     .where = "kind = 'store'",
     .by_function = "functions with redundant stores"},
    {.name = "pairs",
     .aliases = "pair|redundant pairs|access pairs|pairs of accesses|redundancy pairs|redundant access pairs",
     PAIRS},
    {.name = "load pairs",
     .aliases = "load pair|pairs of loads|redundant load pairs",
     PAIRS,
     .where = "kind = 'load'"},
    {.name = "store pairs",
     .aliases = "store pair|pairs of stores|redundant store pairs",
     PAIRS,
     .where = "kind = 'store'"},
    {.name = "memory",
     .aliases = "memory lines|allocations|allocated memory|allocating lines|memory use|memory usage|"
                "memory allocations|allocation",
     .columns = RANK(MOST_ALLOCATED) MEMORY,
     .from = "v_memory",
     .where = "file IS NOT NULL",
     .order = MOST_ALLOCATED,
     .is_timed = true,
     .cut = PIE_CUT_CONTEXTS,
     .by_function = "memory functions",
     .is_ranked = true},
    {.name = "memory functions",
     .aliases = "allocating functions|functions that allocate",
     .columns = RANK(MOST_ALLOCATED) MEMORY,
     .from = "v_memory_function",
     .where = "file IS NOT NULL",
     .order = MOST_ALLOCATED,
     .is_timed = true,
     .cut = PIE_CUT_CONTEXTS,
     .by_function = "memory functions",
     .is_ranked = true},
    {.name = "peak",
     .aliases = "peak memory|memory peak|peak lines|highest memory|high water mark",
     .columns = RANK(MOST_AT_PEAK) MEMORY,
     .from = "v_peak",
     .where = "file IS NOT NULL",
     .order = MOST_AT_PEAK,
     .cut = PIE_CUT_CONTEXTS,
     .by_function = "peak functions",
     .is_ranked = true},
    {.name = "peak functions",
     .aliases = "peak memory functions",
     .columns = RANK(MOST_AT_PEAK) MEMORY,
     .from = "v_peak_function",
     .where = "file IS NOT NULL",
     .order = MOST_AT_PEAK,
     .cut = PIE_CUT_CONTEXTS,
     .by_function = "peak functions",
     .is_ranked = true},
    {.name = "own memory",
     .aliases = "my memory|own memory lines",
     .columns =
         RANK("v.rank") "file, line, function, allocated_bytes, peak_bytes, growth_bytes, python_share, "
                        "copy_bytes",
     .from = "v_own_memory v",
     .order = "v.rank",
     .cut = PIE_CUT_CONTEXTS,
     .is_ranked = true},
    {.name = "memory timeline",
     .aliases = "timeline|footprint|memory footprint|memory over time|memory curve|footprint timeline",
     .columns = "process, pid, t_s, heap_bytes, python_bytes, native_bytes, rss_bytes, file, line",
     .from = "v_memory_timeline",
     .order = "process, t_s",
     .in_place = "line timeline"},
    {.name = "line timeline",
     .aliases = "line timelines|line memory timeline|line footprint|line footprints",
     .columns = "process, pid, file, line, t_s, live_bytes",
     .from = "v_line_timeline",
     .order = "process, file, line, t_s",
     .files = "file:line"},
    {.name = "heap",
     .aliases = "heaps|memory processes|process memory|memory totals|total memory",
     .columns = "process, pid, peak_bytes, peak_python_bytes, peak_native_bytes, peak_t_s, rss_peak_bytes, "
                "allocated_bytes, freed_bytes, profiler_bytes, threshold_bytes, allocator, note",
     .from = "v_heap",
     .order = "process"},
    {.name = "leaks",
     .aliases = "leak|memory leaks|memory leak|leaking lines|leaking",
     .columns = RANK("v.rank") "file, line, function, score, frees, mallocs, rate_bytes_per_s, leaked_bytes, "
                               "holder, library, user_file, user_line",
     .from = "v_leak v",
     .order = "v.rank",
     .files = "file:line user_file:user_line",
     .functions = "function",
     .libraries = "library",
     .is_ranked = true},
    {.name = "growth",
     .aliases =
         "what grew most|what grows most|what grew|what grows|growing lines|growing|memory growth|grew most",
     .columns =
         RANK("v.rank") "file, line, function, growth_bytes, growth_low, growth_high, rate_bytes_per_s, "
                        "kept_bytes, allocated_bytes, score, library",
     .from = "v_growth v",
     .order = "v.rank",
     .files = "file:line",
     .functions = "function",
     .libraries = "library",
     .is_ranked = true},
    {.name = "copies",
     .aliases = "copy|copied|copied bytes|copy volume|copying|copying lines|copy lines|memory copies|memcpy",
     .columns = RANK(MOST_COPIED) COPIES,
     .from = "v_copy",
     .where = "file IS NOT NULL",
     .order = MOST_COPIED,
     .is_timed = true,
     .cut = PIE_CUT_CONTEXTS,
     .by_function = "copying functions",
     .is_ranked = true},
    {.name = "copying functions",
     .aliases = "copy functions|functions that copy",
     .columns = RANK(MOST_COPIED) COPIES,
     .from = "v_copy_function",
     .where = "file IS NOT NULL",
     .order = MOST_COPIED,
     .is_timed = true,
     .cut = PIE_CUT_CONTEXTS,
     .by_function = "copying functions",
     .is_ranked = true},
    {.name = "copy pairs",
     .aliases = "copy pair|copying pairs|copy libraries|copying libraries|library copies",
     .columns = "rank, library, caller, bytes, bytes_per_s, samples, estimate",
     .from = "v_copy_pair",
     .order = "rank",
     .is_timed = true,
     .cut = PIE_CUT_CONTEXTS,
     .is_ranked = true},
    {.name = "needless copies",
     .aliases = "needless|needless copy|needless copying|useless copies|avoidable copies|unneeded copies|"
                "unnecessary copies|lines with needless copies",
     .columns = RANK("v.rank") "file, line, function, needless_share, needless_low, needless_high, verdict, "
                               "bytes, cpu_s, cpu_share, copies, watched, library",
     .from = "v_needless v",
     .order = "v.rank",
     .files = "file:line",
     .functions = "function",
     .libraries = "library",
     .when_empty =
         "no copy of 16 KiB or more by memcpy() was followed to its end, which takes debug registers "
         "(\"pieprof doctor\") and the profile of memory; \"copies\" tells what is copied",
     .is_ranked = true},
    {.name = "learned calls",
     .aliases =
         "learned|traced calls|traced call|learned call|learned call sites|calls learned|loop calls|learning",
     .columns =
         RANK("v.rank") "file, line, function, share, share_low, share_high, calls, mean_s, p50_s, p95_s, "
                        "p99_s, decided_after, state, kind, total_s, variance_s2, observed_calls, "
                        "loop_file, loop_line, loop_function, iterations, observed_iterations, body_s, "
                        "policy, confidence, note, process, pid, loop",
     .from = "v_learned v",
     .order = "v.rank",
     .files = "file:line loop_file:loop_line",
     .functions = "function loop_function",
     .when_empty = TRACED_EMPTY,
     .is_ranked = true},
    {.name = "learned loops",
     .aliases = "traced loops|traced loop|learned loop|loops learned|loops|loop",
     .columns = RANK("v.rank") "file, line, function, iterations, observed_iterations, entries, body_s, "
                               "decided_after, call_sites, policy, confidence, note, process, pid, loop",
     .from = "v_learned_loop v",
     .order = "v.rank",
     .files = "file:line",
     .functions = "function",
     .when_empty = TRACED_EMPTY,
     .is_ranked = true},
    {.name = "libraries",
     .aliases = "library|hot libraries",
     .columns =
         "library, cpu_s, python_s, native_s, system_s, wait_s, runnable_s, throttled_s, cpu_share, samples",
     .from = "v_library",
     .order = "cpu_s DESC, wait_s DESC, library",
     .is_timed = true,
     .cut = PIE_CUT_THREADS},
    {.name = "threads",
     .aliases = "thread|hot threads",
     .columns =
         "process, pid, thread, tid, name, is_main, started, wall_s, cpu_s, python_s, native_s, system_s, "
         "wait_s, runnable_s, throttled_s, cpu_share, clock_cpu_s, samples, threads",
     .from = "v_thread",
     .order = "cpu_s DESC, wait_s DESC, process, thread",
     .is_timed = true,
     .cut = PIE_CUT_THREADS},
    {.name = "processes",
     .aliases = "process|children|process tree|how processes ended|exit causes|exits",
     .columns =
         "process, parent, depth, host, pid, parent_pid, started, wall_s, cpu_s, python_s, native_s, "
         "system_s, wait_s, runnable_s, throttled_s, "
         "cpu_share, samples, threads, cause, exit_status, executable, command, clock, clock_note, period_s, "
         "sampler, sampler_note, peak_bytes, rss_peak_bytes",
     .from = "v_process",
     .order = "process"},
    {.name = "call tree",
     .aliases = "calltree|tree|calls|call graph|callers|hot paths",
     .columns =
         "depth, kind, function, file, line, library, total_s, total_share, self_s, python_s, native_s, "
         "system_s, wait_s, runnable_s, throttled_s, samples",
     .from = PIE_CALLTREE_TABLE,
     .order = "id",
     .is_timed = true,
     .cut = PIE_CUT_THREADS,
     .is_tree = true},
    {.name = "slices",
     .aliases = "slice|time slices|timeslices|over time|time",
     .columns =
         "slice, started, t_s, wall_s, cpu_s, python_s, native_s, system_s, wait_s, runnable_s, throttled_s, "
         "samples, allocated_bytes, copy_bytes, file, line",
     .from = "v_slice",
     .order = "slice"},
    {.name = "runs",
     .aliases = "run|all runs",
     .columns = "run, started, command, wall_s, cpu_s, python_s, native_s, system_s, wait_s, runnable_s, "
                "throttled_s, samples, processes, "
                "threads, cause, exit_status, clock, period_s, sampler, overhead_s, overhead_share, drops, "
                "python_version, "
                "pieprof_version, peak_bytes, rss_peak_bytes",
     .from = "v_run",
     .order = "run",
     .for_all_runs = true},
    {.name = "overhead",
     .aliases = "overheads|cost of profiling|profiler overhead",
     .columns = "collector, budget_share, measured_share, rate, drops, cpu_s",
     .from = "v_overhead",
     .order = "collector"},
    {.name = "drops",
     .aliases = "drop|dropped|dropped samples|lost samples",
     .columns = "process, pid, counter, drops",
     .from = "v_drop",
     .order = "drops DESC, process, counter"},
    {.name = "environment",
     .aliases = "packages|versions|machine",
     .columns = "key, value",
     .from = "v_environment",
     .order = "key"},
};

static bool is_named(const struct pie_question *question, const char *words) {
    if (strcmp(question->name, words) == 0)
        return true;
    for (const char *alias = question->aliases; alias && *alias;) {
        size_t size = strcspn(alias, "|");
        if (strlen(words) == size && strncmp(alias, words, size) == 0)
            return true;
        alias += size + (alias[size] == '|');
    }
    return false;
}

const struct pie_question *pie_question_find(const char *words) {
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (is_named(&questions[i], words))
            return &questions[i];
    }
    return NULL;
}

const struct pie_question *pie_question_all(size_t *ret_count) {
    *ret_count = sizeof questions / sizeof *questions;
    return questions;
}

/* in_place('file', :in, file) AND line = :line OR …, of columns as "file:line user_file:user_line". */
static void write_columns(FILE *out, const char *kind, const char *columns, bool has_line) {
    fputs("(", out);
    for (const char *column = columns; *column;) {
        int size = (int)strcspn(column, " "), name = (int)strcspn(column, " :");
        fprintf(out, "%sin_place('%s', :in, %.*s)", column == columns ? "" : " OR ", kind, name, column);
        if (has_line)
            fprintf(out, " AND %.*s = :line", size - name - 1, column + name + 1);
        column += size;
        column += strspn(column, " ");
    }
    fputs(")", out);
}

static const char *columns_of(const struct pie_question *question, enum pie_place_kind kind) {
    return kind == PIE_PLACE_FUNCTION  ? question->functions
           : kind == PIE_PLACE_LIBRARY ? question->libraries
           : kind == PIE_PLACE_THREAD  ? NULL
                                       : question->files;
}

bool pie_question_has(const struct pie_question *question, enum pie_place_kind kind, bool has_line) {
    if (question->cut != PIE_CUT_NOTHING)
        return kind == PIE_PLACE_THREAD ? question->cut == PIE_CUT_THREADS : true;
    const char *columns = columns_of(question, kind);
    return columns && (!has_line || strchr(columns, ':'));
}

static void write_conditions(FILE *out, const struct pie_question *question, const struct pie_phrase *phrase,
                             enum pie_place_kind kind) {
    const char *joint = " WHERE ";
    if (!question->for_all_runs) {
        fprintf(out, "%srun = :run", joint);
        joint = " AND ";
    }
    if (question->where) {
        fprintf(out, "%s%s", joint, question->where);
        joint = " AND ";
    }
    if (phrase->file[0] && question->cut == PIE_CUT_NOTHING) {
        fputs(joint, out);
        write_columns(out, pie_place_kind_name(kind), columns_of(question, kind), phrase->line > 0);
    }
}

char *pie_question_sql(const struct pie_question *question, const struct pie_phrase *phrase,
                       enum pie_place_kind kind) {
    char *sql = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    if (!out)
        return NULL;
    fprintf(out, "SELECT %s FROM %s", question->columns, question->from);
    write_conditions(out, question, phrase, kind);
    fprintf(out, " ORDER BY %s%s", question->order, phrase->limit > 0 ? " LIMIT :limit" : "");
    if (fclose(out) == 0)
        return sql;
    free(sql);
    return NULL;
}
