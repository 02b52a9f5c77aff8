/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/text.h"

/* Columns of the `size` bytes at `word`. */
static size_t word_width(const char *word, size_t size) {
    char *copy = strndup(word, size);
    size_t width = copy ? pie_text_width(copy) : size;
    free(copy);
    return width;
}

void pie_wrap_print(FILE *out, const char *text, size_t at, size_t indent, size_t columns) {
    bool is_first = true;
    if (columns == 0)
        columns = PIE_WRAP_COLUMNS_OF_A_FILE;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t size = strcspn(text, " "), width = word_width(text, size);
        bool breaks = !is_first && at + 1 + width > columns;
        if (breaks)
            fprintf(out, "\n%*s", (int)indent, "");
        else if (!is_first)
            fputc(' ', out);
        at = (breaks ? indent : at + !is_first) + width;
        fwrite(text, 1, size, out);
        text += size;
        is_first = false;
    }
    fputc('\n', out);
}
