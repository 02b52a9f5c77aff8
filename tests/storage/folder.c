/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/storage/folder.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *pie_folder_make(void) {
    static char path[PATH_MAX];
    const char *base = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/pieprof-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(path)) {
        perror(path);
        exit(1);
    }
    return path;
}

const char *pie_folder_path(const char *folder, const char *name) {
    static char paths[8][PATH_MAX];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        exit(1);
    return path;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *position) {
    return remove(path);
}

void pie_folder_remove(const char *folder) {
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *present;

int pie_folder_set_up(void **state) {
    present = pie_folder_make();
    return 0;
}

int pie_folder_tear_down(void **state) {
    pie_folder_remove(present);
    return 0;
}

const char *pie_folder_database(void) {
    return pie_folder_path(present, "a.db");
}

void pie_folder_write(const char *folder, const char *name, const char *text) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", pie_folder_path(folder, name));
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int pie_folder_as_nobody(int (*body)(void)) {
    enum { NOBODY = 65534, FAILED = 255 };
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
            _exit(FAILED);
        _exit(body());
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                                 : FAILED;
}
