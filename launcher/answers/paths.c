/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/paths.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "launcher/text/wrap.h"

/* Columns: a rule's dashes; the indentation of frames; the gap between what and where; the least of each. */
enum { RULE = 60, INDENT = 3, GAP = 2, WHAT_MIN = 24, WHERE_MIN = 24 };

/* One frame as it is shown. */
struct frame {
    char *what, *where; /* printable */
    bool is_python;
};

static const char *member_text(const json_t *frame, const char *name) {
    return json_string_value(json_object_get(frame, name));
}

static double member_number(const json_t *frame, const char *name) {
    const json_t *value = json_object_get(frame, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Takes `text`, heap or NULL; "?" for what is not there. */
static char *printable(char *text) {
    char *clean = pie_text_printable(text && *text ? text : "?");
    free(text);
    return clean;
}

static char *python_what(const struct pie_finding_screen *screen, const json_t *frame) {
    const char *function = member_text(frame, "function");
    char *source = pie_finding_source(screen->reader, screen->run, member_text(frame, "file"),
                                      member_number(frame, "line"));
    return source ? source : strdup(function ? function : "");
}

/* "0x1ead1", however the file has it. */
static void format_offset(const json_t *offset, char *buffer, size_t size) {
    if (json_is_integer(offset))
        snprintf(buffer, size, "  0x%llx", (unsigned long long)json_integer_value(offset));
    else
        snprintf(buffer, size, "%s%s", json_is_string(offset) ? "  " : "",
                 json_is_string(offset) ? json_string_value(offset) : "");
}

/* numpy/_core/_multiarray_umath.so  0x1ead1, and the source where debug information has it. */
static char *native_where(const json_t *frame) {
    const char *library = member_text(frame, "library"), *file = member_text(frame, "file");
    char *source = file ? pie_finding_place(file, member_number(frame, "line")) : NULL, *where, offset[40];
    format_offset(json_object_get(frame, "offset"), offset, sizeof offset);
    int size = asprintf(&where, "%s%s%s%s", library ? library : "?", offset, source ? "  " : "",
                        source ? source : "");
    free(source);
    return size < 0 ? NULL : where;
}

static int make_frame(const struct pie_finding_screen *screen, const json_t *json, struct frame *frame) {
    const char *kind = member_text(json, "kind"), *function = member_text(json, "function");
    frame->is_python = kind && strcmp(kind, "python") == 0;
    if (frame->is_python) {
        frame->what = printable(python_what(screen, json));
        frame->where = printable(pie_finding_place(member_text(json, "file"), member_number(json, "line")));
    } else {
        frame->what = printable(strdup(function ? function : "(no symbol)"));
        frame->where = printable(native_where(json));
    }
    return frame->what && frame->where ? 0 : -ENOMEM;
}

static size_t widest(const struct frame *frames, size_t count, bool of_where) {
    size_t width = 0;
    for (size_t i = 0; i < count; i++) {
        size_t here = pie_text_width(of_where ? frames[i].where : frames[i].what);
        width = here > width ? here : width;
    }
    return width;
}

static int print_frame(const struct pie_finding_screen *screen, const struct frame *frame, size_t what_width,
                       size_t where_width) {
    char *what = pie_text_cut_end(frame->what, what_width);
    char *where = pie_text_cut_start(frame->where, where_width);
    const char *style = frame->is_python ? screen->style.bold : screen->style.dim;
    int r = what && where ? 0 : -ENOMEM;
    if (r == 0)
        fprintf(screen->out, "%*s%s%s%*s%s%s\n", INDENT, "", style, what,
                (int)(what_width - pie_text_width(what) + GAP), "", where, screen->style.plain);
    free(what);
    free(where);
    return r;
}

/* What is left of a line goes to the places first: a source line is still known when its end is cut off. */
static int print_frames(const struct pie_finding_screen *screen, const struct frame *frames, size_t count) {
    size_t columns = screen->columns ? screen->columns : PIE_WRAP_UNCUT;
    size_t room =
        columns > INDENT + GAP + WHAT_MIN + WHERE_MIN ? columns - INDENT - GAP : WHAT_MIN + WHERE_MIN;
    size_t what = widest(frames, count, false), where = widest(frames, count, true);
    if (what + where > room) {
        size_t least = what < WHAT_MIN ? what : WHAT_MIN;
        where = where < room - least ? where : room - least;
        what = what < room - where ? what : room - where;
    }
    int r = 0;
    for (size_t i = 0; i < count && r == 0; i++)
        r = print_frame(screen, &frames[i], what, where);
    return r;
}

/* The array has the outermost frame first. */
static int print_path(const struct pie_finding_screen *screen, const json_t *path) {
    size_t count = json_array_size(path);
    struct frame *frames = calloc(count + 1, sizeof *frames);
    int r = frames ? 0 : -ENOMEM;
    for (size_t i = 0; i < count && r == 0; i++)
        r = make_frame(screen, json_array_get(path, count - 1 - i), &frames[i]);
    if (r == 0 && count == 0)
        fprintf(screen->out, "%*s(not known)\n", INDENT, "");
    else if (r == 0)
        r = print_frames(screen, frames, count);
    for (size_t i = 0; frames && i < count; i++) {
        free(frames[i].what);
        free(frames[i].where);
    }
    free(frames);
    return r;
}

static void print_rule(const struct pie_finding_screen *screen, const char *text) {
    size_t width = strlen(text) + 2;
    fprintf(screen->out, "%*s----- %s%s%s ", INDENT, "", screen->style.bold, text, screen->style.plain);
    for (size_t i = width; i < RULE; i++)
        fputc('-', screen->out);
    fputc('\n', screen->out);
}

static int print_end(const struct pie_finding_screen *screen, const char *title, const char *text) {
    json_t *path = text ? json_loads(text, 0, NULL) : NULL;
    print_rule(screen, title);
    int r = print_path(screen, path);
    json_decref(path);
    return r;
}

int pie_paths_print(const struct pie_finding_screen *screen, const struct pie_finding *pair) {
    bool is_store = pair->kind && strcmp(pair->kind, "store") == 0;
    int r = print_end(screen, is_store ? "first store" : "first load", pair->first_path);
    if (r == 0)
        r = print_end(screen,
                      is_store ? "second store: the same value to the same address"
                               : "second load: the same value from the same address",
                      pair->second_path);
    return r;
}
