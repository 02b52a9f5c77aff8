/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Unpacks .gnu_debugdata: a small ELF file with the local symbols of a stripped module, xz-compressed (Fedora).
 * The result, at most max_bytes, is the caller's to free. Returns 0 or -errno; -ENOTSUP where pieprof was built
 * without liblzma. Context: drain, cli. */
int pie_minidebug_unpack(const void *packed, size_t packed_bytes, size_t max_bytes, void **ret_bytes,
                         size_t *ret_size);
