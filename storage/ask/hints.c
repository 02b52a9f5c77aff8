/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/utf8.h"
#include "storage/read/reader.h"

/* From which part of the time on something is plain, and from which time on it matters. */
static const double WAIT_PART = 0.4, QUEUE_PART = 0.25, THROTTLED_PART = 0.05, IMPORT_PART = 0.3,
                    GARBAGE_PART = 0.1, CAUSES_PART = 0.1, MATTERS_S = 0.2;

/* Of the time that the program waited: more is at one line, or in the loader. */
static const double MOST = 0.5;

/* Characters of a line's text. */
enum { SOURCE_MAX = 48 };

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
    int r = pie_cursor_open_once(asking->reader, sql, &cursor, asking->ret_message);
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
    const struct pie_hint hint = {.kind = kind,
                                  .share = share,
                                  .text = text,
                                  .file = place ? place->file : NULL,
                                  .line = place ? place->line : 0};
    if (text)
        asking->take(asking->data, &hint);
    free(text);
}

/* The main thread's wall, CPU, waiting and ready time. */
static const char main_sql[] =
    "SELECT m.wall_s, coalesce(m.clock_cpu_s, m.cpu_s), m.wait_s, m.runnable_s, NULL, NULL FROM v_thread m"
    " WHERE m.run = :run AND m.is_main AND m.process = (SELECT min(id) FROM process WHERE run = :run)";

/* The line of own code at which the main thread waited most. CROSS JOIN: SQLite would look through all samples for
 * each context. */
static const char waiting_sql[] =
    "SELECT sum(s.wait_ns) / 1e9, 0, 0, 0, f.path, l.line FROM thread t"
    " CROSS JOIN x_node_sample s ON s.process = t.process AND s.thread = t.id"
    " CROSS JOIN node n ON n.process = s.process AND n.id = s.node"
    " JOIN location l ON l.process = n.process AND l.id = n.own_location"
    " JOIN function u ON u.process = l.process AND u.id = l.function"
    " JOIN file f ON f.process = u.process AND f.id = u.file"
    " WHERE t.is_main AND t.process = (SELECT min(id) FROM process WHERE run = :run)"
    " GROUP BY f.path, l.line ORDER BY 1 DESC, f.path, l.line LIMIT 1";

/* Waiting for the next batch of a loader: PyTorch's. */
static const char loader_sql[] =
    "SELECT max(wait_s), 0, 0, 0, NULL, NULL FROM v_total_function WHERE run = :run"
    " AND function LIKE '%DataLoaderIter.\\_\\_next\\_\\_' ESCAPE '\\'";

/* A copy of at most SOURCE_MAX characters, without blanks before it (heap, or NULL). */
static char *cut_source(const char *text) {
    char *cut;
    text += strspn(text, " \t");
    size_t size = strlen(text), kept = 0;
    for (int i = 0; i < SOURCE_MAX && kept < size; i++) {
        size_t length = pie_utf8_sequence((const unsigned char *)text + kept, size - kept);
        kept += length ? length : 1;
    }
    return asprintf(&cut, "%.*s%s", (int)kept, text, kept < size ? "…" : "") < 0 ? NULL : cut;
}

static const char source_sql[] =
    "SELECT text FROM v_source WHERE run = :run AND file = :file AND line = :line LIMIT 1";

/* "worker.join()" (heap), or NULL: the profile has no text of the line. */
static char *source_of(const struct asking *asking, const struct facts *place) {
    struct pie_cursor *cursor;
    char *message = NULL, *source = NULL;
    if (!place->file)
        return NULL;
    if (pie_cursor_open_once(asking->reader, source_sql, &cursor, &message) < 0) {
        free(message);
        return NULL;
    }
    pie_cursor_bind_int(cursor, ":run", asking->run);
    pie_cursor_bind_int(cursor, ":line", place->line);
    pie_cursor_bind_text(cursor, ":file", place->file);
    const char *text = pie_cursor_next(cursor, &message) > 0 ? pie_cursor_text(cursor, 0) : NULL;
    if (text)
        source = cut_source(text);
    free(message);
    pie_cursor_close(cursor);
    return source;
}

/* ", 9.01 s of it at app.py:10  worker.join()" (heap), or NULL */
static char *write_place(const struct asking *asking, double seconds, const struct facts *place) {
    const char *slash = strrchr(place->file, '/');
    char *source = source_of(asking, place), *where;
    if (asprintf(&where, ", %.2f s of it at %s:%lld%s%s", seconds, slash ? slash + 1 : place->file,
                 (long long)place->line, source ? "  " : "", source ? source : "") < 0)
        where = NULL;
    free(source);
    return where;
}

