/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "storage/base/message.h"
#include "storage/export/part.h"
#include "storage/export/tracks.h"
#include "storage/formats/common.h"
#include "storage/formats/formats.h"
#include "storage/formats/json_text.h"

/* https://www.speedscope.app/file-format-schema.json: frames are shared, each thread is a "sampled" profile. Contexts
 * are written once each, weighted by their cost, in the order of the tree: neighbours in the time view are neighbours
 * in the program, not in time. With frames of processes and threads all is one profile. */

struct export {
    FILE *out;
    const struct pie_calltree *tree;
    const struct pie_metric *metric;
    struct pie_tracks tracks;
    uint32_t *path;
    size_t profiles, samples; /* written so far; samples of the profile at hand */
    int64_t total;            /* of the profile at hand */
    FILE *weights;            /* in memory, until its samples are written */
    char *weights_text;
    size_t weights_size;
    bool has_threads;
};

static void write_frame(struct export *export, uint32_t frame, const char *name) {
    const struct pie_calltree_frame *about = &export->tree->frames[frame];
    fputs(frame ? ",\n{\"name\":" : "\n{\"name\":", export->out);
    pie_json_write_text(export->out, name ? name : "?");
    if (pie_export_file(about)) {
        fputs(",\"file\":", export->out);
        pie_json_write_text(export->out, pie_export_file(about));
    }
    if (about->file && about->first_line > 0)
        fprintf(export->out, ",\"line\":%lld", (long long)about->first_line);
    fputc('}', export->out);
}

/* Taken. */
static void write_track(struct export *export, bool is_first, char *name) {
    fputs(is_first ? "\n{\"name\":" : ",\n{\"name\":", export->out);
    pie_json_write_text(export->out, name ? name : "?");
    fputc('}', export->out);
    free(name);
}

static void write_frames(struct export *export) {
    const struct pie_tracks *tracks = &export->tracks;
    uint32_t frames = export->tree->frame_count;
    fputs("\"shared\":{\"frames\":[", export->out);
    for (uint32_t i = 0; i < frames; i++) {
        char *name = pie_export_frame_name(export->tree, i);
        write_frame(export, i, name);
        free(name);
    }
    for (size_t i = 0; export->has_threads && i < tracks->process_count; i++)
        write_track(export, frames == 0 && i == 0, pie_tracks_process_name(tracks, tracks->processes[i].id));
    for (size_t i = 0; export->has_threads && i < tracks->thread_count; i++)
        write_track(export, false,
                    pie_tracks_thread_name(tracks, tracks->threads[i].process, tracks->threads[i].id));
    fputs("]}", export->out);
}

static int begin_profile(struct export *export, const char *name) {
    static const char *const units[] = {
        [PIE_METRIC_NS] = "seconds", [PIE_METRIC_BYTES] = "bytes", [PIE_METRIC_COUNT] = "none"};
    export->weights = open_memstream(&export->weights_text, &export->weights_size);
    if (!export->weights)
        return -ENOMEM;
    export->total = 0;
    export->samples = 0;
    fputs(export->profiles++ ? ",\n" : "\n", export->out);
    fputs("{\"type\":\"sampled\",\"name\":", export->out);
    pie_json_write_text(export->out, name);
    fprintf(export->out, ",\"unit\":\"%s\",\"startValue\":0,\n\"samples\":[", units[export->metric->unit]);
    return 0;
}

static int end_profile(struct export *export) {
    int r = fclose(export->weights) == 0 ? 0 : -ENOMEM;
    if (r == 0) {
        fputs("],\n\"weights\":[", export->out);
        fputs(export->weights_text, export->out);
        fputs("],\n\"endValue\":", export->out);
        pie_export_write_cost(export->out, export->metric, export->total);
        fputc('}', export->out);
    }
    free(export->weights_text);
    export->weights = NULL;
    return r;
}

