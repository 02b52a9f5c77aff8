/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/formats/json_text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/utf8.h"

void pie_json_write_text(FILE *out, const char *text) {
    size_t size = text ? strlen(text) : 0;
    char *clean = text ? malloc(3 * size + 1) : NULL;
    json_t *value = clean ? json_stringn(clean, pie_utf8_clean(clean, text, size)) : NULL;
    if (!text)
        fputs("null", out);
    else if (!value || json_dumpf(value, out, JSON_ENCODE_ANY) < 0)
        fputs("\"\"", out);
    json_decref(value);
    free(clean);
}
