/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/guest/enter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/guest/cores.h"
#include "launcher/guest/host.h"
#include "launcher/guest/sanitizer.h"
#include "launcher/options/options.h"
#include "launcher/session/child_env.h"
#include "launcher/session/preload.h"

static int say_no_core(const char *self, const struct pie_python *python, const char *abi, char *why,
                       size_t size) {
    char *list = pie_cores_list(self);
    snprintf(why, size, "%s is Python %s, for which this pieprof has no core; it has: %s", python->path, abi,
             list ? list : "none");
    free(list);
    return -EINVAL;
}

int pie_guest_find(const struct pie_python *python, const char *self, struct pie_guest *ret_guest, char *why,
                   size_t size) {
    char abi[PIE_PYTHON_ABI_BYTES];
    int r = pie_guest_host_check(python, why, size);
    if (r < 0 || (r = pie_guest_sanitizer_check(python, why, size)) < 0)
        return r;
    ret_guest->python = *python;
    pie_python_abi(python, abi);
    if (!pie_cores_find(self, abi, ret_guest->core))
        return say_no_core(self, python, abi, why, size);
    if (strpbrk(ret_guest->core, " :")) {
        snprintf(why, size,
                 "%s cannot be preloaded: the loader takes blanks and colons for the end of a name",
                 ret_guest->core);
        return -EINVAL;
    }
    if ((r = pie_guest_host_maps(ret_guest->core, why, size)) < 0)
        return r;
    char *lacking = pie_guest_host_lacks(python, ret_guest->core);
    if (!lacking)
        return 0;
    snprintf(why, size, "%s does not export %s, which %s needs", python->path, lacking, ret_guest->core);
    free(lacking);
    return -EINVAL;
}

/* The core comes first: its functions are those that the others call too. */
static int preload_entry(const struct pie_guest *guest, const char *allocator, char **ret_entry) {
    const char *theirs = getenv("LD_PRELOAD");
    char *more;
    int r = pie_preload_list(allocator, &more);
    bool has_theirs = theirs && *theirs;
    *ret_entry = NULL;
    if (r == 0 && asprintf(ret_entry, "LD_PRELOAD=%s%s%s%s%s", guest->core, more ? ":" : "", more ? more : "",
                           has_theirs ? ":" : "", has_theirs ? theirs : "") < 0)
        r = -ENOMEM;
    free(more);
    return r;
}

/* Ours, up to NULL, stand behind the user's, where the core cuts them off. Of two LD_PRELOADs the loader takes the
 * last. */
static char **make_environment(char *const *ours) {
    size_t n = 0, added = 0;
    while (environ[n])
        n++;
    while (ours[added])
        added++;
    char **made = calloc(n + added + 1, sizeof *made);
    if (!made)
        return NULL;
    memcpy(made, environ, n * sizeof *made);
    memcpy(made + n, ours, added * sizeof *made);
    return made;
}

/* The exported execve() would follow the program's children. */
static int execute(const struct pie_guest *guest, char **argv, char **environment) {
    syscall(SYS_execve, guest->python.path, argv, environment);
    return -errno;
}

int pie_guest_enter(const struct pie_guest *guest, struct pie_options *options, bool is_profiled) {
    char *preload, **environment = NULL;
    options->python_argv[0] = (char *)guest->python.path; /* only read */
    if (!is_profiled)
        return execute(guest, options->python_argv, environ);
    int r = preload_entry(guest, options->config.allocator, &preload);
    char *settings = pie_child_env_make(options, guest->python.path, getpid(), NULL, NULL);
    char *ours[] = {preload, settings, (char *)PIE_CHILD_ENV_ROOT, NULL}; /* execve(2) only reads them */
    if (r == 0 && settings)
        environment = make_environment(ours);
    if (r == 0)
        r = environment ? execute(guest, options->python_argv, environment) : -ENOMEM;
    free(environment);
    free(settings);
    free(preload);
    return r;
}

int pie_guest_enter_counted(const struct pie_guest *guest, char **words, char *board) {
    char *preload, **environment = NULL;
    int r = preload_entry(guest, NULL, &preload);
    char *ours[] = {preload, board, NULL};
    if (r == 0)
        environment = make_environment(ours);
    if (r == 0)
        r = environment ? execute(guest, words, environment) : -ENOMEM;
    free(environment);
    free(preload);
    return r;
}
