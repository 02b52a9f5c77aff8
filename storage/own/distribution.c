/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/own/distribution.h"
#include "profiler/base/own_memory.h"

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
    struct distribution *next;
    char *path;           /* of the *.dist-info folder, *.egg-info folder or file */
    char *name, *version; /* from the metadata once has_metadata, before that from the folder's name */
    char *files;          /* text of top_level.txt or RECORD once has_files; NULL: neither is there */
    bool is_record;
    bool has_metadata, has_files;
};

struct base {
    struct base *next;
    char *path;
    struct distribution *first;
    char *last_top; /* the package that was asked for last and is named as its distribution; NULL: none yet */
    struct distribution *last;
};

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
    while (base->first) {
        struct distribution *dist = base->first;
        base->first = dist->next;
        pie_free(dist->path);
        pie_free(dist->name);
        pie_free(dist->version);
        pie_free(dist->files);
        pie_free(dist);
    }
    pie_free(base->last_top);
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
    struct distribution *dist = pie_calloc(1, sizeof *dist);
    if (!dist)
        return -ENOMEM;
    dist->next = base->first;
    base->first = dist;
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

static void load_files(struct distribution *dist) {
    if (dist->has_files)
        return;
    dist->has_files = true;
    dist->files = read_text(dist->path, "RECORD", RECORD_MAX_BYTES);
    dist->is_record = dist->files;
    if (!dist->files)
        dist->files = read_text(dist->path, "top_level.txt", METADATA_MAX_BYTES);
}

/* 2: it lists this very file, 1: it lists something in the same top-level package, 0: neither. */
static int claims(struct distribution *dist, const char *rest, size_t top) {
    int best = 0;
    size_t rest_size = strlen(rest);
    load_files(dist);
    for (const char *line = dist->files; line && *line && best < 2;) {
        if (dist->is_record && strncmp(line, rest, rest_size) == 0 && line[rest_size] == ',')
            best = 2;
        else if (strncmp(line, rest, top) == 0 && (line[top] == '\0' || strchr("/.,\r\n", line[top])))
            best = 1;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return best;
}

/* The files of a package are often asked for one after the other, and there may be hundreds of distributions. */
static struct distribution *find_named(struct base *base, const char *rest, size_t top) {
    if (base->last_top && strncmp(base->last_top, rest, top) == 0 && base->last_top[top] == '\0')
        return base->last;
    for (struct distribution *dist = base->first; dist; dist = dist->next) {
        if (same_name(dist->name, strlen(dist->name), rest, top)) {
            pie_free(base->last_top);
            base->last_top = strndup(rest, top);
            base->last = dist;
            return dist;
        }
    }
    return NULL;
}

static struct distribution *choose(struct base *base, const char *rest, size_t top) {
    struct distribution *best = find_named(base, rest, top);
    int best_claim = 0;
    if (best)
        return best;
    for (struct distribution *dist = base->first; dist && best_claim < 2; dist = dist->next) {
        int claim = claims(dist, rest, top);
        if (claim > best_claim) {
            best = dist;
            best_claim = claim;
        }
    }
    return best;
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
    struct distribution *dist = choose(base, rest, top);
    if (!dist) {
        *ret_version = NULL;
        return plain_name(distributions, rest, top, ret_name);
    }
    load_metadata(dist);
    *ret_name = dist->name;
    *ret_version = dist->version;
    return 0;
}
