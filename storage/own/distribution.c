/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/own/distribution.h"
#include "profiler/base/own_memory.h"
#include "storage/base/idmap.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A distribution says what it installs in top_level.txt (setuptools) or in RECORD (every wheel). Most packages are
 * named as their distribution, so that no file but METADATA is read for them. Names are compared as PEP 503
 * normalises them. */

enum { METADATA_MAX_BYTES = 1 << 20, RECORD_MAX_BYTES = 16 << 20 };

struct distribution {
    char *path;           /* of the *.dist-info folder, *.egg-info folder or file */
    char *name, *version; /* from the metadata once has_metadata, before that from the folder's name */
    char *files; /* of one that shares a package with others: text of top_level.txt or RECORD; or NULL */
    bool has_metadata, is_shared;
};

/* Numbers of distributions begin with 1. */
struct base {
    struct base *next;
    char *path;
    struct distribution *all;
    uint32_t count;
    struct pie_idmap claimed; /* packages of all files that are listed: number of the first that lists it */
    struct pie_idmap shared;  /* packages that several list */
    struct pie_idmap chosen; /* packages that were asked for: number of their distribution, or one of these */
    bool is_read;            /* what they list */
};

enum { NONE = -1, BY_FILE = -2 };

struct plain_name {
    struct plain_name *next;
    char name[];
};

struct pie_distributions {
    struct base *bases;
    struct plain_name *plain; /* names of packages that no distribution claims */
};

int pie_distributions_create(struct pie_distributions **ret_distributions) {
    struct pie_distributions *distributions = pie_calloc(1, sizeof *distributions);
    if (!distributions)
        return -ENOMEM;
    *ret_distributions = distributions;
    return 0;
}

static void base_destroy(struct base *base) {
    for (uint32_t i = 0; i < base->count; i++) {
        pie_free(base->all[i].path);
        pie_free(base->all[i].name);
        pie_free(base->all[i].version);
        pie_free(base->all[i].files);
    }
    pie_idmap_finish(&base->claimed);
    pie_idmap_finish(&base->shared);
    pie_idmap_finish(&base->chosen);
    pie_free(base->all);
    pie_free(base->path);
    pie_free(base);
}

void pie_distributions_destroy(struct pie_distributions *distributions) {
    if (!distributions)
        return;
    while (distributions->bases) {
        struct base *base = distributions->bases;
        distributions->bases = base->next;
        base_destroy(base);
    }
    while (distributions->plain) {
        struct plain_name *plain = distributions->plain;
        distributions->plain = plain->next;
        pie_free(plain);
    }
    pie_free(distributions);
}

/* The whole text of DIRECTORY/NAME, or NULL. */
static char *read_text(const char *directory, const char *name, size_t max) {
    char path[4096];
    struct stat status;
    if (snprintf(path, sizeof path, "%s%s%s", directory, *name ? "/" : "", name) >= (int)sizeof path)
        return NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    char *text = NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (size_t)status.st_size <= max)
        text = pie_malloc((size_t)status.st_size + 1);
    if (text) {
        ssize_t size = read(fd, text, (size_t)status.st_size);
        text[size > 0 ? size : 0] = 0;
    }
    close(fd);
    return text;
}

/* PEP 503: letters in lower case, runs of "-", "_" and "." are one "-". */
static bool same_name(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t i = 0, j = 0;
    while (i < a_size && j < b_size) {
        bool a_dash = strchr("-_.", a[i]), b_dash = strchr("-_.", b[j]);
        if (a_dash != b_dash || (!a_dash && tolower((unsigned char)a[i]) != tolower((unsigned char)b[j])))
            return false;
        for (i++; a_dash && i < a_size && strchr("-_.", a[i]); i++)
            ;
        for (j++; b_dash && j < b_size && strchr("-_.", b[j]); j++)
            ;
    }
    return i == a_size && j == b_size;
}

