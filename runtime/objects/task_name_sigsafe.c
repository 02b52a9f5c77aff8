/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/objects/task_name.h"

#include "runtime/objects/pystr.h"

#include <string.h>

static bool is_numbered(const char *name) {
    static const char BEGIN[] = "Task-";
    size_t begin = sizeof BEGIN - 1;

    return strncmp(name, BEGIN, begin) == 0 && name[begin] &&
           name[begin + strspn(name + begin, "0123456789")] == '\0';
}

void pie_task_name_read(uintptr_t name, char ret_name[PIE_AWAIT_NAME_BYTES]) {
    struct pie_pystr text;

    if (!pie_pystr_locate(name, PIE_AWAIT_NAME_CHARACTERS, &text) ||
        pie_pystr_to_utf8(&text, ret_name) == SIZE_MAX || is_numbered(ret_name))
        ret_name[0] = '\0';
}
