/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/base/message.h"

#include <stdarg.h>
#include <stdio.h>

int pie_message(int error, char **ret_message, const char *format, ...) {
    va_list args;
    if (!ret_message)
        return error;
    va_start(args, format);
    if (vasprintf(ret_message, format, args) < 0)
        *ret_message = NULL;
    va_end(args);
    return error;
}
