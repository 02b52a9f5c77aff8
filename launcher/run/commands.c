/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/run/commands.h"

#include <string.h>

/* What several commands take. */
#define DB "  DB                         the profile (default pieprof.db)\n"
#define CUT                                                                                                  \
    "      --run N                one run of the file (default: the last)\n"                                 \
    "      --process ID|PID       one process of the run (default: all)\n"

static const struct pie_command table[] = {
    {"query", "[DB] QUESTION…", "ask a profile: \"top 10 hot lines\", \"redundancy\", \"select …\"",
     "[--json|--csv|--table] [--run N] [--process ID|PID] [--timeout SECONDS]",
     DB "  QUESTION                   one of those below, or SQL that reads: \"select …\" (views: v_…)\n"
        "      --json, --csv, --table how to print it (default: a table)\n" CUT
        "      --timeout SECONDS      give up after that\n",
     pie_cmd_query_print_subjects, pie_cmd_query},
    {"report", "[DB] [--all]", "the source with what each line cost", "[--run N] [--process ID|PID]",
     DB "      --all                  the libraries too\n" CUT, NULL, pie_cmd_report},
    {"export", "[DB] -f FORMAT [-o FILE]", "a profile for other tools: collapsed, speedscope, sqlite",
     "[--all] [--run N] [--process ID|PID]",
     DB "  -f, --format FORMAT        collapsed, speedscope or sqlite (default: as FILE is called)\n"
        "  -o, --output FILE          where to (default: what is printed)\n"
        "      --all                  every frame, also of the interpreter and of libraries\n" CUT,
     NULL, pie_cmd_export},
    {"snapshot", "[PID|DB] [-o FILE]", "what a running program has measured so far, in a file of its own", "",
     "  PID                        the running process\n"
     "  DB                         or its profile (default pieprof.db)\n"
     "  -o, --output FILE          where to (default: beside the profile, with the time in its name)\n",
     NULL, pie_cmd_snapshot},
    {"merge", "OUT IN…", "join the files of several processes or runs in one", "[--skip-bad]",
     "  OUT                        the file to make; if it is there, the others are added to it\n"
     "  IN…                        profiles; they stay as they are\n"
     "      --skip-bad             go on without those that cannot be read\n",
     NULL, pie_cmd_merge},
    {"runs", "[DB]", "the runs in a profile", "[--json|--csv|--table]",
     DB "      --json, --csv, --table how to print it (default: a table)\n", NULL, pie_cmd_runs},
    {"debug", "[PID|DB]", "how a profile was measured, for maintainers", "[--json]",
     "  PID                        a running process\n"
     "  DB                         or its profile (default pieprof.db)\n"
     "      --json                 one object for each section\n",
     NULL, pie_cmd_debug},
    {"doctor", "[--json]", "what this machine allows, what each gap costs and how to mend it", "",
     "      --json                 for programs\n", NULL, pie_cmd_doctor},
    {"install", "DIR", "take the place of the interpreters of a virtual environment or prefix", "",
     "  DIR                        the environment, the prefix, or the folder of their programs\n", NULL,
     pie_cmd_install},
    {"uninstall", "DIR", "put the interpreters back that install replaced", "",
     "  DIR                        what install was given\n", NULL, pie_cmd_uninstall},
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
