/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/run/commands.h"

#include <string.h>

/* What several commands take. */
#define DB {"DB", "the profile (default pieprof.db)"}
#define FORMATS {"--json, --csv, --table", "the format of the output (default: a table)"}
#define CUT                                                                                                  \
    {"--run N", "one run of the file (default: the last)"},                                                  \
        {"--process ID|PID", "one process of the run (default: all)"}
#define WORDS(...)                                                                                           \
    (const struct pie_command_word[]) {                                                                      \
        __VA_ARGS__, {0}                                                                                     \
    }

static const struct pie_command table[] = {
    {"query", "[DB] QUESTION…", "ask a profile: \"top 10 hot lines\", \"redundancy\", \"select …\"",
     "[--json|--csv|--table] [--run N] [--process ID|PID] [--timeout SECONDS]",
     WORDS(DB, {"QUESTION", "a question, or SQL that reads: \"select …\" (views: v_…)"}, FORMATS, CUT,
           {"--timeout SECONDS", "give up after this time"}),
     pie_cmd_query_print_questions, pie_cmd_query},
    {"report", "[DB] [--all]", "where the time goes: a tree, findings, the source with its cost",
     "[--html FILE [--open]] [--run N] [--process ID|PID]",
     WORDS(DB, {"--all", "include libraries"},
           {"--html FILE", "write a page for a browser instead, which needs nothing but this file"},
           {"--open", "open the page, with $BROWSER or xdg-open"}, CUT),
     NULL, pie_cmd_report},
    {"top", "[DB|PID]", "the costliest functions on the terminal, live while the program runs",
     "[--once] [--view NAME] [--filter TEXT] [--run N] [--process ID|PID]",
     WORDS(DB, {"PID", "or a running process that pieprof profiles"}, {"--once", "print one screen as text"},
           {"--view NAME", "begin with functions, lines, threads, memory or findings"},
           {"--filter TEXT", "only rows that have this text"}, CUT),
     pie_cmd_top_print_keys, pie_cmd_top},
    {"serve", "[PID|DB] [--open]", "the same page in a browser, live while the program runs",
     "[--port N] [--run N] [--process ID|PID]",
     WORDS({"PID", "a running process"}, {"DB", "or a profile (default pieprof.db)"},
           {"--open", "open the page, with $BROWSER or xdg-open"},
           {"--port N", "the port of this machine that it is on (default: a free one)"}, CUT),
     NULL, pie_cmd_serve},
    {"confirm", "[DB] [--finding N]", "a second run that counts all calls of the suspected lines",
     "[--run N] [-- SCRIPT ARGS]",
     WORDS(DB, {"--finding N", "one finding, by its rank (default: all)"},
           {"--run N", "one run of the file (default: the last)"},
           {"-- SCRIPT ARGS", "Python's command line (default: that of the profiled run)"}),
     NULL, pie_cmd_confirm},
    {"export", "[DB] -f FORMAT [-o FILE]", "a profile for other tools: pprof, Firefox, Perfetto, …",
     "[--metric M] [--threads] [--all] [--run N] [--process ID|PID]",
     WORDS(DB,
           {"-f, --format FORMAT", "speedscope, pprof, firefox, perfetto, svg, … (default: by FILE's name)"},
           {"-o, --output FILE", "the file to write (default: standard output)"},
           {"--metric M", "cpu, wait, allocated, live, copied, wasted, … (default: cpu, or all of them)"},
           {"--threads", "processes and threads as frames (collapsed, speedscope, svg)"},
           {"--all", "every frame, including those of the interpreter and of libraries"}, CUT),
     NULL, pie_cmd_export},
    {"snapshot", "[PID|DB] [-o FILE]", "the measurements so far of a running program, in a separate file", "",
     WORDS({"PID", "the running process"}, {"DB", "or its profile (default pieprof.db)"},
           {"-o, --output FILE", "the file to write (default: beside the profile, named after the time)"}),
     NULL, pie_cmd_snapshot},
    {"merge", "OUT IN…", "join the files of several processes or runs", "[--skip-bad]",
     WORDS({"OUT", "the file to write; if it exists, the others are added to it"},
           {"IN…", "profiles; they are not changed"}, {"--skip-bad", "leave out files that cannot be read"}),
     NULL, pie_cmd_merge},
    {"runs", "[DB]", "the runs in a profile", "[--json|--csv|--table]", WORDS(DB, FORMATS), NULL,
     pie_cmd_runs},
    {"debug", "[PID|DB]", "how a profile was measured, for maintainers", "[--json]",
     WORDS({"PID", "a running process"}, {"DB", "or its profile (default pieprof.db)"},
           {"--json", "one object for each section"}),
     NULL, pie_cmd_debug},
    {"doctor", "[--json]", "what this machine allows, the cost of each gap, and its remedy", "",
     WORDS({"--json", "the same as JSON"}), NULL, pie_cmd_doctor},
    {"install", "DIR", "replace the interpreters of a virtual environment or prefix", "",
     WORDS({"DIR", "the environment, the prefix, or the folder of their programs"}), NULL, pie_cmd_install},
    {"uninstall", "DIR", "restore the interpreters that install replaced", "",
     WORDS({"DIR", "the folder that install was given"}), NULL, pie_cmd_uninstall},
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
