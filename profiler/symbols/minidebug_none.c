/* SPDX-License-Identifier: Apache-2.0 */

/* Built where liblzma is missing. */

#include "profiler/symbols/minidebug.h"

#include <errno.h>

int pie_minidebug_unpack(const void *packed, size_t packed_bytes, size_t max_bytes, void **ret_bytes,
                         size_t *ret_size) {
    return -ENOTSUP;
}
