/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "profiler/ports/config.h"

/* The command line of a profiled run: our options, then Python's command.
 *
 * Ours end where Python's command begins: at a file, "-", -c or -m. Before that, options that only Python has may stand
 * anywhere and are handed on; where both have a letter (-h -i -q -v -V) it is ours, and "--" hands on all that follows
 * as it stands: pieprof -q -- -i script.py. A word that begins with one of Python's letters is Python's altogether:
 * -Iv. */
enum pie_action {
    PIE_ACTION_RUN,
    PIE_ACTION_HELP,
    PIE_ACTION_VERSION,
};

struct pie_options {
    struct pie_config config; /* its strings are owned by the process */
    enum pie_action action;
    bool has_default_output; /* no file was named */
    bool is_bare;            /* neither a command nor an option of Python's was given */
    int python_argc;    /* Python's own command line; python_argv[0] is left NULL for the caller to fill in */
    char **python_argv; /* NULL-terminated */
    int script;         /* where the script stands in it; 0: nowhere, or it cannot be told */
    char error[512];    /* one line for people, set where a function returns -EINVAL */
};

/* A number with a unit. */
struct pie_quantity {
    const char *const *units; /* NULL-terminated; the first one is used for children */
    const double *factors;    /* of these units */
    double divisor;           /* stored is number * factor / divisor */
    double least, most;       /* of that */
    bool is_rate;             /* … in Hz, and its period in ns is stored */
    bool is_real;             /* stored as double, else as uint64_t */
};

enum pie_option_kind {
    PIE_OPTION_FLAG,     /* bool */
    PIE_OPTION_TEXT,     /* const char *, heap */
    PIE_OPTION_PATH,     /* … that is made absolute */
    PIE_OPTION_LIST,     /* … several of them, PIE_TRACE_PLACES_MAX at most, NULL-terminated */
    PIE_OPTION_CHOICE,   /* const char *, one of `choices` */
    PIE_OPTION_NUMBER,   /* an enum: the number of one of `choices` */
    PIE_OPTION_QUANTITY, /* uint64_t or double */
    PIE_OPTION_ACTION,   /* no setting */
};

/* One of our options: a row of the table in options.c. The help, docs/cli.md (scripts/cli-page) and the command line of
 * children come from it. */
struct pie_option {
    const char *name;  /* long, without the dashes */
    const char *value; /* its name in the help, or NULL: a flag or an action */
    const char *help;
    char letter; /* or 0 */
    enum pie_option_kind kind;
    size_t offset;   /* of the setting in struct pie_config */
    bool is_on;      /* FLAG: the value of the setting */
    bool is_default; /* FLAG: that is the default; another option has the opposite */
    const char *const *choices;
    const struct pie_quantity *quantity;
    enum pie_action action;
    const char *fallback; /* the default, as it would be typed; NULL: 0 */
    const char *unset;    /* the default in words, if there is no fallback or more is to be said; or NULL */
    size_t given_offset;  /* of a bool in struct pie_config: the user named a value; 0: nobody asks */
    const char *environment; /* a variable that has the same value, or NULL; a flag is off where it is 0 */
    /* "WRONG 'value': RIGHT" is said of a value that is refused; "WRONG needs RIGHT" of an empty text, which is taken
     * where there is no `right`. */
    const char *wrong, *right;
};

/* The defaults. Context: launcher. */
void pie_options_init(struct pie_options *options);

/* PIEPROF_OUTPUT, PIEPROF_OVERHEAD, PIEPROF_CHILDREN, then PIEPROF_OPTS. Returns 0, or -EINVAL with error set.
 * Context: launcher. */
int pie_options_from_environment(struct pie_options *options);

/* The words after the program's name. Returns 0, or -EINVAL with error set. Context: launcher. */
int pie_options_from_words(struct pie_options *options, char **words);

/* Fills in the settings that depend on others, such as the output if none was named. Returns 0, or -EINVAL with
 * error set. */
int pie_options_complete(struct pie_options *options);

/* As pie_options_from_words for a string of options in the shell's quotes, without any command; `source` names it in
 * errors. */
int pie_options_from_string(struct pie_options *options, const char *string, const char *source);

/* Our options as such a string, on the heap; NULL without memory. */
char *pie_options_to_string(const struct pie_options *options);

/* For the parser and the help. */
const struct pie_option *pie_option_all(size_t *ret_count);
int pie_options_fail(struct pie_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
