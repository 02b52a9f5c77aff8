/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/run/next_python.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guest/enter.h"
#include "launcher/options/options.h"
#include "launcher/python/choice.h"
#include "launcher/run/deadly_filter.h"
#include "launcher/run/python_name.h"
#include "launcher/session/session.h"
#include "launcher/text/messages.h"
#include "runtime/interpreter/target.h"

enum { NOT_FOUND = 127 }; /* the shell's status of a command that is not there */

/* Both live until the process executes another program. */
static struct pie_python_choice choice;
static struct pie_guest guest;

static bool is_other(const void *context, const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0 &&
           !pie_python_is_pieprof(path, context);
}

/* Returns 0 with choice, guest and options complete, or a negative errno after a message. */
static int prepare(const char *path, const char *self, struct pie_options *options) {
    char why[PIE_PYTHON_WHY_BYTES], folder[PATH_MAX], *unwritten = NULL;
    pie_options_init(options);
    if (pie_options_from_environment(options) < 0 || pie_options_complete(options) < 0) {
        pie_message_warning("%s; running unprofiled", options->error);
        return -EINVAL;
    }
    options->config.is_quiet = true;
    const char *where = getcwd(folder, sizeof folder) ? folder : ""; /* pyenv's versions depend on it */
    struct pie_python_wish wish = pie_python_wish(path, where, self);
    int r = pie_python_choose(&wish, &choice, why);
    if (r == 0)
        r = pie_guest_find(&choice.python, self, &guest, why, sizeof why);
    if (r < 0)
        pie_message_warning("%s; running unprofiled", why);
    else if ((r = pie_session_check(options, &unwritten)) < 0)
        pie_message_warning("%s; running unprofiled", unwritten ? unwritten : strerror(-r));
    free(unwritten);
    return r;
}

static void run_profiled(char **argv, const char *path, const char *self, struct pie_options *options) {
    if (pie_filter_is_deadly() || prepare(path, self, options) < 0)
        return;
    options->python_argv = argv;
    int r = pie_guest_enter(&guest, options, true);
    pie_message_warning("cannot profile %s: %s; running unprofiled", path, strerror(-r));
}

int pie_next_python_run(char **argv, const char *self, struct pie_options *options) {
    char path[PATH_MAX];
    const char *folders = getenv("PATH"), *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    if (!pie_target_is_python_name(name))
        name = "python3"; /* the file has the name of an interpreter, but not argv[0] */
    if (!folders || !pie_target_search_for(name, folders, path, is_other, self)) {
        pie_message_error("there is no other %s on the PATH", name);
        return NOT_FOUND;
    }
    if (self && !getauxval(AT_SECURE) && pie_python_name_wants_profile())
        run_profiled(argv, path, self, options);
    argv[0] = path; /* sys.executable comes of it */
    execv(path, argv);
    pie_message_error("cannot start %s: %s", path, strerror(errno));
    return NOT_FOUND;
}