/* "NAME-VERSION.dist-info", "NAME-VERSION-py3.11.egg-info", "NAME.egg-info" */
static int add_distribution(struct base *base, const char *entry) {
    const char *suffix = strrchr(entry, '.');
    if (!suffix || (strcmp(suffix, ".dist-info") != 0 && strcmp(suffix, ".egg-info") != 0))
        return 0;
    if ((base->count & (base->count + 1)) == 0) { /* full: there is room for a power of two, less one */
        struct distribution *all = pie_realloc(base->all, (2 * base->count + 1) * sizeof *all);
        if (!all)
            return -ENOMEM;
        base->all = all;
    }
    struct distribution *dist = &base->all[base->count++];
    *dist = (struct distribution){.path = NULL};
    size_t length = (size_t)(suffix - entry);
    const char *dash = memchr(entry, '-', length);
    size_t name_length = dash ? (size_t)(dash - entry) : length;
    dist->name = strndup(entry, name_length);
    if (dash) {
        const char *start = dash + 1;
        dist->version =
            strndup(start, strcspn(start, "-") < (size_t)(suffix - start) ? strcspn(start, "-")
                                                                          : (size_t)(suffix - start));
    }
    if (asprintf(&dist->path, "%s/%s", base->path, entry) < 0)
        dist->path = NULL;
    return dist->name && dist->path ? 0 : -ENOMEM;
}

static int scan_base(struct base *base) {
    DIR *dir = opendir(base->path);
    int r = 0;
    if (!dir)
        return 0;
    for (struct dirent *entry; r == 0 && (entry = readdir(dir));)
        r = add_distribution(base, entry->d_name);
    closedir(dir);
    return r;
}

static int get_base(struct pie_distributions *distributions, const char *path, struct base **ret_base) {
    for (struct base *base = distributions->bases; base; base = base->next) {
        if (strcmp(base->path, path) == 0) {
            *ret_base = base;
            return 0;
        }
    }
    struct base *base = pie_calloc(1, sizeof *base);
    if (!base || !(base->path = strdup(path)) || scan_base(base) < 0) {
        if (base)
            base_destroy(base);
        return -ENOMEM;
    }
    base->next = distributions->bases;
    distributions->bases = base;
    *ret_base = base;
    return 0;
}

/* The value of a header field ("\nName: "), or NULL. */
static char *header_field(const char *text, const char *field) {
    size_t size = strlen(field);
    for (const char *line = text; *line && *line != '\n' && *line != '\r';) {
        const char *end = line + strcspn(line, "\r\n");
        if (strncasecmp(line, field, size) == 0) {
            line += size;
            line += strspn(line, " \t");
            return strndup(line, (size_t)(end - line));
        }
        line = end + (end[0] == '\r' && end[1] == '\n' ? 2 : *end ? 1 : 0);
    }
    return NULL;
}

static void load_metadata(struct distribution *dist) {
    if (dist->has_metadata)
        return;
    dist->has_metadata = true;
    char *text = read_text(dist->path, "METADATA", METADATA_MAX_BYTES);
    if (!text)
        text = read_text(dist->path, "PKG-INFO", METADATA_MAX_BYTES);
    if (!text)
        text = read_text(dist->path, "", METADATA_MAX_BYTES);
    if (!text)
        return;
    char *name = header_field(text, "Name:"), *version = header_field(text, "Version:");
    if (name && *name) {
        pie_free(dist->name);
        dist->name = name;
    } else {
        pie_free(name);
    }
    if (version && *version) {
        pie_free(dist->version);
        dist->version = version;
    } else {
        pie_free(version);
    }
    pie_free(text);
}

/* What the distribution lists, of RECORD or top_level.txt, or NULL. */
static char *read_files(const struct distribution *dist) {
    char *text = read_text(dist->path, "RECORD", RECORD_MAX_BYTES);
    return text ? text : read_text(dist->path, "top_level.txt", METADATA_MAX_BYTES);
}

static int claim(struct base *base, uint32_t number, const char *package, size_t size) {
    uint32_t other = pie_idmap_get(&base->claimed, package, size);
    if (!other)
        return pie_idmap_add(&base->claimed, package, size, number);
    if (other == number)
        return 0;
    base->all[other - 1].is_shared = base->all[number - 1].is_shared = true;
    return pie_idmap_get(&base->shared, package, size) ? 0
                                                       : pie_idmap_add(&base->shared, package, size, number);
}

/* "numpy/core/__init__.py,sha256=…" claims numpy, "six.py" six, and "../../bin/f2py" nothing. Neighbouring lines are
 * mostly of one package. */
