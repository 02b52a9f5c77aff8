/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/ask/copied.h"

#include <stdio.h>
#include <stdlib.h>

#include "launcher/text/text.h"
#include "storage/merge/merge.h"

void pie_print_copied(const char *output, const struct pie_merge *merge) {
    char *clean = pie_text_printable(output);
    printf("%s: %lld %s, %lld %s", clean ? clean : "", (long long)merge->runs,
           merge->runs == 1 ? "run" : "runs", (long long)merge->processes,
           merge->processes == 1 ? "process" : "processes");
    free(clean);
}
