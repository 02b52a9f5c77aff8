/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/doctor/own_python.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/guest/cores.h"
#include "launcher/guest/enter.h"
#include "launcher/python/choice.h"
#include "profiler/doctor/machine_facts.h"
#include "runtime/interpreter/target.h"

/* The file with its functions: the program, or the library of its prefix. Another one is only found by running it. */
static void find_file(const struct pie_python *python, const char *abi, char ret_path[PATH_MAX]) {
    int folder = (int)(strrchr(python->real, '/') - python->real);
    int n = snprintf(ret_path, PATH_MAX, "%s", python->real);
    if (python->linkage == PIE_PYTHON_SHARED)
        n = snprintf(ret_path, PATH_MAX, "%.*s/../lib/libpython%s.so.1.0", folder, python->real, abi);
    if (n >= PATH_MAX)
        ret_path[0] = '\0';
}

static void describe(struct pie_doctor_python *found, const struct pie_guest *guest, const char *self) {
    char *cores = pie_cores_list(self);
    snprintf(found->found, sizeof found->found, "%s, %s; cores for %s", found->abi, guest->python.path,
             cores ? cores : "none");
    free(cores);
}

void pie_doctor_python_find(struct pie_doctor_python *ret_python, struct pie_machine_facts *facts,
                            struct pie_build_facts *build) {
    static struct pie_python_choice choice;
    static struct pie_guest guest;
    char self[PATH_MAX], folder[PATH_MAX], file[PATH_MAX];
    *ret_python = (struct pie_doctor_python){.found = "this program cannot be found; is /proc mounted?"};
    ret_python->own.found = ret_python->found;
    build->own = &ret_python->own;
    if (pie_target_self(self) < 0)
        return;
    struct pie_python_wish wish = pie_python_wish(NULL, getcwd(folder, sizeof folder) ? folder : "", self);
    if (pie_python_choose(&wish, &choice, ret_python->found) < 0 ||
        pie_guest_find(&choice.python, self, &guest, ret_python->found, sizeof ret_python->found) < 0)
        return;
    pie_python_abi(&guest.python, ret_python->abi);
    build->python_version = ret_python->abi;
    ret_python->own.is_usable = true;
    describe(ret_python, &guest, self);
    find_file(&guest.python, ret_python->abi, file);
    ret_python->own.has_file = pie_machine_facts_look_at_python(file, facts);
}
