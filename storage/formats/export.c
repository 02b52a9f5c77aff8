/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/formats/export.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "storage/base/nearest.h"
#include "storage/formats/formats.h"

static const struct pie_export_format formats[] = {
    {"collapsed", "folded", ".collapsed .folded .txt", "folded stacks for flame graphs", NULL, true, true,
     pie_export_collapsed},
    {"speedscope", "", ".speedscope.json .speedscope", "for https://www.speedscope.app", NULL, true, true,
     pie_export_speedscope},
    {"pprof", "pb proto", ".pb.gz .pprof .pb", "for go tool pprof and what reads its files",
     PIE_PPROF_MISSING, true, false, pie_export_pprof},
    {"firefox", "gecko", ".firefox.json .gecko.json", "for https://profiler.firefox.com", NULL, true, false,
     pie_export_firefox},
    {"perfetto", "chrome trace", ".perfetto.json .trace.json .chrome.json",
     "trace events for https://ui.perfetto.dev and chrome://tracing", NULL, true, false, pie_export_trace},
    {"callgrind", "kcachegrind", ".callgrind", "for KCachegrind and callgrind_annotate", NULL, true, false,
     pie_export_callgrind},
    {"pstats", "cprofile", ".pstats .prof", "for Python's pstats and what reads its files", NULL, false,
     false, pie_export_pstats},
    {"svg", "flamegraph", ".svg", "a flame graph as a picture", NULL, true, true, pie_export_svg},
    {"csv", "", ".csv", "lines of functions with all their costs, for spreadsheets", NULL, true, false,
     pie_export_csv},
    {"json", "", ".json", "the call tree with all its costs", NULL, true, false, pie_export_json},
    {"md", "markdown", ".md .markdown", "a table of the costliest functions", NULL, true, false,
     pie_export_markdown},
    {"sqlite", "", ".sqlite .sqlite3", "all of the profile with its views, for sqlite3, DuckDB and pandas",
     NULL, false, false, pie_export_sqlite},
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (size_t size; *words; words += size, words += strspn(words, " ")) {
        size = strcspn(words, " ");
        if (size == length && memcmp(words, word, size) == 0)
            return true;
    }
    return false;
}

const struct pie_export_format *pie_export_find(const char *name) {
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(formats[i].name, name) == 0 || has_word(formats[i].others, name))
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

const struct pie_export_format *pie_export_find_nearest(const char *name) {
    const char *names[FORMAT_COUNT];
    size_t nearest;
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        names[i] = formats[i].name;
    return pie_nearest_choose(name, names, FORMAT_COUNT, &nearest, 1) ? &formats[nearest] : NULL;
}

char *pie_export_names(void) {
    char *names = NULL;
    size_t size;
    FILE *out = open_memstream(&names, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        fprintf(out, "%s%s", i ? ", " : "", formats[i].name);
    return fclose(out) == 0 ? names : NULL;
}
