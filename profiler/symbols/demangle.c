/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/symbols/demangle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Suffixes that GCC and LLVM give to clones of a function. All are followed by nothing, a number or another
 * suffix. The clone is the same function to whoever reads its source. */
static const char *const clone_suffixes[] = {".part",     ".constprop", ".isra",       ".cold",
                                             ".lto_priv", ".llvm",      ".localalias", ".localfunc"};

static bool is_clone_suffix(const char *suffix, size_t length) {
    for (size_t i = 0; i < sizeof(clone_suffixes) / sizeof(*clone_suffixes); i++)
        if (strlen(clone_suffixes[i]) == length && memcmp(clone_suffixes[i], suffix, length) == 0)
            return true;
    return false;
}

static bool is_number(const char *suffix, size_t length) {
    return length > 1 && strspn(suffix + 1, "0123456789") == length - 1;
}

/* Cuts ".word" and ".word.number" from the end as long as it is one of the suffixes. */
static void cut_clone_suffixes(char *name) {
    for (;;) {
        char *last = strrchr(name, '.');
        if (!last || last == name)
            return;
        size_t length = strlen(last);
        char *cut = last;
        if (is_number(last, length)) {
            char *word = last - 1;
            while (word > name && *word != '.')
                word--;
            length = (size_t)(last - word);
            cut = word;
        }
        if (cut == name || !is_clone_suffix(cut, length))
            return;
        *cut = '\0';
    }
}

char *pie_demangle(const char *symbol) {
    char *name = strdup(symbol);
    if (!name)
        return NULL;
    char *version = strchr(name, '@');
    if (version && version != name)
        *version = '\0';
    cut_clone_suffixes(name);
    char *demangled = pie_demangle_mangled(name);
    if (!demangled)
        return name;
    free(name);
    return demangled;
}