static void tell_place(const struct asking *asking, const struct facts *thread, const struct facts *place) {
    char *where = NULL, *text = NULL;
    bool is_plain = place->is_found && place->file && place->values[0] >= MOST * thread->values[2];
    if (is_plain)
        where = write_place(asking, place->values[0], place);
    if (asprintf(&text, "mostly waiting: the main thread waited %.2f of %.2f s%s", thread->values[2],
                 thread->values[0], where ? where : "") < 0)
        text = NULL;
    tell(asking, "waiting", thread->values[2] / thread->values[0], text, is_plain ? place : NULL);
    free(where);
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

/* The costliest line, its time and that of all, and the run's CPU time. The view is asked only where the collector may
 * have taken as long as matters: it begins with all contexts, while this one goes up from those that were sampled at
 * lines below which the collector ran, and counts what has the collector on its way twice as two. */
static const char all_garbage_sql[] =
    "SELECT sum(cpu_ns) / 1e9, 0, 0, 0, NULL, NULL FROM (WITH RECURSIVE"
    " collecting AS MATERIALIZED (SELECT process, id, coalesce(line_location, 0) AS line FROM node"
    " WHERE (process, location) IN (SELECT process, location FROM x_gc_location)),"
    " up (process, cpu_ns, at, above, line, depth)"
    " AS (SELECT s.process, sum(s.python_ns + s.native_ns + s.system_ns), n.id, n.parent, n.line_location, 0"
    " FROM process p CROSS JOIN x_node_sample s ON s.process = p.id"
    " CROSS JOIN node n ON n.process = s.process AND n.id = s.node WHERE p.run = :run"
    " AND (n.process, coalesce(n.line_location, 0)) IN (SELECT process, line FROM collecting)"
    " GROUP BY s.process, s.node"
    " UNION ALL SELECT u.process, u.cpu_ns, m.id, m.parent, u.line, u.depth + 1 FROM up u"
    " JOIN node m ON m.process = u.process AND m.id = u.above WHERE m.line_location IS u.line AND u.depth < "
    "4096)"
    " SELECT u.cpu_ns FROM up u WHERE (u.process, u.at) IN (SELECT process, id FROM collecting))";
static const char garbage_sql[] =
    "SELECT sum(gc_s) OVER (), gc_s / nullif(cpu_share, 0), gc_s, 0, file, line FROM v_gc WHERE run = :run"
    " ORDER BY rank LIMIT 1";

static int tell_garbage(const struct asking *asking) {
    struct facts known, garbage = {.is_found = false};
    char *text, *where = NULL;
    int r = ask(asking, all_garbage_sql, &known);
    if (r == 0 && known.values[0] >= MATTERS_S)
        r = ask(asking, garbage_sql, &garbage);
    double took = garbage.values[0], cpu = garbage.values[1];
    if (r < 0 || !garbage.is_found || took < MATTERS_S || took < GARBAGE_PART * cpu) {
        free(garbage.file);
        return r;
    }
    bool is_plain = garbage.file && garbage.values[2] >= MOST * took;
    if (is_plain)
        where = write_place(asking, garbage.values[2], &garbage);
    if (asprintf(&text, "garbage collection: it took %.2f of %.2f s of CPU%s", took, cpu,
                 where ? where : "") < 0)
        text = NULL;
    tell(asking, "garbage collection", took / cpu, text, is_plain ? &garbage : NULL);
    free(where);
    free(garbage.file);
    return 0;
}

/* Waiting for known reasons, and CPU time with all waiting, which is added up only where it matters. */
static const char known_waits_sql[] =
    "SELECT known_s, iif(known_s >= 0.2,"
    " (SELECT sum(s.python_ns + s.native_ns + s.system_ns + s.wait_ns) / 1e9"
    " FROM process p JOIN x_node_sample s ON s.process = p.id WHERE p.run = :run), 0), 0, 0, NULL, NULL"
    " FROM (SELECT sum(w.wait_ns) / 1e9 AS known_s FROM wait w JOIN process p ON p.id = w.process"
    " WHERE p.run = :run AND w.cause <> 0)";

int pie_hints_waiting_matters(struct pie_reader *reader, int64_t run, bool *ret_matters, char **ret_message) {
    const struct asking asking = {.reader = reader, .run = run, .ret_message = ret_message};
    struct facts facts;
    int r = ask(&asking, known_waits_sql, &facts);
    *ret_matters = r == 0 && facts.values[0] >= MATTERS_S && facts.values[0] >= CAUSES_PART * facts.values[1];
    return r;
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
    if (r == 0)
        r = tell_imports(&asking);
    return r == 0 ? tell_garbage(&asking) : r;
}
