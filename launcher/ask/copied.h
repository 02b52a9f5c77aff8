/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_merge;

/* "OUTPUT: 1 run, 3 processes", without an end of the line. Context: cli. */
void pie_print_copied(const char *output, const struct pie_merge *merge);
