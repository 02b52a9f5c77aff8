/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/page/browser.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A command has few words; no shell reads it, so no name of a file can be more than a word. */
enum { WORDS_MAX = 32, NOT_STARTED = 127 };

static const char blanks[] = " \t";

/* The word with each %s as the file; heap, or NULL. */
static char *with_file(const char *word, const char *file) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (; *word; word++) {
        if (strncmp(word, "%s", 2) == 0) {
            fputs(file, out);
            word++;
        } else {
            fputc(*word, out);
        }
    }
    return fclose(out) == 0 ? text : NULL;
}

/* The words of a command, with the file; the last one is NULL. False: there are none, or too many. */
static bool split(char *command, const char *file, char *words[WORDS_MAX + 2]) {
    bool has_file = strstr(command, "%s") != NULL;
    int count = 0;
    char *rest;
    for (char *word = strtok_r(command, blanks, &rest); word; word = strtok_r(NULL, blanks, &rest)) {
        if (count == WORDS_MAX)
            return false;
        words[count++] = with_file(word, file);
    }
    if (count > 0 && !has_file)
        words[count++] = strdup(file);
    words[count] = NULL;
    return count > 0;
}

/* Whether it ended well. */
static bool run(char *const *words) {
    struct sigaction children;
    int status = -1;
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL},
              &children); /* ignored, there is no status */
    pid_t pid = fork();
    if (pid == 0) {
        execvp(words[0], words);
        _exit(NOT_STARTED);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGCHLD, &children, NULL);
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool try_command(const char *text, size_t size, const char *file) {
    char *words[WORDS_MAX + 2] = {0}, *command = strndup(text, size);
    bool is_open = command && split(command, file, words) && run(words);
    for (int i = 0; words[i]; i++)
        free(words[i]);
    free(command);
    return is_open;
}

int pie_browser_open(const char *file) {
    static const char fallback[] = "xdg-open";
    const char *commands = getenv("BROWSER");
    bool is_open = false;
    while (commands && *commands && !is_open) {
        size_t size = strcspn(commands, ":");
        is_open = try_command(commands, size, file);
        commands += size + (commands[size] == ':');
    }
    return is_open || try_command(fallback, sizeof fallback - 1, file) ? 0 : -ENOENT;
}
