/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/own/ownership.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storage/own/distribution.h"

struct prefixes {
    char **paths; /* NULL-terminated; each as given, then resolved where that differs */
};

struct pie_ownership {
    struct prefixes only, exclude;
    struct pie_distributions *distributions;
    char executable[PATH_MAX]; /* this program: with a static libpython, the interpreter's code is in it */
};

static void prefixes_finish(struct prefixes *prefixes) {
    for (char **path = prefixes->paths; path && *path; path++)
        free(*path);
    free(prefixes->paths);
}

static int prefixes_init(struct prefixes *prefixes, const char *list) {
    size_t count = 1, used = 0;
    if (!list)
        return 0;
    for (const char *c = list; *c; c++)
        count += *c == ':';
    prefixes->paths = calloc(2 * count + 1, sizeof *prefixes->paths);
    if (!prefixes->paths)
        return -ENOMEM;
    while (*list) {
        size_t size = strcspn(list, ":");
        char *path = strndup(list, size);
        if (!path)
            return -ENOMEM;
        list += size + (list[size] == ':');
        char *resolved = *path ? realpath(path, NULL) : NULL;
        if (*path)
            prefixes->paths[used++] = path;
        else
            free(path);
        if (resolved)
            prefixes->paths[used++] = resolved;
    }
    return 0;
}

/* Ends at a component's border: "/a/b" holds "/a/b" and "/a/b/c.py", not "/a/bc.py". */
static bool prefixes_hold(const struct prefixes *prefixes, const char *path) {
    for (char **prefix = prefixes->paths; prefix && *prefix; prefix++) {
        size_t size = strlen(*prefix);
        while (size > 1 && (*prefix)[size - 1] == '/')
            size--;
        if (strncmp(path, *prefix, size) == 0 && (path[size] == '\0' || path[size] == '/' || size == 1))
            return true;
    }
    return false;
}

int pie_ownership_create(const char *only, const char *exclude, struct pie_ownership **ret_ownership) {
    struct pie_ownership *ownership = calloc(1, sizeof *ownership);
    if (!ownership)
        return -ENOMEM;
    if (readlink("/proc/self/exe", ownership->executable, sizeof ownership->executable - 1) < 0)
        ownership->executable[0] = 0;
    if (prefixes_init(&ownership->only, only) < 0 || prefixes_init(&ownership->exclude, exclude) < 0 ||
        pie_distributions_create(&ownership->distributions) < 0) {
        pie_ownership_destroy(ownership);
        return -ENOMEM;
    }
    *ret_ownership = ownership;
    return 0;
}

void pie_ownership_destroy(struct pie_ownership *ownership) {
    if (!ownership)
        return;
    prefixes_finish(&ownership->only);
    prefixes_finish(&ownership->exclude);
    pie_distributions_destroy(ownership->distributions);
    free(ownership);
}

/* The end of the innermost ".../site-packages" or ".../dist-packages" in path, or NULL. */
static const char *packages_end(const char *path) {
    const char *found = NULL;
    for (const char *at = path; (at = strstr(at, "-packages/")); at++) {
        size_t before = (size_t)(at - path);
        if (before >= 5 && (strncmp(at - 5, "/site", 5) == 0 || strncmp(at - 5, "/dist", 5) == 0))
            found = at + strlen("-packages");
    }
    return found;
}

/* ".../lib/python3.11/…", ".../lib/python3.14t/…", ".../lib/python311.zip/…", and the interpreter's shared library */
static bool is_stdlib(const char *path) {
    for (const char *at = path; (at = strstr(at, "/python")); at++) {
        const char *version = at + strlen("/python");
        size_t before = (size_t)(at - path);
        bool in_lib = (before >= 4 && strncmp(at - 4, "/lib", 4) == 0) ||
                      (before >= 6 && strncmp(at - 6, "/lib64", 6) == 0);
        size_t digits = strspn(version, "0123456789.");
        const char *end = version + digits + (version[digits] == 't'); /* without the GIL */
        if (in_lib && isdigit((unsigned char)*version) &&
            (*end == '/' || strncmp(end - (end[-1] == '.'), ".zip/", 5) == 0))
            return true;
    }
    const char *base = strrchr(path, '/');
    return base && (strncmp(base, "/libpython", 10) == 0 || strncmp(base, "/libpieprof-", 12) == 0);
}

/* As profiler/base/home.h has it. What the home's native code does is the interpreter's doing. */
static bool is_home(const struct pie_ownership *ownership, const char *path) {
    static const char *const names[] = {"/libpython", "/libpieprof-", "/libc.so", "/libc-", "/ld-", NULL};
    const char *base = strrchr(path, '/');
    bool found = strcmp(path, ownership->executable) == 0;
    for (size_t i = 0; base && names[i]; i++)
        found = found || strncmp(base, names[i], strlen(names[i])) == 0;
    return found;
}

/* Code that has no file: what the user typed or passed is his own, and so is what is made of his classes, formulas and
 * examples; what a library compiled for itself is not (storage/write/writer_generated.c finds out whose it is). */
static struct pie_owner owner_of_pseudo_file(const char *path) {
    if (strncmp(path, "<frozen", 7) == 0 || strcmp(path, "<multiprocessing>") == 0)
        return (struct pie_owner){.library = "python"};
    static const char *const names[] = {
        "<string>",       "<stdin",          "<console>",         "<input>",
        "<doctest",       "<ipython-input-", "<attrs generated ", "<lambdifygenerated-",
        "<dynamic-code>",
    };
    bool own = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        own = own || strncmp(path, names[i], strlen(names[i])) == 0;
    return (struct pie_owner){.is_own = own};
}

static int owner_of_package(struct pie_ownership *ownership, const char *path, const char *end,
                            struct pie_owner *ret_owner) {
    struct pie_owner owner = {.is_own = false};
    char *base = strndup(path, (size_t)(end - path));
    if (!base)
        return -ENOMEM;
    int r = pie_distributions_find(ownership->distributions, base, end + 1, &owner.library, &owner.version);
    free(base);
    if (r == 0)
        *ret_owner = owner;
    return r;
}

int pie_ownership_find(struct pie_ownership *ownership, const char *path, struct pie_owner *ret_owner) {
    struct pie_owner owner = {.is_own = true};
    const char *end = packages_end(path);
    int r = 0;
    if (path[0] == '<')
        owner = owner_of_pseudo_file(path);
    else if (end)
        r = owner_of_package(ownership, path, end, &owner);
    else if (is_stdlib(path) || strcmp(path, ownership->executable) == 0)
        owner = (struct pie_owner){.library = "python"};
    if (r < 0)
        return r;
    if (ownership->only.paths)
        owner.is_own = prefixes_hold(&ownership->only, path);
    if (prefixes_hold(&ownership->exclude, path))
        owner.is_own = false;
    owner.is_home = is_home(ownership, path);
    *ret_owner = owner;
    return 0;
}
