/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/run/as_guest.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/command/command.h"
#include "launcher/guest/enter.h"
#include "launcher/options/options.h"
#include "launcher/python/choice.h"
#include "launcher/run/script_word.h"
#include "launcher/session/session.h"
#include "launcher/text/messages.h"

/* Both live until the process executes another program. */
static struct pie_python_choice choice;
static struct pie_guest guest;

static int choose(const char *name, const char *self, bool is_quiet) {
    char why[PIE_PYTHON_WHY_BYTES], folder[PATH_MAX];
    const char *where = getcwd(folder, sizeof folder) ? folder : ""; /* a folder that is gone has no .venv */
    struct pie_python_wish wish = pie_python_wish(name, where, self);
    int r = pie_python_choose(&wish, &choice, why);
    if (r == 0)
        r = pie_guest_find(&choice.python, self, &guest, why, sizeof why);
    if (r < 0)
        pie_message_error("%s", why);
    else if (choice.passed[0] && !is_quiet)
        pie_message_warning("%s; running %s", choice.passed, choice.python.path);
    return r;
}

static int check_output(const struct pie_options *options) {
    char *why = NULL;
    int r = pie_session_check(options, &why);
    if (r < 0)
        pie_message_error("%s", why ? why : strerror(-r));
    free(why);
    return r;
}

int pie_run_as_guest(const char *name, const char *self, struct pie_options *options, bool is_profiled) {
    char abi[PIE_PYTHON_ABI_BYTES];
    if (choose(name, self, options->config.is_quiet) < 0 || (is_profiled && check_output(options) < 0))
        return PIE_EXIT_USAGE;
    pie_python_abi(&guest.python, abi);
    pie_message_detail("%s (Python %s, %s libpython, with %s) into %s", guest.python.path, abi,
                       guest.python.linkage == PIE_PYTHON_SHARED ? "shared" : "static", guest.core,
                       options->config.output);
    if (pie_script_word_late())
        pie_message_warning("%s", pie_script_word_late());
    int r = pie_guest_enter(&guest, options, is_profiled);
    if (r == -ENOENT && options->config.allocator)
        pie_message_error(
            "jemalloc cannot serve malloc(): it is not installed; install libjemalloc2, or take "
            "--allocator=system");
    else
        pie_message_error("cannot start %s: %s", guest.python.path, strerror(-r));
    return PIE_EXIT_USAGE;
}
