/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/guest/environment.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/session/board.h"
#include "launcher/session/child_env.h"

static const char PRELOAD[] = "LD_PRELOAD=";

/* Our entries are the last that the kernel was given: LD_PRELOAD and what follows it. NULL: they are not there. */
static char **find_ours(char **vector) {
    size_t n = 0;
    while (vector[n])
        n++;
    while (n > 0 && strncmp(vector[n - 1], "_PIEPROF_", strlen("_PIEPROF_")) == 0)
        n--;
    bool is_invited = n > 0 && vector[n] && strncmp(vector[n - 1], PRELOAD, sizeof PRELOAD - 1) == 0;
    return is_invited ? &vector[n - 1] : NULL;
}

/* Without the libraries of the program's own entry, which stand behind ours. */
static char *preload_of(const char *entry) {
    char *copy = strdup(entry);
    const char *theirs = getenv("LD_PRELOAD");
    size_t n = copy ? strlen(copy) : 0, more = theirs ? strlen(theirs) : 0;
    bool has_theirs = copy && theirs != entry + sizeof PRELOAD - 1 && more > 0 && n > more &&
                      copy[n - more - 1] == ':' && strcmp(copy + n - more, theirs) == 0;
    if (has_theirs)
        copy[n - more - 1] = '\0';
    return copy;
}

/* A library's constructor may have moved the vector, but not the strings. */
static void drop(char **vector, const char *entry) {
    size_t kept = 0;
    for (size_t i = 0; vector[i]; i++) {
        if (vector[i] != entry)
            vector[kept++] = vector[i];
    }
    vector[kept] = NULL;
}

bool pie_guest_take(int argc, char **argv, struct pie_child_env *ret_child,
                    struct pie_confirm_board **ret_board, char **ret_preload) {
    char **ours = find_ours(argv + argc + 1);
    if (!ours)
        return false;
    char *first = ours[0], *last = first;
    for (char **entry = ours; *entry; entry++)
        last = *entry;
    *ret_preload = preload_of(first);
    *ret_board = pie_confirm_board_take(); /* before ours goes: the vector may be this one */
    pie_child_env_take(ret_child);
    drop(environ, first);
    ours[0] = NULL;
    memset(first, 0, (size_t)(last - first) + strlen(last));
    return ret_child->is_child || *ret_board;
}
