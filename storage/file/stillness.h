/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* Was a file written to while it was read without locks? The time of its last write shows it, of which a file
 * system keeps ticks of up to 10 ms: a file that was written to a moment ago is waited for. Context: cli. */
struct pie_stillness {
    dev_t device;
    ino_t inode;
    off_t size_bytes;
    struct timespec written;
};

/* Before it is read. Waits up to 20 ms. Returns 0 or -errno. */
int pie_stillness_begin(const char *path, struct pie_stillness *ret_stillness);
/* After it was read. True: it is the same file, and it was not written to since. */
bool pie_stillness_holds(const char *path, const struct pie_stillness *stillness);
