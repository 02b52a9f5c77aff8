/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/doctor/machine_facts.h"
#include "profiler/symbols/dwarf_info.h"
#include "profiler/symbols/module_files.h"
#include "profiler/symbols/modules.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <unistd.h>

static void forget(struct pie_module_entry *entry) {
    (void)entry;
}

static bool has_symtab(const struct pie_elf_image *image) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (image->elf && (section = elf_nextscn(image->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            return true;
    return false;
}

static bool has_names(const struct pie_module_files *files) {
    return has_symtab(&files->own) || has_symtab(&files->separate) || has_symtab(&files->mini);
}

/* Debug information of the module may be about other parts of it: is this function in it? */
static bool has_lines_at(struct pie_module_files *files, uint64_t vaddr) {
    struct pie_dwarf *dwarf;
    struct pie_dwarf_frame frame;
    if (files->dwarf_error < 0 || pie_dwarf_open(&files->dwarf, &files->alternate, &dwarf) < 0)
        return false;
    bool is_found = pie_dwarf_find(dwarf, vaddr, &frame, 1) > 0;
    pie_dwarf_close(dwarf);
    return is_found;
}

static void look_at(struct pie_modules *modules, const void *address, bool *ret_symbols, bool *ret_lines) {
    static const struct pie_module_files_limits limits = {.symbol_bytes = 256 << 20,
                                                          .dwarf_bytes = 256 << 20};
    struct pie_module_entry *entry = pie_modules_find(modules, (uintptr_t)address);
    if (!address || !entry)
        return;
    struct pie_module_files files;
    pie_module_files_read(entry, &limits, &files);
    *ret_symbols = has_names(&files);
    *ret_lines = has_lines_at(&files, (uintptr_t)address - entry->base);
    pie_module_files_finish(&files);
}

bool pie_machine_facts_look_at_python(const char *path, struct pie_machine_facts *facts) {
    static const struct pie_module_files_limits limits = {.symbol_bytes = 256 << 20};
    struct pie_module_entry entry = {.path = path, .open_path = path};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    Elf *elf = fd >= 0 && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    if (elf && elf_getphdrnum(elf, &entry.phdr_count) == 0)
        entry.phdrs = elf64_getphdr(elf);
    if (entry.phdrs) {
        struct pie_module_files files;
        pie_module_files_read(&entry, &limits, &files);
        facts->has_python_symbols = has_names(&files);
        pie_module_files_finish(&files);
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return entry.phdrs != NULL;
}

void pie_machine_facts_gather_symbols(const void *python_address, struct pie_machine_facts *facts) {
    struct pie_modules *modules;
    if (pie_modules_create(forget, &modules) < 0)
        return;
    if (pie_modules_refresh(modules) >= 0) {
        look_at(modules, python_address, &facts->has_python_symbols, &facts->has_python_lines);
        /* A function that nobody replaces, to be sure of the library it comes from. */
        look_at(modules, dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &facts->has_libc_symbols,
                &facts->has_libc_lines);
    }
    pie_modules_destroy(modules);
}
