/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/export.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/base/utf8.h"

static const struct pie_export_format formats[] = {
    {"collapsed", ".collapsed .folded .txt", "folded stacks for flame graphs, microseconds of CPU time",
     pie_export_collapsed},
    {"speedscope", ".speedscope.json .json", "for https://www.speedscope.app, one profile for each thread",
     pie_export_speedscope},
    {"sqlite", ".sqlite .sqlite3", "all of the profile with its views, for sqlite3, DuckDB and pandas",
     pie_export_sqlite},
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

const struct pie_export_format *pie_export_find(const char *name) {
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

static bool has_ending(const char *file, const char *endings) {
    for (const char *ending = endings; *ending;
         ending += strcspn(ending, " "), ending += strspn(ending, " ")) {
        size_t size = strcspn(ending, " "), length = strlen(file);
        if (length > size && strncasecmp(file + length - size, ending, size) == 0)
            return true;
    }
    return false;
}

const struct pie_export_format *pie_export_find_for_file(const char *file) {
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (has_ending(file, formats[i].extensions))
            return &formats[i];
    }
    return NULL;
}

char *pie_export_names(void) {
    char *names = NULL;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        char *longer = NULL;
        if (asprintf(&longer, "%s%s%s", names ? names : "", names ? ", " : "", formats[i].name) < 0)
            longer = NULL;
        free(names);
        names = longer;
    }
    return names;
}

/* Separators of the formats and control characters are no part of a name. */
static char *clean_name(char *name) {
    size_t size = strlen(name);
    char *clean = malloc(3 * size + 1), *fit = NULL;
    if (clean) {
        size = pie_utf8_clean(clean, name, size);
        clean[size] = 0;
        fit = realloc(clean, size + 1); /* there may be as many names as functions */
    }
    clean = fit ? fit : clean;
    for (char *c = clean; c && *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
        else if (*c == ';')
            *c = ':';
    }
    free(name);
    return clean;
}

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

char *pie_export_frame_name(const struct pie_calltree *tree, uint32_t index) {
    const struct pie_calltree_frame *frame = &tree->frames[index];
    const char *function = frame->function ? frame->function : "?";
    const char *place = base_name(frame->kind == PIE_LOCATION_NATIVE ? frame->module : frame->file);
    char *name;
    int size;
    if (!place)
        size = asprintf(&name, "%s", function);
    else if (frame->kind == PIE_LOCATION_PYTHON && frame->first_line > 0)
        size = asprintf(&name, "%s (%s:%lld)", function, place, (long long)frame->first_line);
    else
        size = asprintf(&name, "%s (%s)", function, place);
    return size < 0 ? NULL : clean_name(name);
}

int pie_export_load(struct pie_reader *reader, const struct pie_export_choice *choice,
                    struct pie_calltree **ret_tree, char **ret_message) {
    struct pie_calltree *tree;
    int r = pie_calltree_load(reader, choice->run, choice->detail, &tree, ret_message);
    if (r < 0)
        return r;
    if (tree->cpu_ns[0] == 0) {
        pie_calltree_destroy(tree);
        return pie_message(-ENODATA, ret_message, "run %lld has no samples of CPU time to export",
                           (long long)choice->run);
    }
    *ret_tree = tree;
    return 0;
}

uint32_t pie_export_next(const struct pie_calltree *tree, uint32_t node) {
    if (tree->nodes[node].first_child)
        return tree->nodes[node].first_child;
    while (node != 0 && tree->nodes[node].next_sibling == 0)
        node = tree->nodes[node].parent;
    return node ? tree->nodes[node].next_sibling : 0;
}
