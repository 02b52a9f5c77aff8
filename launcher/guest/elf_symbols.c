/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/guest/elf_symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/python/elf_tables.h"

struct names {
    const char **names;
    size_t n;
};

struct pie_elf_symbols {
    int fd;
    Elf *elf;                     /* owns the texts */
    struct names defined, needed; /* the former in order */
};

static void ignore(void *context, const char *name, const GElf_Sym *symbol) {}

static void sort_in(void *context, const char *name, const GElf_Sym *symbol) {
    struct pie_elf_symbols *symbols = context;

    if (symbol->st_shndx != SHN_UNDEF)
        symbols->defined.names[symbols->defined.n++] = name;
    else if (GELF_ST_BIND(symbol->st_info) != STB_WEAK)
        symbols->needed.names[symbols->needed.n++] = name;
}

static int compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool read_names(struct pie_elf_symbols *symbols) {
    size_t n = symbols->elf ? pie_elf_each_symbol(symbols->elf, ignore, NULL) : 0;

    symbols->defined.names = calloc(n + 1, sizeof *symbols->defined.names);
    symbols->needed.names = calloc(n + 1, sizeof *symbols->needed.names);
    if (n == 0 || !symbols->defined.names || !symbols->needed.names)
        return false;
    pie_elf_each_symbol(symbols->elf, sort_in, symbols);
    qsort(symbols->defined.names, symbols->defined.n, sizeof *symbols->defined.names, compare);
    return true;
}

struct pie_elf_symbols *pie_elf_symbols_read(const char *path) {
    struct pie_elf_symbols *symbols = calloc(1, sizeof *symbols);
    if (!symbols)
        return NULL;
    symbols->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    elf_version(EV_CURRENT);
    symbols->elf = symbols->fd >= 0 ? elf_begin(symbols->fd, ELF_C_READ, NULL) : NULL;
    if (read_names(symbols))
        return symbols;
    pie_elf_symbols_free(symbols);
    return NULL;
}

void pie_elf_symbols_free(struct pie_elf_symbols *symbols) {
    if (!symbols)
        return;
    free(symbols->defined.names);
    free(symbols->needed.names);
    elf_end(symbols->elf);
    if (symbols->fd >= 0)
        close(symbols->fd);
    free(symbols);
}

bool pie_elf_symbols_defines(const struct pie_elf_symbols *symbols, const char *name) {
    const struct names *defined = &symbols->defined;
    return bsearch(&name, defined->names, defined->n, sizeof *defined->names, compare);
}

const char *pie_elf_symbols_needed(const struct pie_elf_symbols *symbols, size_t index) {
    return index < symbols->needed.n ? symbols->needed.names[index] : NULL;
}
