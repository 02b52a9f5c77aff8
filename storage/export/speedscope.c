/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "storage/export/calltree.h"
#include "storage/export/export.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"
#include "storage/base/utf8.h"

/* https://www.speedscope.app/file-format-schema.json: frames are shared, each thread is a "sampled" profile. Contexts
 * are written once each, weighted by their CPU time, in the order of the tree: neighbours in the time view are
 * neighbours in the program, not in time. */

struct export {
    FILE *out;
    struct pie_calltree *tree;
    int64_t *weights_ns; /* of the thread at hand, by node */
    uint32_t *path;
    size_t profiles;
};

static void write_text(FILE *out, const char *text) {
    size_t size = strlen(text);
    char *clean = malloc(3 * size + 1);
    json_t *value = clean ? json_stringn(clean, pie_utf8_clean(clean, text, size)) : NULL;
    if (!value || json_dumpf(value, out, JSON_ENCODE_ANY) < 0)
        fputs("\"\"", out);
    json_decref(value);
    free(clean);
}

static void write_frames(struct export *export) {
    fputs("\"shared\":{\"frames\":[", export->out);
    for (uint32_t i = 0; i < export->tree->frame_count; i++) {
        const struct pie_calltree_frame *frame = &export->tree->frames[i];
        const char *file = frame->file ? frame->file : frame->module;
        char *name = pie_export_frame_name(export->tree, i);
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", export->out);
        write_text(export->out, name ? name : "?");
        free(name);
        if (file) {
            fputs(",\"file\":", export->out);
            write_text(export->out, file);
        }
        if (frame->file && frame->first_line > 0)
            fprintf(export->out, ",\"line\":%lld", (long long)frame->first_line);
        fputc('}', export->out);
    }
    fputs("]}", export->out);
}

static void write_stack(struct export *export, uint32_t node) {
    uint32_t depth = 0;
    for (uint32_t at = node; at != 0; at = export->tree->nodes[at].parent)
        export->path[depth++] = export->tree->nodes[at].frame;
    fputc('[', export->out);
    while (depth > 0) {
        fprintf(export->out, "%u", export->path[--depth]);
        fputs(depth > 0 ? "," : "]", export->out);
    }
}

static void write_seconds(FILE *out, int64_t ns) {
    fprintf(out, "%lld.%09lld", (long long)(ns / 1000000000), (long long)(ns % 1000000000));
}

/* One profile from the weights, which are then 0 again. */
static void write_profile(struct export *export, const char *name) {
    const struct pie_calltree *tree = export->tree;
    int64_t total_ns = 0;
    fputs(export->profiles++ ? ",\n" : "\n", export->out);
    fputs("{\"type\":\"sampled\",\"name\":", export->out);
    write_text(export->out, name);
    fputs(",\"unit\":\"seconds\",\"startValue\":0,\n\"samples\":[", export->out);
    for (uint32_t node = 0, first = 1; (node = pie_export_next(tree, node)) != 0;) {
        if (export->weights_ns[node] == 0)
            continue;
        fputs(first ? "" : ",", export->out);
        write_stack(export, node);
        first = 0;
    }
    fputs("],\n\"weights\":[", export->out);
    for (uint32_t node = 0, first = 1; (node = pie_export_next(tree, node)) != 0;) {
        if (export->weights_ns[node] == 0)
            continue;
        fputs(first ? "" : ",", export->out);
        write_seconds(export->out, export->weights_ns[node]);
        if (__builtin_add_overflow(total_ns, export->weights_ns[node], &total_ns))
            total_ns = INT64_MAX;
        export->weights_ns[node] = 0;
        first = 0;
    }
    export->weights_ns[0] = 0; /* of rows that a damaged file lost */
    fputs("],\n\"endValue\":", export->out);
    write_seconds(export->out, total_ns);
    fputc('}', export->out);
}

static const char samples_sql[] =
    "SELECT s.process, s.node, s.python_ns + s.native_ns + s.system_ns, s.thread, p.pid, t.tid, t.name"
    " FROM process p JOIN sample s ON s.process = p.id"
    " LEFT JOIN thread t ON t.process = s.process AND t.id = s.thread"
    " WHERE p.run = :run AND s.python_ns + s.native_ns + s.system_ns > 0 ORDER BY s.process, s.thread";

static char *thread_name(struct pie_cursor *row) {
    char *name;
    const char *given = pie_cursor_text(row, 6);
    int size = asprintf(&name, "%s (process %lld, thread %lld)", given ? given : "thread",
                        (long long)pie_cursor_int(row, 4), (long long)pie_cursor_int(row, 5));
    return size < 0 ? NULL : name;
}

static int write_profiles(struct export *export, struct pie_cursor *cursor, char **ret_message) {
    int64_t process = -1, thread = -1;
    char *name = NULL;
    int r;
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        if (pie_cursor_int(cursor, 0) != process || pie_cursor_int(cursor, 3) != thread) {
            if (name)
                write_profile(export, name);
            free(name);
            name = thread_name(cursor);
            if (!name)
                return pie_message(-ENOMEM, ret_message, "out of memory");
            process = pie_cursor_int(cursor, 0);
            thread = pie_cursor_int(cursor, 3);
        }
        int64_t *weight =
            &export->weights_ns[pie_calltree_find(export->tree, process, pie_cursor_int(cursor, 1))];
        if (__builtin_add_overflow(*weight, pie_cursor_int(cursor, 2), weight))
            *weight = INT64_MAX;
    }
    if (r == 0 && name)
        write_profile(export, name);
    free(name);
    return r;
}

static int write_all(struct export *export, struct pie_reader *reader, int64_t run, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open(reader, samples_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    fprintf(export->out,
            "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"pieprof@%s\","
            "\"name\":\"pieprof run %lld\",\"activeProfileIndex\":0,\n",
            PIEPROF_VERSION, (long long)run);
    write_frames(export);
    fputs(",\n\"profiles\":[", export->out);
    r = write_profiles(export, cursor, ret_message);
    fputs("]}\n", export->out);
    pie_cursor_close(cursor);
    return r;
}

int pie_export_speedscope(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                          char **ret_message) {
    struct export export = {.out = out};
    int r = pie_export_load(reader, choice, &export.tree, ret_message);
    if (r < 0)
        return r;
    export.weights_ns = calloc(export.tree->node_count, sizeof *export.weights_ns);
    export.path = calloc(export.tree->node_count, sizeof *export.path);
    if (export.weights_ns && export.path)
        r = write_all(&export, reader, choice->run, ret_message);
    else
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    free(export.weights_ns);
    free(export.path);
    pie_calltree_destroy(export.tree);
    return r;
}
