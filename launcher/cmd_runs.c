/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "launcher/commands.h"
#include "launcher/messages.h"
#include "launcher/profile.h"

/* pieprof runs DB … is pieprof query DB runs …: the file is the word that is no option. */
int pie_cmd_runs(int argc, char **argv) {
    char *words[8] = {argv[0], PIE_PROFILE_DEFAULT, "runs"};
    int count = 3, files = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && count < 7)
            words[count++] = argv[i];
        else if (argv[i][0] != '-' && files++ == 0)
            words[1] = argv[i];
    }
    if (files > 1 || argc > 7)
        return pie_command_bad_words(argv[0], "one file at a time");
    return pie_cmd_query(count, words);
}
