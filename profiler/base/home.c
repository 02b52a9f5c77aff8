/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/home.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

static bool is_home_name(const char *path) {
    static const char *const names[] = {"libpython3",     "libpieprof-", "libc.so.", "libm.so.",
                                        "libpthread.so.", "libdl.so.",   "ld-linux"};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (*name == '\0') /* the program itself */
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static int note_module(struct dl_phdr_info *info, size_t size, void *unused) {
    bool vdso = info->dlpi_addr != 0 && info->dlpi_addr == getauxval(AT_SYSINFO_EHDR);

    if (!vdso && !is_home_name(info->dlpi_name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        uintptr_t low = info->dlpi_addr + segment->p_vaddr;
        pie_home_add(low, low + segment->p_memsz);
    }
    return 0;
}

void pie_home_init(void) {
    pie_home_clear();
    dl_iterate_phdr(note_module, NULL);
}
