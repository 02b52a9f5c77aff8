/* SPDX-License-Identifier: Apache-2.0 */
/* usage: probe PATH           what pie_python_read() says about a program
 *        probe --choose NAME=VALUE…   which one pie_python_choose() takes
 * Prints one JSON object; ends with 1 where there is no answer. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/python/choice.h"

static struct pie_python_choice choice;
static char why[PIE_PYTHON_WHY_BYTES];

static json_t *describe(const struct pie_python *python) {
    static const char *const libc[] = {"glibc", "musl", "other"};
    char abi[PIE_PYTHON_ABI_BYTES];

    pie_python_abi(python, abi);
    return json_pack("{ss ss ss ss ss}", "path", python->path, "real", python->real, "abi", abi, "linkage",
                     python->linkage == PIE_PYTHON_SHARED ? "shared" : "static", "libc", libc[python->libc]);
}

static int print(int r, json_t *object) {
    if (r < 0)
        object = json_pack("{si ss}", "error", r, "why", why);
    json_dumpf(object, stdout, 0);
    json_decref(object);
    return r < 0;
}

static void take_word(struct pie_python_wish *wish, const char *word) {
    const struct {
        const char *name;
        const char **place;
    } names[] = {
        {"option=", &wish->option},
        {"virtual_env=", &wish->virtual_env},
        {"conda_prefix=", &wish->conda_prefix},
        {"search_path=", &wish->search_path},
        {"pyenv_version=", &wish->pyenv_version},
        {"folder=", &wish->folder},
        {"self=", &wish->self},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(word, names[i].name, strlen(names[i].name)) == 0)
            *names[i].place = word + strlen(names[i].name);
}

static int choose(char **words) {
    static const char *const sources[] = {"option", "VIRTUAL_ENV", ".venv", "conda", "PATH"};
    struct pie_python_wish wish = {.folder = "/nowhere"};

    while (*words)
        take_word(&wish, *words++);
    int r = pie_python_choose(&wish, &choice, why);
    if (r < 0)
        return print(r, NULL);
    json_t *object = describe(&choice.python);
    json_object_set_new(object, "source", json_string(sources[choice.source]));
    json_object_set_new(object, "passed", json_string(choice.passed));
    return print(0, object);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--choose") == 0)
        return choose(argv + 2);
    struct pie_python python;
    int r = pie_python_read(argc > 1 ? argv[1] : "", &python, why);
    return print(r, r < 0 ? NULL : describe(&python));
}
