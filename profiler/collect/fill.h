/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_sink;

/* Puts two counters for each arena of the region that is in use: table_fill_NAME and table_size_NAME, how full it is
 * and how large it can become, in bytes. Returns 0 or -errno. Context: drain. */
int pie_fill_write(struct pie_sink *sink);
