/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/questions.h"

#include "storage/export/calltree.h"

#define RANK(order) "row_number() OVER (ORDER BY " order ") AS rank, "
#define COSTLIEST "cpu_s DESC, wait_s DESC, file, line, function"
#define FINDING                                                                                              \
    "redundant_fraction, fraction_low, fraction_high, wasted_s, wasted_share, bytes, traps, sampler, "       \
    "severity, library, user_file, user_line, "
#define FINDINGS                                                                                             \
    .columns = RANK(                                                                                         \
        "v.rank") "kind, file, line, function, first_file, first_line, native_function, "                    \
                  "native_library, category, evidence, advice, " FINDING                                     \
                  "wasted_s_low, wasted_s_high, cpu_s, short_share, watches, verdict, facts, "               \
                  "gain_s, again_s, again_s_low, again_s_high, again, gain_most_s, gain_within, is_known",   \
    .from = "v_redundancy v", .order = "v.rank", .files = "file:line user_file:user_line",                   \
    .functions = "function native_function", .libraries = "library native_library", .is_timed = true,        \
    .is_ranked = true,                                                                                       \
    .when_empty = "no watched access or call was done again; \"hot lines\" tells where the time goes"
#define FUNCTION_FINDINGS                                                                                    \
    .columns = RANK("v.rank") "kind, file, line, function, native_function, native_library, category, "      \
                              "evidence, advice, " FINDING                                                   \
                              "wasted_s_low, wasted_s_high, cpu_s, watches, lines, worst_line, verdict, "    \
                              "facts, gain_s, again_s, again_s_low, again_s_high, again, gain_most_s, "      \
                              "gain_within, is_known",                                                       \
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

/* Inclusive time. In X leaves rows, since the time below them is elsewhere too; in a thread only what it did. */
#define PARTS "python_s, native_s, system_s, wait_s, runnable_s, throttled_s, samples, library"
#define HIGHEST "total_s DESC, wait_s DESC, file, line, function"
#define TOTALS(view)                                                                                         \
    .columns = RANK(HIGHEST) "file, line, function, total_s, total_share, self_s, " PARTS, .from = view,     \
    .order = HIGHEST, .files = "file:line", .functions = "function", .libraries = "library",                 \
    .cut = PIE_CUT_ONLY_THREADS, .is_timed = true, .is_ranked = true
#define CALLS(other)                                                                                         \
    "total_s, total_share, part_share, " PARTS ", " other "_file, " other "_line, " other, .order = HIGHEST, \
        .files = other "_file", .functions = other, .cut = PIE_CUT_ONLY_THREADS, .is_timed = true,           \
        .is_ranked = true
/* A function's row has the line of it that took most, with its text. */
#define TREE_FROM                                                                                            \
    PIE_CALLTREE_OWN_TABLE                                                                                   \
    " t LEFT JOIN (SELECT file, function, first_line, line, row_number() OVER ("                             \
    "PARTITION BY file, function, first_line ORDER BY cpu_ns DESC, wait_ns DESC, line) AS place"             \
    " FROM x_line_total WHERE run = :run) l ON l.place = 1 AND l.file = t.file AND l.function = "            \
    "t.function"                                                                                             \
    " AND l.first_line = t.first_line LEFT JOIN v_source s ON s.run = :run AND s.file = l.file"              \
    " AND s.line = l.line"

