/* SPDX-License-Identifier: Apache-2.0 */

/* The program without a Python of its own, as a wheel has it (-Dlibpython=none): each run is one of the user's own
 * Python, with a core loaded into it. Called as python, it is the next python on the PATH. */

#include <limits.h>
#include <string.h>

#include "launcher/command/command.h"
#include "launcher/options/options.h"
#include "launcher/run/as_guest.h"
#include "launcher/run/command_line.h"
#include "launcher/run/commands.h"
#include "launcher/run/deadly_filter.h"
#include "launcher/run/help.h"
#include "launcher/run/next_python.h"
#include "launcher/run/python_name.h"
#include "launcher/text/messages.h"
#include "runtime/interpreter/target.h"

/* Both live until the process executes another program. */
static struct pie_options options;
static char self[PATH_MAX];

static int run(void) {
    int r = pie_target_self(self);
    if (r < 0) {
        pie_message_error("cannot find out where this program is: %s; is /proc mounted?", strerror(-r));
        return PIE_EXIT_USAGE;
    }
    bool is_deadly = pie_filter_is_deadly();
    return pie_run_as_guest(options.config.python, self, &options, !is_deadly);
}

int main(int argc, char **argv) {
    int status;
    if (argc > 0 && pie_python_name_is_called(argv[0]))
        return pie_next_python_run(argv, pie_target_self(self) == 0 ? self : NULL, &options);
    const struct pie_command *command = argc > 1 ? pie_command_find(argv[1]) : NULL;
    if (command && pie_command_is_help_wanted(argc - 1, argv + 1))
        return pie_help_print_command(command, stdout), 0;
    if (command)
        return pie_command_run(command, argc - 1, argv + 1);
    return pie_command_line_ends(argv, &options, &status) ? status : run();
}
