/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/options/output_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The sign that begins at `at`, 'p', 'h' or '%', or 0. */
static char sign(const char *at) {
    return at[0] == '%' && at[1] && strchr("ph%", at[1]) ? at[1] : 0;
}

bool pie_output_has_pid(const char *pattern) {
    for (const char *c = pattern; *c; c += sign(c) ? 2 : 1) {
        if (sign(c) == 'p')
            return true;
    }
    return false;
}

static int append(const char *pattern, char *path, size_t size) {
    char text[sizeof((struct utsname *)0)->nodename];
    struct utsname host = {0};
    (void)uname(&host);
    for (const char *c = pattern; *c; c += sign(c) ? 2 : 1) {
        if (sign(c) == 'p')
            snprintf(text, sizeof text, "%ld", (long)getpid());
        else if (sign(c) == 'h')
            snprintf(text, sizeof text, "%s", host.nodename);
        else
            snprintf(text, sizeof text, "%c", *c);
        if (strlen(path) + strlen(text) >= size)
            return -ENAMETOOLONG;
        strcat(path, text);
    }
    return 0;
}

int pie_output_expand(const char *pattern, char *path, size_t size) {
    path[0] = '\0';
    int r = append(pattern, path, size);
    return r < 0 || pie_output_has_pid(pattern) ? r : append(".%h.%p", path, size);
}

int pie_output_beside(const char *path, int n, char *beside, size_t size) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    int stem = dot && dot > name ? (int)(dot - path) : (int)strlen(path);
    return snprintf(beside, size, "%.*s-%d%s", stem, path, n, path + stem) < (int)size ? 0 : -ENAMETOOLONG;
}
