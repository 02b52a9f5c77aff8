/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/hash.h"
#include "storage/base/message.h"
#include "storage/base/utf8.h"
#include "storage/export/calltree_rows.h"
#include "storage/export/layout.h"
#include "storage/export/tracks.h"
#include "storage/formats/common.h"
#include "storage/formats/formats.h"

/* A flame graph as a picture: callers above, so that a deep stack does not leave the first screen empty; each box is as
 * wide as its cost. It has no script, so it is the same in a
 * browser, an editor and a mail; a box shows all of its name and its cost where the pointer rests on it. */

enum { WIDTH = 1200, ROW = 17, TOP = 44, LETTER = 7 };

static const double narrowest = 0.1; /* boxes below it are left out, and counted */

struct box {
    int64_t start, total;
    uint32_t depth, frame;
    char *name; /* of a process or thread; NULL: of the frame */
};

struct export {
    FILE *out;
    const struct pie_calltree *tree;
    const struct pie_metric *metric;
    const struct pie_tracks *tracks; /* NULL: no boxes of processes and threads */
    struct box *boxes;
    uint32_t count, process; /* boxes; the process's + 1 while its threads are added */
    int64_t process_id, end;
    uint32_t above; /* boxes of process and thread above the part at hand */
    const struct pie_part *part;
    int error;
};

static struct box *add_box(struct export *export, const struct box *box) {
    struct box *boxes = pie_calltree_grow(export->boxes, export->count, sizeof *boxes);
    if (!boxes) {
        export->error = -ENOMEM;
        return NULL;
    }
    export->boxes = boxes;
    boxes[export->count] = *box;
    return &boxes[export->count++];
}

static void take_node(void *data, uint32_t node, uint32_t depth, int64_t start) {
    struct export *export = data;
    add_box(export, &(struct box){.start = start,
                                  .total = export->part->total[node],
                                  .depth = depth + export->above,
                                  .frame = export->tree->nodes[node].frame});
}

static void add_track(struct export *export, char *name, uint32_t depth, int64_t total) {
    if (!name ||
        !add_box(export, &(struct box){.start = export->end, .total = total, .depth = depth, .name = name}))
        free(name);
}

/* Parts of a process follow each other. */
static void add_tracks(struct export *export, int64_t total) {
    const struct pie_part *part = export->part;
    export->above = export->metric->thread ? 2 : 1;
    if (export->process == 0 || export->process_id != part->process) {
        add_track(export, pie_tracks_process_name(export->tracks, part->process), 0, 0);
        export->process = export->count;
        export->process_id = part->process;
    }
    if (export->process)
        pie_calltree_add(&export->boxes[export->process - 1].total, total);
    if (export->metric->thread)
        add_track(export, pie_tracks_thread_name(export->tracks, part->process, part->thread), 1, total);
}

static int take_part(void *data, const struct pie_part *part) {
    struct export *export = data;
    int64_t total = 0;
    for (uint32_t i = 0; i < part->count; i++)
        pie_calltree_add(&total, part->self[part->nodes[i]]);
    export->part = part;
    if (export->tracks)
        add_tracks(export, total);
    int r = export->error ? 0 : pie_layout_each(export->tree, part, export->end, export, take_node);
    export->error = r < 0 ? r : export->error;
    pie_calltree_add(&export->end, total);
    return export->error;
}

static double scale(const struct export *export, int64_t cost) {
    return export->end ? (double)cost * WIDTH / (double)export->end : 0;
}

static bool is_drawn(const struct export *export, const struct box *box) {
    return scale(export, box->total) >= narrowest;
}

/* The bytes of a character that XML may contain: U+FFFE and U+FFFF it may not. Control characters are gone. */
static size_t xml_character(const char *at) {
    size_t size = pie_utf8_sequence((const unsigned char *)at, strlen(at));
    bool is_none = size == 3 && (memcmp(at, "\xef\xbf\xbe", 3) == 0 || memcmp(at, "\xef\xbf\xbf", 3) == 0);
    return is_none ? 0 : size;
}

/* At most `longest` characters, then "…". */
static void write_text(FILE *out, const char *text, size_t longest) {
    static const char *const escapes[] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};
    size_t written = 0;
    for (const char *at = text; *at; written++) {
        size_t size = xml_character(at);
        unsigned char c = (unsigned char)*at;
        if (written >= longest) {
            fputs("\xe2\x80\xa6", out);
            return;
        }
        if (size == 0)
            fputc('?', out);
        else if (c < sizeof escapes / sizeof *escapes && escapes[c])
            fputs(escapes[c], out);
        else
            fwrite(at, 1, size, out);
        at += size ? size : pie_utf8_sequence((const unsigned char *)at, strlen(at));
    }
}

