/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/command/command.h"
#include "launcher/text/messages.h"
#include "launcher/answers/profile.h"

/* The word is a file, also one that is not there: nothing else would be told from a question's. */
static char *as_path(char *word) {
    char *path;
    return strchr(word, '/') || asprintf(&path, "./%s", word) < 0 ? word
                                                                  : path; /* for the life of the process */
}

/* pieprof runs DB … is pieprof query DB runs …: the file is the word that is no option. */
int pie_cmd_runs(int argc, char **argv) {
    char *words[8] = {argv[0], PIE_PROFILE_DEFAULT, "runs"};
    int count = 3, files = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && count < 7)
            words[count++] = argv[i];
        else if (argv[i][0] != '-' && files++ == 0)
            words[1] = as_path(argv[i]);
    }
    if (files > 1 || argc > 7)
        return pie_command_bad_words("one file at a time");
    return pie_cmd_query(count, words);
}
