/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/text/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"

/* Columns of the `size` bytes at `word`. */
static size_t word_width(const char *word, size_t size) {
    char *copy = strndup(word, size);
    size_t width = copy ? pie_text_width(copy) : size;
    free(copy);
    return width;
}

void pie_wrap_print(FILE *out, const char *text, size_t at, size_t indent, size_t columns) {
    if (columns == 0 || columns == PIE_WRAP_UNCUT)
        columns = PIE_WRAP_COLUMNS_OF_A_FILE;
    bool is_first = true; /* of its line */
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t size = strcspn(text, " "), width = word_width(text, size);
        bool follows = !is_first || at > indent;
        if (follows && at + 1 + width > columns) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (follows) {
            fputc(' ', out);
            at++;
        }
        is_first = false;
        fwrite(text, 1, size, out);
        at += width;
        text += size;
    }
    fputc('\n', out);
}
