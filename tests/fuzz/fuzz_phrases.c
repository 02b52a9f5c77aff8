/* SPDX-License-Identifier: Apache-2.0 */

/* Questions in words. */

#include "storage/ask/phrase.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = strndup((const char *)data, size), *message = NULL;
    struct pie_phrase phrase;

    if (pie_phrase_parse(text, &phrase, &message) < 0 && !message)
        abort(); /* a refusal has a reason */
    free(message);
    free(text);
    return 0;
}
