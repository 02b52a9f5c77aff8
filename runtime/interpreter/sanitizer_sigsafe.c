/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interpreter/sanitizer.h"

#include <string.h>

bool pie_sanitizer_is_preloaded(const char *libraries) {
    return strstr(libraries, "libasan.so") || strstr(libraries, "libclang_rt.asan");
}
