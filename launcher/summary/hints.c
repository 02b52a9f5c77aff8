/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/summary/hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/answers/finding.h"
#include "launcher/text/text.h"
#include "storage/read/reader.h"

/* From which part of the time on something is plain, and from which time on it matters. */
static const double WAIT_PART = 0.4, QUEUE_PART = 0.25, THROTTLED_PART = 0.05, IMPORT_PART = 0.3,
                    MATTERS_S = 0.2;

/* Of the time that the program waited: more is at one line, or in the loader. */
static const double MOST = 0.5;

struct asking {
    struct pie_reader *reader;
    int64_t run;
    void *data;
    void (*take)(void *data, const struct pie_hint *hint);
    char **ret_message;
};

/* One row of numbers and a place. */
struct facts {
    double values[4];
    char *file;
    int64_t line;
    bool is_found;
};

/* Columns: four numbers, file, line. */
static int ask(const struct asking *asking, const char *sql, struct facts *ret_facts) {
    struct pie_cursor *cursor;
    *ret_facts = (struct facts){.is_found = false};
    int r = pie_cursor_open(asking->reader, sql, &cursor, asking->ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", asking->run);
    r = pie_cursor_next(cursor, asking->ret_message);
    if (r > 0) {
        for (int i = 0; i < 4; i++)
            ret_facts->values[i] = pie_cursor_real(cursor, i);
        ret_facts->file = pie_cursor_text(cursor, 4) ? strdup(pie_cursor_text(cursor, 4)) : NULL;
        ret_facts->line = pie_cursor_int(cursor, 5);
        ret_facts->is_found = true;
    }
    pie_cursor_close(cursor);
    return r < 0 ? r : 0;
}

/* Hands a hint over and frees its text. */
static void tell(const struct asking *asking, const char *kind, double share, char *text,
                 const struct facts *place) {
    char *clean = text ? pie_text_printable(text) : NULL;
    const struct pie_hint hint = {.kind = kind,
                                  .share = share,
                                  .text = clean,
                                  .file = place ? place->file : NULL,
                                  .line = place ? place->line : 0};
    if (clean)
        asking->take(asking->data, &hint);
    free(clean);
    free(text);
}

/* The main thread's wall, CPU, waiting and ready time. */
static const char main_sql[] =
    "SELECT m.wall_s, coalesce(m.clock_cpu_s, m.cpu_s), m.wait_s, m.runnable_s, NULL, NULL FROM v_thread m"
    " WHERE m.run = :run AND m.is_main AND m.process = (SELECT min(id) FROM process WHERE run = :run)";

/* The line of own code at which the main thread waited most. */
static const char waiting_sql[] =
    "SELECT sum(s.wait_ns) / 1e9, 0, 0, 0, f.path, l.line FROM thread t"
    " JOIN x_node_sample s ON s.process = t.process AND s.thread = t.id"
    " JOIN node n ON n.process = s.process AND n.id = s.node"
    " JOIN location l ON l.process = n.process AND l.id = n.own_location"
    " JOIN function u ON u.process = l.process AND u.id = l.function"
    " JOIN file f ON f.process = u.process AND f.id = u.file"
    " WHERE t.is_main AND t.process = (SELECT min(id) FROM process WHERE run = :run)"
    " GROUP BY f.path, l.line ORDER BY 1 DESC, f.path, l.line LIMIT 1";

/* Waiting for the next batch of a loader: PyTorch's. */
static const char loader_sql[] =
    "SELECT max(wait_s), 0, 0, 0, NULL, NULL FROM v_total_function WHERE run = :run"
    " AND function LIKE '%DataLoaderIter.\\_\\_next\\_\\_' ESCAPE '\\'";

/* "worker.join()", or "" */
static char *source_of(const struct asking *asking, const struct facts *place) {
    char *source = place->file
                       ? pie_finding_source(asking->reader, asking->run, place->file, (double)place->line)
                       : NULL;
    char *cut = source ? pie_text_cut_end(source, 48) : NULL;
    free(source);
    return cut;
}

static void tell_place(const struct asking *asking, const struct facts *thread, const struct facts *place) {
    const char *slash = place->file ? strrchr(place->file, '/') : NULL;
    char *source = source_of(asking, place), *where = NULL, *text = NULL;
    bool is_plain = place->is_found && place->file && place->values[0] >= MOST * thread->values[2];
    if (is_plain &&
        asprintf(&where, ", %.2f s of it at %s:%lld%s%s", place->values[0], slash ? slash + 1 : place->file,
                 (long long)place->line, source ? "  " : "", source ? source : "") < 0)
        where = NULL;
    if (asprintf(&text, "mostly waiting: the main thread waited %.2f of %.2f s%s", thread->values[2],
                 thread->values[0], where ? where : "") < 0)
        text = NULL;
    tell(asking, "waiting", thread->values[2] / thread->values[0], text, is_plain ? place : NULL);
    free(where);
    free(source);
}

static int tell_waiting(const struct asking *asking, const struct facts *thread) {
    struct facts loader = {.is_found = false}, place = {.is_found = false};
    double waited = thread->values[2];
    char *text;
    if (waited < WAIT_PART * thread->values[0] || waited < MATTERS_S)
        return 0;
    int r = ask(asking, loader_sql, &loader);
    if (r == 0)
        r = ask(asking, waiting_sql, &place);
    if (r == 0 && loader.values[0] >= MOST * waited) {
        if (asprintf(&text, "input bound: the main thread waited %.0f of %.0f s for the DataLoader",
                     loader.values[0] < waited ? loader.values[0] : waited, thread->values[0]) < 0)
            text = NULL;
        tell(asking, "input bound", waited / thread->values[0], text, &place);
    } else if (r == 0) {
        tell_place(asking, thread, &place);
    }
    free(place.file);
    free(loader.file);
    return r;
}

/* All threads' CPU, ready and throttled time. */
static const char threads_sql[] = "SELECT sum(cpu_s), sum(runnable_s), sum(throttled_s), count(*), NULL, NULL"
                                  " FROM v_thread WHERE run = :run";

static int tell_threads(const struct asking *asking) {
    struct facts all;
    int r = ask(asking, threads_sql, &all);
    double cpu = all.values[0], ready = all.values[1], throttled = all.values[2];
    char *text;
    if (r < 0)
        return r;
    if (throttled >= MATTERS_S && throttled >= THROTTLED_PART * (cpu + throttled)) {
        if (asprintf(&text, "throttled: a CPU quota stopped the threads for %.2f s beside %.2f s of CPU",
                     throttled, cpu) < 0)
            text = NULL;
        tell(asking, "throttled", throttled / (cpu + throttled), text, NULL);
    }
    if (ready >= MATTERS_S && ready >= QUEUE_PART * (cpu + ready)) {
        if (asprintf(&text,
                     "too few processors: threads were ready to run for %.2f s without one, and ran "
                     "for %.2f s",
                     ready, cpu) < 0)
            text = NULL;
        tell(asking, "processors", ready / (cpu + ready), text, NULL);
    }
    return 0;
}

/* All imports together, with what they ran, and the run's CPU time. */
static const char imports_sql[] =
    "SELECT sum(total_s), max(total_s / total_share), 0, 0, NULL, NULL FROM v_total_function WHERE run = :run"
    " AND function = '_find_and_load' AND file LIKE '<frozen importlib.%'";

static int tell_imports(const struct asking *asking) {
    struct facts imports;
    int r = ask(asking, imports_sql, &imports);
    double took = imports.values[0], cpu = imports.values[1];
    char *text;
    if (r < 0 || took < MATTERS_S || took < IMPORT_PART * cpu)
        return r;
    if (asprintf(&text, "start-up: imports took %.2f of %.2f s of CPU; \"imports\" lists them", took, cpu) <
        0)
        text = NULL;
    tell(asking, "imports", took / cpu, text, NULL);
    return 0;
}

int pie_hints_each(struct pie_reader *reader, int64_t run, void *data,
                   void (*take)(void *data, const struct pie_hint *hint), char **ret_message) {
    const struct asking asking = {
        .reader = reader, .run = run, .data = data, .take = take, .ret_message = ret_message};
    struct facts thread;
    int r = ask(&asking, main_sql, &thread);
    if (r < 0 || thread.values[0] < MATTERS_S) /* a short run ends at once */
        return r;
    r = tell_waiting(&asking, &thread);
    if (r == 0)
        r = tell_threads(&asking);
    return r == 0 ? tell_imports(&asking) : r;
}