/* The frames of the part's process and thread. */
static void write_tracks(struct export *export, const struct pie_part *part) {
    const struct pie_tracks *tracks = &export->tracks;
    const struct pie_track_process *process = pie_tracks_process(tracks, part->process);
    const struct pie_track_thread *thread = pie_tracks_thread(tracks, part->process, part->thread);
    size_t first = export->tree->frame_count;
    if (export->has_threads && process)
        fprintf(export->out, "%zu,", first + (size_t)(process - tracks->processes));
    if (export->has_threads && thread)
        fprintf(export->out, "%zu,", first + tracks->process_count + (size_t)(thread - tracks->threads));
}

static void write_samples(struct export *export, const struct pie_part *part) {
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t node = part->nodes[i], depth = pie_export_path(export->tree, node, export->path);
        if (part->self[node] == 0)
            continue;
        fputs(export->samples ? ",[" : "[", export->out);
        write_tracks(export, part);
        while (depth > 0) {
            fprintf(export->out, "%u", export->path[--depth]);
            fputs(depth > 0 ? "," : "]", export->out);
        }
        fputs(export->samples++ ? "," : "", export->weights);
        pie_export_write_cost(export->weights, export->metric, part->self[node]);
        pie_calltree_add(&export->total, part->self[node]);
    }
}

/* "MainThread (process 4001, thread 4002)": heap, or NULL. */
static char *profile_name(const struct export *export, const struct pie_part *part) {
    const struct pie_track_process *process = pie_tracks_process(&export->tracks, part->process);
    const struct pie_track_thread *thread = pie_tracks_thread(&export->tracks, part->process, part->thread);
    char *name;
    if (!export->metric->thread)
        return pie_tracks_process_name(&export->tracks, part->process);
    int size = asprintf(&name, "%s (process %lld, thread %lld)", thread ? thread->name : "thread",
                        process ? (long long)process->pid : 0, thread ? (long long)thread->tid : 0);
    return size < 0 ? NULL : name;
}

static bool has_self(const struct pie_part *part) {
    for (uint32_t i = 0; i < part->count; i++) {
        if (part->self[part->nodes[i]] > 0)
            return true;
    }
    return false;
}

static int take_part(void *data, const struct pie_part *part) {
    struct export *export = data;
    if (export->has_threads) {
        write_samples(export, part);
        return 0;
    }
    if (!has_self(part))
        return 0;
    char *name = profile_name(export, part);
    int r = name ? begin_profile(export, name) : -ENOMEM;
    free(name);
    if (r < 0)
        return r;
    write_samples(export, part);
    return end_profile(export);
}

static int write_profiles(struct export *export, struct pie_reader *reader, int64_t run, char **ret_message) {
    int r = export->has_threads ? begin_profile(export, "all threads") : 0;
    if (r < 0)
        return pie_message(r, ret_message, "out of memory");
    r = pie_parts_each(reader, export->tree, run, export->metric, PIE_PART_THREAD, export, take_part,
                       ret_message);
    if (export->has_threads && end_profile(export) < 0 && r == 0)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    return r;
}

static int write_all(struct export *export, struct pie_reader *reader, int64_t run, char **ret_message) {
    fprintf(export->out,
            "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"pieprof@%s\","
            "\"name\":\"pieprof run %lld: %s\",\"activeProfileIndex\":0,\n",
            PIEPROF_VERSION, (long long)run, export->metric->what);
    write_frames(export);
    fputs(",\n\"profiles\":[", export->out);
    int r = write_profiles(export, reader, run, ret_message);
    fputs("]}\n", export->out);
    return r;
}

int pie_export_speedscope(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                          char **ret_message) {
    struct export export = {.out = out, .has_threads = choice->has_threads};
    struct pie_calltree *tree = NULL;
    int r = pie_export_load_tree(reader, choice, 0, &export.metric, &tree, ret_message);
    if (r < 0)
        return r;
    export.tree = tree;
    export.path = calloc(tree->node_count, sizeof *export.path);
    r = export.path ? pie_tracks_load(reader, choice->run, &export.tracks, ret_message)
                    : pie_message(-ENOMEM, ret_message, "out of memory");
    if (r == 0)
        r = write_all(&export, reader, choice->run, ret_message);
    free(export.path);
    pie_tracks_finish(&export.tracks);
    pie_calltree_destroy(tree);
    return r;
}
