/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/python/elf_tables.h"

Elf_Data *pie_elf_table(Elf *elf, Elf64_Word type, GElf_Shdr *ret_header) {
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, ret_header) && ret_header->sh_type == type)
            return elf_getdata(section, NULL);
    return NULL;
}

size_t pie_elf_each_symbol(Elf *elf, void (*see)(void *context, const char *name, const GElf_Sym *symbol),
                           void *context) {
    GElf_Shdr header;
    Elf_Data *data = pie_elf_table(elf, SHT_DYNSYM, &header);
    GElf_Sym symbol;
    size_t n = 0;

    for (; data && gelf_getsym(data, (int)n, &symbol); n++) {
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name && *name)
            see(context, name, &symbol);
    }
    return n;
}
