/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/run/python_name.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/interpreter/target.h"

bool pie_python_name_is_called(const char *argv0) {
    const char *executed = (const char *)getauxval(AT_EXECFN);
    return (argv0 && pie_target_is_python_name(argv0)) || (executed && pie_target_is_python_name(executed));
}

bool pie_python_name_wants_profile(void) {
    const char *on = getenv("PIEPROF"), *output = getenv("PIEPROF_OUTPUT");
    if (on && strcmp(on, "0") == 0)
        return false;
    return (on && strcmp(on, "1") == 0) || (output && *output);
}