/* A hue for whose code it is, a shade for the name, the same in each picture. */
static void write_colour(FILE *out, const struct export *export, const struct box *box, const char *name) {
    const struct pie_calltree_frame *frame = &export->tree->frames[box->frame];
    uint64_t hash = pie_hash_bytes(name, strlen(name));
    int hue = frame->kind == PIE_LOCATION_NATIVE ? 205 : frame->library ? 50 : 22;
    if (box->name)
        fputs("hsl(0,0%,82%)", out);
    else
        fprintf(out, "hsl(%d,%d%%,%d%%)", hue + (int)(hash % 13), 70 + (int)(hash / 13 % 16),
                66 + (int)(hash / 208 % 10));
}

static void write_cost(FILE *out, const struct export *export, int64_t cost) {
    double share = export->end ? 100.0 * (double)cost / (double)export->end : 0;
    if (export->metric->unit == PIE_METRIC_NS)
        fprintf(out, "%.3f s, %.2f %%", (double)cost / 1e9, share);
    else
        fprintf(out, "%lld%s%s, %.2f %%", (long long)cost, *pie_export_unit(export->metric) ? " " : "",
                pie_export_unit(export->metric), share);
}

static void write_box(struct export *export, const struct box *box) {
    char *made = box->name ? NULL : pie_export_frame_name(export->tree, box->frame);
    const char *name = box->name ? box->name : made ? made : "?";
    double x = scale(export, box->start), width = scale(export, box->total);
    unsigned y = TOP + box->depth * ROW;
    fprintf(export->out, "<g><title>");
    write_text(export->out, name, SIZE_MAX);
    fputs(" (", export->out);
    write_cost(export->out, export, box->total);
    fprintf(export->out, ")</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"", x, y,
            width, ROW - 1);
    write_colour(export->out, export, box, name);
    fputs("\"/>", export->out);
    if (width >= 3 * LETTER) {
        fprintf(export->out, "<text x=\"%.2f\" y=\"%u\">", x + 3, y + 12);
        write_text(export->out, name, (size_t)((width - 6) / LETTER));
        fputs("</text>", export->out);
    }
    fputs("</g>\n", export->out);
    free(made);
}

static void write_head(const struct export *export, int64_t run, uint32_t deepest, uint32_t left_out) {
    unsigned height = TOP + (deepest + 1) * ROW + 8;
    fprintf(
        export->out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\""
        " height=\"%u\" viewBox=\"0 0 %d %u\" font-family=\"monospace\" font-size=\"11\">\n"
        "<style>g:hover rect{stroke:#000;stroke-width:1}text{pointer-events:none}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
        "<text x=\"3\" y=\"18\" font-size=\"15\">pieprof run %lld: %s, ",
        WIDTH, height, WIDTH, height, (long long)run, export->metric->what);
    write_cost(export->out, export, export->end);
    fputs("</text>\n<text x=\"3\" y=\"35\">own Python: orange, libraries' Python: yellow, native: blue",
          export->out);
    if (left_out)
        fprintf(export->out, "; %u boxes are too narrow to be drawn", left_out);
    fputs("</text>\n", export->out);
}

static void draw(struct export *export, int64_t run) {
    uint32_t deepest = 0, left_out = 0;
    for (uint32_t i = 0; i < export->count; i++) {
        bool is = is_drawn(export, &export->boxes[i]);
        left_out += !is;
        if (is && export->boxes[i].depth > deepest)
            deepest = export->boxes[i].depth;
    }
    write_head(export, run, deepest, left_out);
    for (uint32_t i = 0; i < export->count; i++) {
        if (is_drawn(export, &export->boxes[i]))
            write_box(export, &export->boxes[i]);
    }
    fputs("</svg>\n", export->out);
}

static int draw_tree(struct export *export, struct pie_reader *reader, const struct pie_export_choice *choice,
                     char **ret_message) {
    struct pie_tracks tracks = {0};
    int r = choice->has_threads ? pie_tracks_load(reader, choice->run, &tracks, ret_message) : 0;
    export->tracks = choice->has_threads ? &tracks : NULL;
    if (r == 0)
        r = pie_parts_each(reader, export->tree, choice->run, export->metric,
                           choice->has_threads ? PIE_PART_THREAD : PIE_PART_ALL, export, take_part,
                           ret_message);
    if (r == 0)
        draw(export, choice->run);
    for (uint32_t i = 0; i < export->count; i++)
        free(export->boxes[i].name);
    free(export->boxes);
    pie_tracks_finish(&tracks);
    return r;
}

int pie_export_svg(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                   char **ret_message) {
    struct export export = {.out = out};
    struct pie_calltree *tree = NULL;
    int r = pie_export_load_tree(reader, choice, 0, &export.metric, &tree, ret_message);
    if (r < 0)
        return r;
    export.tree = tree;
    r = draw_tree(&export, reader, choice, ret_message);
    pie_calltree_destroy(tree);
    return r;
}
