/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/* Escape sequences for a terminal, each "" where colours are not wanted. Context: cli. */
struct pie_style {
    const char *bold, *dim, *hot, *warm, *plain;
};

struct pie_style pie_style_for(FILE *out);
