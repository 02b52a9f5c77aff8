/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/run/as_guest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/command/command.h"
#include "launcher/guest/enter.h"
#include "launcher/options/options.h"
#include "launcher/run/script_word.h"
#include "launcher/session/session.h"
#include "launcher/text/messages.h"

static struct pie_guest guest;

static int check_output(const struct pie_options *options) {
    char *why = NULL;
    int r = pie_session_check(options, &why);
    if (r < 0)
        pie_message_error("%s", why ? why : strerror(-r));
    free(why);
    return r;
}

int pie_run_as_guest(const char *name, const char *self, struct pie_options *options, bool is_profiled) {
    char why[512];
    if (pie_guest_find(name, self, &guest, why, sizeof why) < 0) {
        pie_message_error("%s", why);
        return PIE_EXIT_USAGE;
    }
    if (is_profiled && check_output(options) < 0)
        return PIE_EXIT_USAGE;
    pie_message_detail("%s (Python %s, %s libpython, with %s) into %s", guest.python.path, guest.python.abi,
                       guest.python.is_shared ? "shared" : "static", guest.core, options->config.output);
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
