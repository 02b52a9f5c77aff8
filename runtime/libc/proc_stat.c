/* SPDX-License-Identifier: Apache-2.0 */

/* From 3.12 on os.fork() warns when the process has several threads, and counts them in /proc/self/stat
 * (Modules/posixmodule.c: get_number_of_os_threads). The collection thread is not the program's: a program with one
 * thread would be warned only because it is profiled. So whoever opens exactly this file by fopen() reads it with one
 * thread less. */

#include "runtime/libc/export.h"

#include "profiler/collect/engine.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef FILE *(*fopen_fn)(const char *, const char *);

enum { STAT_BYTES = 1024, THREADS_FIELD = 20, STATE_FIELD = 3 };

/* Where field `number` begins; the name in parentheses before field 3 may hold anything. */
static char *find_field(char *line, int number) {
    char *at = strrchr(line, ')');

    for (int field = STATE_FIELD - 1; at && field < number; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at;
}

/* The line with one thread less. False: it does not look as expected. */
static int write_less_one(char *line, FILE *out) {
    char *threads = find_field(line, THREADS_FIELD), *rest;
    long count = threads ? strtol(threads, &rest, 10) : 0;

    if (count < 2)
        return 0;
    return fprintf(out, "%.*s%ld%s", (int)(threads - line), line, count - 1, rest) > 0;
}

static FILE *open_stat(fopen_fn real, const char *path, const char *mode) {
    char line[STAT_BYTES];
    FILE *file = real(path, mode);
    size_t size = file ? fread(line, 1, sizeof line - 1, file) : 0;

    if (!file)
        return NULL;
    line[size] = '\0';
    FILE *copy = fmemopen(NULL, STAT_BYTES + 1, "w+");
    if (copy && write_less_one(line, copy)) {
        fclose(file);
        rewind(copy);
        return copy;
    }
    if (copy)
        fclose(copy);
    rewind(file);
    return file;
}

static FILE *open_any(const char *name, const char *path, const char *mode) {
    fopen_fn real = (fopen_fn)dlsym(RTLD_NEXT, name);

    if (!real) {
        errno = ENOSYS;
        return NULL;
    }
    if (path && mode && mode[0] == 'r' && strcmp(path, "/proc/self/stat") == 0 && pie_engine_is_running())
        return open_stat(real, path, mode);
    return real(path, mode);
}

/* Under names of our own, because with 64-bit offsets the headers make fopen another name of fopen64. */
PIE_EXPORT FILE *open_plain(const char *path, const char *mode) __asm__("fopen");
PIE_EXPORT FILE *open_large(const char *path, const char *mode) __asm__("fopen64");

PIE_EXPORT FILE *open_plain(const char *path, const char *mode) {
    return open_any("fopen", path, mode);
}

PIE_EXPORT FILE *open_large(const char *path, const char *mode) {
    return open_any("fopen64", path, mode);
}