static const struct pie_question questions[] = {
    {.name = "summary",
     .aliases =
         "optimise|optimize|how to optimise|how to optimize|fix|fixes|advice|recommendations|what can i "
         "improve|what to improve|improve|next steps|everything|stats|where is the time going|where is my "
         "time going|"
         "why is it slow|why slow|what is slow|where is it slow|why is this slow|bottleneck|bottlenecks|"
         "hotspots|hotspot|hot spots|profile|overview|what should i fix|what to fix|what can i fix|"
         "how to make it faster|how can i make it faster|how do i make it faster|what is wrong|"
         "what takes so long|why does it take so long|where does the time go|where does time go|"
         "performance|report|findings and hot lines|suggestions|optimisation suggestions|"
         "optimization suggestions|optimisations|optimizations|hints",
     .columns = "run, started, command, wall_s, cpu_s, python_s, native_s, system_s, wait_s, runnable_s, "
                "throttled_s, samples, processes, threads, cause, exit_status, overhead_s, overhead_share, "
                "drops, peak_bytes, rss_peak_bytes",
     .from = "v_run",
     .order = "run",
     .in_place = "hot lines",
     .by_function = "hot functions",
     .is_summary = true},
    {.name = "hot lines",
     .aliases =
         "self time|exclusive time|tottime|slowest line|slow code|cpu usage|most time|"
         "lines|hot line|hottest lines|slow lines|slowest lines|costly lines|hot|hottest|line|cpu|cpu time|"
         "hottest line|slow|slowest|most cpu|expensive lines|top lines|lines by time|time|time spent|"
         "cpu percent|cpu percentage|line profile|line profiler|line by line|per-line time",
     .columns = RANK(COSTLIEST) "file, line, function, " COST ", library, user_file, user_line, worked_s",
     .from = "x_line_share",
     .where = "file IS NOT NULL",
     .sums = "x_line_cost",
     .order = COSTLIEST,
     .is_timed = true,
     .cut = PIE_CUT_THREADS,
     .by_function = "hot functions",
     .by_total = "total lines",
     .is_ranked = true},
    {.name = "hot functions",
     .aliases = "hottest function|slowest function|"
                "functions|hot function|hottest functions|slow functions|slowest functions|costly functions|"
                "function|slow function|expensive functions|slowest call|slowest calls|function profile",
     .columns = RANK(COSTLIEST) "file, line, function, " COST ", library, user_file, user_line",
     .from = "x_function_share",
     .where = "file IS NOT NULL",
     .sums = "x_function_cost",
     .order = COSTLIEST,
     .is_timed = true,
     .cut = PIE_CUT_THREADS,
     .by_function = "hot functions",
     .by_total = "total functions",
     .is_ranked = true},
    {.name = "total functions",
     .aliases =
         "cumtime|"
         "inclusive functions|inclusive time|inclusive|total time|total|totals|cumulative time|cumulative|"
         "cumulative functions|inclusive times|total times|functions with callees|"
         "longest running functions|longest running function|longest functions|longest function",
     TOTALS("v_total_function"),
     .by_function = "total functions"},
    {.name = "own functions",
     .aliases = "my functions|user functions|own total functions|own inclusive functions",
     TOTALS("v_total_function"),
     .where = "library IS NULL AND file IS NOT NULL",
     .by_function = "own functions"},
    {.name = "total lines",
     .aliases = "inclusive lines|cumulative lines|lines with callees",
     TOTALS("v_total_line"),
     .by_function = "total functions"},
    {.name = "own total lines",
     .aliases = "own inclusive lines|total own lines|inclusive own lines",
     TOTALS("v_total_line"),
     .where = "library IS NULL AND file IS NOT NULL",
     .by_function = "own functions"},
    {.name = "callers",
     .aliases = "caller|calling lines|calling functions",
     .columns = RANK(HIGHEST) "file, line, function, " CALLS("callee"),
     .from = "v_caller",
     .needs = "callers of which function? \"callers of NAME\""},
    {.name = "callees",
     .aliases = "callee|called functions",
     .columns = RANK(HIGHEST) "function, file, line, kind, " CALLS("caller"),
     .from = "v_callee",
     .needs = "callees of which function? \"callees of NAME\""},
    {.name = "imports",
     .aliases = "import|import time|slow imports|slowest imports|import times|imported modules|slow import",
     .columns = RANK(HIGHEST) "file, total_s, total_share, self_s, " PARTS,
     .from = "v_total_function",
     .where = "function = '<module>' AND file IN (SELECT callee_file FROM v_caller WHERE run = :run"
              " AND callee = '<module>' AND file LIKE '<frozen importlib%')",
     .order = HIGHEST,
     .files = "file",
     .libraries = "library",
     .cut = PIE_CUT_ONLY_THREADS,
     .is_timed = true,
     .is_ranked = true},
    {.name = "tree",
     .aliases = "compact tree|own tree|own call tree|short tree|compact call tree|small tree",
     .columns =
         "depth, t.kind, t.function, t.file, coalesce(l.line, t.first_line) AS line, library, total_s, "
         "total_share, parent_share, self_s, python_s, native_s, system_s, wait_s, runnable_s, "
         "throttled_s, samples, s.text",
     .from = TREE_FROM,
     .order = "t.id",
     .run = "t.run = :run",
     .is_timed = true,
     .cut = PIE_CUT_THREADS,
     .is_tree = true,
     .is_cut_by_nth = true},
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
    {.name = "native lines",
     .aliases = "hot native lines|native line|c lines|lines of c|lines of native code",
     .columns = RANK(COSTLIEST) "file, line, function, library, module, " COST,
     .from = "x_native_line_share",
     .order = COSTLIEST,
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
    {.name = "waiting",
     .aliases = "waiting lines|wait|waits|lines that wait|wait time|waiting time|idle|blocked|"
                "where does it wait|where is it waiting",
     OFF_LINES("wait_s"),
     .by_cause = "wait causes",
     .when_empty = "no line of Python was seen waiting; \"threads\" tells how long each thread waited"},
    {.name = "wait causes",
     .aliases =
         "disk io|disk i/o|network io|network i/o|lock waits|socket|sockets|"
         "wait cause|waiting causes|why it waits|"
         "why does it wait|why is it waiting|what does it wait for|what is it waiting for|"
         "reasons to wait|wait reasons|contention|gil|gil contention|gil wait|lock|locks|lock contention|"
         "lock wait|io|i/o|io wait|i/o wait|disk|disk wait|network|network wait|sleep|sleeping|"
         "waiting for io|waiting for i/o|waiting for locks|waiting for the gil|wait for",
     .columns = RANK("v.rank") "file, line, function, cause, wait_s, wait_share, resource, "
                               "holder_file, holder_line, holder_function, holds_gil, "
                               "library, user_file, user_line",
     .from = "v_wait v",
     .where = "file IS NOT NULL",
     .order = "v.rank",
     .cut = PIE_CUT_THREADS,
     .by_cause = "wait causes",
     .is_timed = true,
     .is_ranked = true,
     .when_empty =
         "no line of Python was seen waiting for this; \"threads\" tells how long each thread waited"},
    {.name = "tasks",
     .aliases = "task|async tasks|asyncio tasks|tasks of asyncio|coroutines|await|awaits|asyncio|async|"
                "tasks by name|waiting tasks|event loop|cpu time by task|cpu by task|cpu time of tasks",
     .columns = RANK("v.rank") "task, coroutine, file, line, function, cause, wait_s, wait_share, "
                               "coroutine_file, coroutine_line, cpu_s, cpu_share",
     .from = "v_task v",
     .order = "v.rank",
     .cut = PIE_CUT_THREADS,
     .is_timed = true,
     .is_ranked = true,
     .when_empty = "no task of asyncio was seen"},
    {.name = "worked for",
     .aliases = "pool time|pool time by line|pools|thread pools|pool threads|native threads|work of pools|"
                "time of pools|threads without python|openmp|blas|blas threads",
     .columns = RANK("v.rank") "file, line, function, worked_s, worked_share, library, user_file, user_line",
     .from = "v_worked v",
     .order = "v.rank",
     .cut = PIE_CUT_THREADS,
     .is_timed = true,
     .is_ranked = true,
     .when_empty = "no native thread worked while a line of Python waited for native code"},
    {.name = "garbage collection",
     .aliases =
         "gc pauses|gc pause|"
         "gc|garbage|garbage collections|gc lines|gc time|garbage collector|time of garbage collection",
     .columns =
         RANK("v.rank") "file, line, function, gc_s, gc_0_s, gc_1_s, gc_2_s, cpu_share, samples, library",
     .from = "v_gc v",
     .order = "v.rank",
     .files = "file:line",
     .functions = "function",
     .libraries = "library",
     .is_timed = true,
     .is_ranked = true,
     .when_empty = "no sample was taken while garbage was collected"},
    {.name = "runnable",
     .aliases = "runnable lines|run queue|ready|ready to run|for a processor",
     OFF_LINES("runnable_s"),
     .when_empty = "no line was ready to run without a processor"},
    {.name = "throttled",
     .aliases = "throttled lines|throttling|cpu quota",
     OFF_LINES("throttled_s"),
     .when_empty = "no CPU quota held a line up"},
    {.name = "redundancy",
     .aliases = "redundant work|repeated work|wasted work|wasted cpu|"
                "redundancies|redundant|redundant lines|redundant accesses|redundant memory accesses|"
                "redundant loads and stores|redundant stores and loads|finding|findings|waste|wasted time|"
                "wasted accesses|wasteful lines|duplicated work|duplicate work|double work|work done twice|"
                "needless work|unnecessary work",
     FINDINGS,
     .by_function = "redundant functions"},
    {.name = "redundant loads",
     .aliases = "silent loads|"
                "redundant load|redundant reads|redundant read|repeated loads|repeated reads|wasted loads|"
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
     .aliases = "who allocates|what allocates|allocs|memory consumption|ram usage|"
                "memory lines|allocations|allocated memory|allocating lines|memory use|memory usage|"
                "memory allocations|allocation|memory hogs|memory hog|most memory|hogs|"
                "which lines allocate most|lines that allocate most|what allocates most|allocate most|"
                "who allocates most|where is memory allocated|ram|who allocates most memory|"
                "what allocates most memory|per-line memory|memory per line|memory profile|memory profiler",
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
     .aliases = "high watermark|maximum memory|max memory|peak usage|"
                "peak memory|memory peak|peak lines|highest memory|high water mark|peak memory usage|"
                "memory at the peak|peak memory use",
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
     .aliases = "heap usage|heap size|"
                "heaps|memory processes|process memory|memory totals|total memory",
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
     .aliases = "copy functions|functions that copy|which function copies most|which functions copy most|"
                "functions that copy most",
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
     .aliases =
         "slow libraries|slowest libraries|slowest library|which library is slow|package times|"
         "library|hot libraries|packages by time|modules|packages|which package is slow|which module is slow",
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
     .aliases = "subprocesses|subprocess|child processes|multiprocessing|worker processes|"
                "process|children|process tree|how processes ended|exit causes|exits|which process is slow|"
                "slowest process|slowest processes",
     .columns =
         "process, parent, depth, host, pid, parent_pid, started, wall_s, cpu_s, python_s, native_s, "
         "system_s, wait_s, runnable_s, throttled_s, "
         "cpu_share, samples, threads, cause, exit_status, executable, command, clock, clock_note, period_s, "
         "sampler, sampler_note, peak_bytes, rss_peak_bytes",
     .from = "v_process",
     .order = "process"},
    {.name = "call tree",
     .aliases = "hot path|hotpath|stacks|call stacks|stack traces|"
                "calltree|calls|call graph|hot paths|full tree",
     .columns =
         "depth, kind, function, file, line, library, total_s, total_share, self_s, python_s, native_s, "
         "system_s, wait_s, runnable_s, throttled_s, samples",
     .from = PIE_CALLTREE_TABLE,
     .order = "id",
     .is_timed = true,
     .cut = PIE_CUT_THREADS,
     .is_tree = true},
    {.name = "slices",
     .aliases = "cpu over time|cpu usage over time|"
                "slice|time slices|timeslices|over time|time timeline|cpu timeline|timeline of time",
     .by_function = "hot functions",
     .columns =
         "slice, started, t_s, wall_s, cpu_s, python_s, native_s, system_s, wait_s, runnable_s, throttled_s, "
         "gc_s, samples, allocated_bytes, copy_bytes, file, line",
     .from = "v_slice",
     .order = "slice"},
    {.name = "runs",
     .aliases = "command line|command|how many samples|number of samples|sample count|"
                "run|all runs",
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
    {.name = "overhead over time",
     .aliases = "cost over time|cost of profiling over time|rates over time",
     .columns =
         "slice, t_s, cpu_s, overhead_s, overhead_share, budget_share, samples_per_s, time_s, redundancy_s, "
         "memory_s, counting_s, copies_s, caches_s, collection_s",
     .from = "v_overhead_slice",
     .order = "slice"},
    {.name = "drops",
     .aliases = "drop|dropped|dropped samples|lost samples",
     .columns = "process, pid, counter, drops",
     .from = "v_drop",
     .order = "drops DESC, process, counter"},
    {.name = "source",
     .aliases = "source text|source code|sources|code|text",
     .columns = "s.file, s.line, s.text, o.cpu_s, o.cpu_share, o.wait_s, o.samples",
     .from = "v_source s LEFT JOIN (SELECT * FROM v_own_line WHERE run = :run) o ON o.file = s.file"
             " AND o.line = s.line",
     .order = "s.file, s.line",
     .run = "s.run = :run",
     .files = "s.file:s.line",
     .needs = "the source of which file? \"source of FILE\""},
    {.name = "help",
     .aliases = "questions|what can i ask|examples|commands|?|how|usage|what can you do",
     .columns = "question, view, also",
     .list = PIE_QUESTION_LIST_QUESTIONS,
     .order = "nth",
     .for_all_runs = true},
    {.name = "schema",
     .aliases = "tables|views|columns|table|view|tables and views|database|sql",
     .columns = "name, type, columns",
     .list = PIE_QUESTION_LIST_TABLES,
     .order = "nth",
     .for_all_runs = true},
    {.name = "environment",
     .aliases = "python version|version|kernel version|versions|machine",
     .columns = "key, value",
     .from = "v_environment",
     .order = "key"},
};

const struct pie_question *pie_question_all(size_t *ret_count) {
    *ret_count = sizeof questions / sizeof *questions;
    return questions;
}
