/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/subjects.h"

#include <stdio.h>
#include <string.h>

#include "storage/calltree.h"
#include "storage/phrase.h"

#define RANK(order) "row_number() OVER (ORDER BY " order ") AS rank, "
#define COSTLIEST "cpu_s DESC, wait_s DESC, file, line, function"
#define COST "cpu_s, python_s, native_s, system_s, wait_s, cpu_share, samples, cpu_s_low, cpu_s_high"

static const struct pie_subject subjects[] = {
    {.name = "hot lines",
     .aliases = "lines|hot line|hottest lines|slow lines|slowest lines|costly lines",
     .columns = RANK(COSTLIEST) "file, line, function, " COST ", library, user_file, user_line",
     .from = "v_line",
     .where = "file IS NOT NULL",
     .order = COSTLIEST,
     .by_function = "hot functions",
     .takes_file = true,
     .is_ranked = true},
    {.name = "hot functions",
     .aliases = "functions|hot function|hottest functions|slow functions|slowest functions|costly functions",
     .columns = RANK(COSTLIEST) "file, line, function, " COST ", library, user_file, user_line",
     .from = "v_function",
     .where = "file IS NOT NULL",
     .order = COSTLIEST,
     .by_function = "hot functions",
     .takes_file = true,
     .is_ranked = true},
    {.name = "native functions",
     .aliases = "native|hot native functions|native function|c functions",
     .columns =
         RANK("cpu_s DESC, wait_s DESC, library, function") "function, library, module, file, line, " COST,
     .from = "v_native",
     .order = "cpu_s DESC, wait_s DESC, library, function",
     .by_function = "native functions",
     .takes_file = true,
     .is_ranked = true},
    {.name = "own lines",
     .aliases = "my lines|hot own lines|user lines",
     .columns =
         RANK(COSTLIEST) "file, line, function, cpu_s, python_s, native_s, system_s, wait_s, cpu_share, "
                         "samples, library, library_cpu_s",
     .from = "v_own_line",
     .order = COSTLIEST,
     .takes_file = true,
     .is_ranked = true},
    {.name = "libraries",
     .aliases = "library|hot libraries",
     .columns = "library, cpu_s, python_s, native_s, system_s, wait_s, cpu_share, samples",
     .from = "v_library",
     .order = "cpu_s DESC, wait_s DESC, library"},
    {.name = "threads",
     .aliases = "thread|hot threads",
     .columns =
         "process, pid, thread, tid, name, is_main, started, wall_s, cpu_s, python_s, native_s, system_s, "
         "wait_s, cpu_share, clock_cpu_s, samples",
     .from = "v_thread",
     .order = "cpu_s DESC, wait_s DESC, process, thread"},
    {.name = "processes",
     .aliases = "process|children",
     .columns =
         "process, parent, pid, parent_pid, started, wall_s, cpu_s, python_s, native_s, system_s, wait_s, "
         "cpu_share, samples, threads, cause, exit_status, executable, command, clock, clock_note, period_s",
     .from = "v_process",
     .order = "process"},
    {.name = "call tree",
     .aliases = "calltree|tree|calls|call graph|callers|hot paths",
     .columns =
         "depth, kind, function, file, line, library, total_s, total_share, self_s, python_s, native_s, "
         "system_s, wait_s, samples",
     .from = PIE_CALLTREE_TABLE,
     .order = "id",
     .is_tree = true},
    {.name = "runs",
     .aliases = "run|all runs",
     .columns =
         "run, started, command, wall_s, cpu_s, python_s, native_s, system_s, wait_s, samples, processes, "
         "threads, cause, exit_status, clock, period_s, overhead_share, drops, python_version, "
         "pieprof_version",
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

static bool is_named(const struct pie_subject *subject, const char *words) {
    if (strcmp(subject->name, words) == 0)
        return true;
    for (const char *alias = subject->aliases; alias && *alias;) {
        size_t size = strcspn(alias, "|");
        if (strlen(words) == size && strncmp(alias, words, size) == 0)
            return true;
        alias += size + (alias[size] == '|');
    }
    return false;
}

const struct pie_subject *pie_subject_find(const char *words) {
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (is_named(&subjects[i], words))
            return &subjects[i];
    }
    return NULL;
}

const struct pie_subject *pie_subject_all(size_t *ret_count) {
    *ret_count = sizeof subjects / sizeof *subjects;
    return subjects;
}

/* A file is named by its path or by the end of it, from a slash on. */
char *pie_subject_sql(const struct pie_subject *subject, const struct pie_phrase *phrase) {
    const char *conditions[3];
    size_t count = 0;
    char *sql = NULL;
    if (!subject->for_all_runs)
        conditions[count++] = "run = :run";
    if (subject->where)
        conditions[count++] = subject->where;
    if (phrase->file[0])
        conditions[count++] = "(file = :file OR substr(file, -length('/' || :file)) = '/' || :file)";
    if (asprintf(&sql, "SELECT %s FROM %s%s%s%s%s%s%s ORDER BY %s%s", subject->columns, subject->from,
                 count > 0 ? " WHERE " : "", count > 0 ? conditions[0] : "", count > 1 ? " AND " : "",
                 count > 1 ? conditions[1] : "", count > 2 ? " AND " : "", count > 2 ? conditions[2] : "",
                 subject->order, phrase->limit > 0 ? " LIMIT :limit" : "") < 0)
        return NULL;
    return sql;
}