static int claim_all(struct base *base, uint32_t number, const char *text) {
    const char *last = "";
    size_t last_size = 0;
    int r = 0;
    for (const char *line = text; r == 0 && *line;) {
        size_t size = strcspn(line, "/.,\r\n");
        if (size && (size != last_size || memcmp(line, last, size) != 0)) {
            r = claim(base, number, line, size);
            last = line;
            last_size = size;
        }
        const char *end = strchr(line, '\n');
        line = end ? end + 1 : "";
    }
    return r;
}

/* Reads once what each distribution lists. Texts are kept of those only that share a package with others, as namespace
 * packages do: of a large environment they take tens of megabytes. */
static int read_claims(struct base *base) {
    int r = 0;
    if (base->is_read)
        return 0;
    base->is_read = true;
    for (uint32_t number = 1; r == 0 && number <= base->count; number++) {
        char *text = read_files(&base->all[number - 1]);
        r = text ? claim_all(base, number, text) : 0;
        pie_free(text);
    }
    for (uint32_t i = 0; i < base->count; i++)
        base->all[i].files = base->all[i].is_shared ? read_files(&base->all[i]) : NULL;
    return r;
}

static bool lists_file(const struct distribution *dist, const char *file) {
    size_t size = strlen(file);
    for (const char *at = dist->files; at && (at = strstr(at, file)); at++) {
        if ((at == dist->files || at[-1] == '\n') && at[size] == ',')
            return true;
    }
    return false;
}

/* The number of the distribution of a package, NONE, or BY_FILE: several have files in it. */
static int choose(struct base *base, const char *package, size_t size, int *ret_choice) {
    for (uint32_t i = 0; i < base->count; i++) {
        if (same_name(base->all[i].name, strlen(base->all[i].name), package, size)) {
            *ret_choice = (int)i + 1;
            return 0;
        }
    }
    int r = read_claims(base);
    uint32_t number = pie_idmap_get(&base->claimed, package, size);
    *ret_choice = !number ? NONE : pie_idmap_get(&base->shared, package, size) ? BY_FILE : (int)number;
    return r;
}

/* The distribution of a file, or NULL: none claims its package. */
static int find(struct base *base, const char *file, size_t size, struct distribution **ret_dist) {
    int choice = (int)pie_idmap_get(&base->chosen, file, size);
    int r = choice ? 0 : choose(base, file, size, &choice);
    if (r == 0 && !pie_idmap_get(&base->chosen, file, size))
        r = pie_idmap_add(&base->chosen, file, size, (uint32_t)choice);
    if (r < 0)
        return r;
    uint32_t number = choice > 0 ? (uint32_t)choice : 0;
    for (uint32_t i = 0; choice == BY_FILE && i < base->count && !number; i++)
        number = lists_file(&base->all[i], file) ? i + 1 : 0;
    if (choice == BY_FILE && !number)
        number = pie_idmap_get(&base->claimed, file, size);
    *ret_dist = number ? &base->all[number - 1] : NULL;
    return 0;
}

static int plain_name(struct pie_distributions *distributions, const char *name, size_t size,
                      const char **ret_name) {
    for (struct plain_name *plain = distributions->plain; plain; plain = plain->next) {
        if (strncmp(plain->name, name, size) == 0 && plain->name[size] == 0) {
            *ret_name = plain->name;
            return 0;
        }
    }
    struct plain_name *plain = pie_calloc(1, sizeof *plain + size + 1);
    if (!plain)
        return -ENOMEM;
    memcpy(plain->name, name, size);
    plain->next = distributions->plain;
    distributions->plain = plain;
    *ret_name = plain->name;
    return 0;
}

int pie_distributions_find(struct pie_distributions *distributions, const char *base_path, const char *rest,
                           const char **ret_name, const char **ret_version) {
    struct base *base;
    int r = get_base(distributions, base_path, &base);
    if (r < 0)
        return r;
    size_t top = strcspn(rest, "/.");
    struct distribution *dist;
    r = find(base, rest, top, &dist);
    if (r < 0)
        return r;
    if (!dist) {
        *ret_version = NULL;
        return plain_name(distributions, rest, top, ret_name);
    }
    load_metadata(dist);
    *ret_name = dist->name;
    *ret_version = dist->version;
    return 0;
}
