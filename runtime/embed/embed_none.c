/* SPDX-License-Identifier: Apache-2.0 */

/* What subcommands ask about the embedded Python, where there is none (-Dlibpython=none). */

#include "runtime/confirm/confirm.h"
#include "runtime/embed/aging.h"
#include "runtime/embed/embed.h"

const bool pie_confirm_is_possible = false; /* of the embedded one */
const bool pie_confirm_slows_functions = false;

const bool pie_embed_has_python = false;

const char *pie_embed_python_version(void) {
    return "none";
}

const char *pie_embed_linkage(void) {
    return "no";
}

bool pie_aging_describe(char *text, size_t size) {
    return false;
}
