/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/commands.h"

#include <string.h>

static const struct pie_command table[] = {
    {"query", "[DB] QUESTION…", "ask a profile: \"top 10 hot lines\", \"redundancy\", \"select …\"",
     pie_cmd_query},
    {"report", "[DB] [--all]", "the source with what each line cost", pie_cmd_report},
    {"export", "[DB] -f FORMAT [-o FILE]", "a profile for other tools: collapsed, speedscope",
     pie_cmd_export},
    {"merge", "OUT IN…", "join the files of several processes or runs in one; --skip-bad", pie_cmd_merge},
    {"runs", "[DB]", "the runs in a profile", pie_cmd_runs},
    {"doctor", "[--json]", "what this machine allows, what each gap costs and how to mend it",
     pie_cmd_doctor},
    {"install", "DIR", "take the place of the interpreters of a virtual environment or prefix",
     pie_cmd_install},
    {"uninstall", "DIR", "put the interpreters back that install replaced", pie_cmd_uninstall},
    {0}, /* the end */
};

const struct pie_command *pie_command_all(size_t *ret_count) {
    *ret_count = sizeof table / sizeof *table - 1;
    return table;
}

const struct pie_command *pie_command_find(const char *name) {
    for (const struct pie_command *command = table; command->name; command++) {
        if (strcmp(command->name, name) == 0)
            return command;
    }
    return NULL;
}
