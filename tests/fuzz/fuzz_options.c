/* SPDX-License-Identifier: Apache-2.0 */

/* Strings of options, as PIEPROF_OPTS has them; what is taken survives the way to a child. */

#include "launcher/options/options.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void finish(struct pie_options *options) {
    size_t n;
    const struct pie_option *all = pie_option_all(&n);
    for (const struct pie_option *option = all; option < all + n; option++) {
        char **text = (char **)((char *)&options->config + option->offset);
        if (option->kind == PIE_OPTION_TEXT || option->kind == PIE_OPTION_PATH)
            free(*text);
        for (; option->kind == PIE_OPTION_LIST && *text; text++)
            free(*text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = strndup((const char *)data, size);
    struct pie_options options, again;

    pie_options_init(&options);
    pie_options_init(&again);
    if (pie_options_from_string(&options, text, "a test") < 0) {
        if (!options.error[0])
            abort();
    } else if (options.action == PIE_ACTION_RUN) {
        char *string = pie_options_to_string(&options);
        if (!string || pie_options_from_string(&again, string, "a test") < 0)
            abort();
        free(string);
    }
    finish(&options);
    finish(&again);
    free(text);
    return 0;
}
