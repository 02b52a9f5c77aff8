/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/running.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launcher/text/messages.h"
#include "profiler/base/clocks.h"
#include "storage/file/file_kind.h"

static const struct timespec PAUSE = {0, 2000000};

/* Of a descriptor in a folder of /proc; the name that the process has for it may be that of another file here. */
static char *profile_of(int folder, const char *name) {
    char path[PATH_MAX];
    struct stat theirs, ours;
    ssize_t size = readlinkat(folder, name, path, sizeof path - 1);
    if (size <= 0 || *path != '/')
        return NULL;
    path[size] = '\0';
    bool is_same = fstatat(folder, name, &theirs, 0) == 0 && S_ISREG(theirs.st_mode) &&
                   stat(path, &ours) == 0 && theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
    return is_same && pie_file_kind_is_profile(path) ? strdup(path) : NULL;
}

static char *look_at_thread(const char *folder, const char *thread) {
    char path[PATH_MAX];
    char *found = NULL;
    snprintf(path, sizeof path, "%s/%s/fd", folder, thread);
    DIR *descriptors = opendir(path);
    for (struct dirent *entry; descriptors && !found && (entry = readdir(descriptors));)
        found = profile_of(dirfd(descriptors), entry->d_name);
    if (descriptors)
        closedir(descriptors);
    return found;
}

static char *look(long pid) {
    char folder[64];
    char *found = NULL;
    snprintf(folder, sizeof folder, "/proc/%ld/task", pid);
    DIR *threads = opendir(folder);
    for (struct dirent *entry; threads && !found && (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            found = look_at_thread(folder, entry->d_name);
    if (threads)
        closedir(threads);
    return found;
}

static double now_s(void) {
    return (double)pie_monotonic_ns() / PIE_NS_PER_S;
}

char *pie_running_profile(long pid, double wait_s) {
    char folder[64];
    double until_s = now_s() + wait_s;
    char *found;
    snprintf(folder, sizeof folder, "/proc/%ld", pid);
    while (!(found = look(pid)) && access(folder, F_OK) == 0 && now_s() < until_s)
        nanosleep(&PAUSE, NULL);
    return found;
}

/* A running program writes once a second. Somewhat more, or a busy machine would be called silent. */
static const double WAIT_S = 3;

static bool is_number(const char *text) {
    return *text && text[strspn(text, "0123456789")] == '\0';
}

char *pie_running_find(const char *command, const char *what) {
    if (!is_number(what) || access(what, F_OK) == 0)
        return strdup(what);
    char *path = pie_running_profile(strtol(what, NULL, 10), WAIT_S);
    if (!path && kill((pid_t)strtol(what, NULL, 10), 0) < 0 && errno == ESRCH)
        pie_message_error("%s: process %s writes no profile: there is no such process", command, what);
    else if (!path)
        pie_message_error("%s: process %s writes no profile that can be read from here: pieprof does not "
                          "profile it, or its file is elsewhere; give the file",
                          command, what);
    return path;
}
