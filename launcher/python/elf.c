/* SPDX-License-Identifier: Apache-2.0 */

/* A CPython with a shared library names it in DT_NEEDED, with version and ABI flags. One without exports its API, for
 * extension modules: there Py_Version (from 3.11 on) holds the version, and functions that only some builds have tell
 * the ABI flags. libelf checks all offsets and reads with pread(), so a file that shrinks meanwhile does no harm. */

#include "launcher/python/elf.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/python/elf_tables.h"

enum { OLDEST_MINOR = 11 };

struct needed {
    bool has_library, is_pypy;
    int major, minor;
    char flags[8];
};

struct exported {
    bool is_cpython, is_free_threaded, is_debug;
    uint64_t version_at; /* address of Py_Version; 0: none */
};

/* libpython3.11.so.1.0, libpython3.13t.so.1.0; libpython3.so, which is needed beside such a one, has no version.
 * Standalone Pythons say where it lies: $ORIGIN/../lib/libpython3.11.so.1.0. */
static void judge_library(const char *path, struct needed *needed) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct needed found = {.has_library = true};

    if (strncmp(name, "libpypy", 7) == 0)
        needed->is_pypy = true;
    int n = sscanf(name, "libpython%d.%d%7[a-z]", &found.major, &found.minor, found.flags);
    if (n >= 2 && !needed->has_library) {
        found.is_pypy = needed->is_pypy;
        *needed = found;
    }
}

static struct needed read_needed(Elf *elf) {
    struct needed needed = {0};
    GElf_Shdr header;
    Elf_Data *data = pie_elf_table(elf, SHT_DYNAMIC, &header);
    GElf_Dyn item;

    for (int i = 0; data && gelf_getdyn(data, i, &item) && item.d_tag != DT_NULL; i++) {
        const char *name = item.d_tag == DT_NEEDED ? elf_strptr(elf, header.sh_link, item.d_un.d_val) : NULL;
        if (name)
            judge_library(name, &needed);
    }
    return needed;
}

static void judge_symbol(void *context, const char *name, const GElf_Sym *symbol) {
    struct exported *exported = context;

    if (symbol->st_shndx == SHN_UNDEF)
        return;
    if (strcmp(name, "Py_BytesMain") == 0 || strcmp(name, "Py_Main") == 0)
        exported->is_cpython = true;
    else if (strcmp(name, "Py_Version") == 0)
        exported->version_at = symbol->st_value;
    else if (strcmp(name, "_Py_MergeZeroLocalRefcount") == 0) /* where Py_GIL_DISABLED */
        exported->is_free_threaded = true;
    else if (strcmp(name, "_Py_NegativeRefcount") == 0) /* where Py_DEBUG, by Py_REF_DEBUG */
        exported->is_debug = true;
}

/* What the file has for an address of the program. Returns false if that is not in it. */
static bool read_at(Elf *elf, int fd, uint64_t address, uint64_t *ret_word) {
    size_t count = 0;
    GElf_Phdr part;

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &part) && part.p_type == PT_LOAD && address >= part.p_vaddr &&
            address - part.p_vaddr < part.p_filesz)
            return pread(fd, ret_word, sizeof *ret_word, (off_t)(part.p_offset + address - part.p_vaddr)) ==
                   sizeof *ret_word;
    return false;
}

/* The dynamic linker's name. Returns false if the program has none. */
static bool read_linker(Elf *elf, int fd, enum pie_python_libc *ret_libc) {
    char path[PATH_MAX];
    size_t count = 0;
    GElf_Phdr part = {0};

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && part.p_type != PT_INTERP; i++)
        if (!gelf_getphdr(elf, (int)i, &part))
            return false;
    if (part.p_type != PT_INTERP || part.p_filesz == 0 || part.p_filesz > sizeof path ||
        pread(fd, path, part.p_filesz, (off_t)part.p_offset) != (ssize_t)part.p_filesz)
        return false;
    path[part.p_filesz - 1] = '\0';
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    *ret_libc = strncmp(name, "ld-linux", 8) == 0  ? PIE_PYTHON_GLIBC
                : strncmp(name, "ld-musl", 7) == 0 ? PIE_PYTHON_MUSL
                                                   : PIE_PYTHON_OTHER_LIBC;
    return true;
}

static bool is_old(const struct pie_python *python) {
    return python->major < 3 || (python->major == 3 && python->minor < OLDEST_MINOR);
}

static enum pie_python_elf_fault take_shared(const struct needed *needed, struct pie_python *python) {
    python->linkage = PIE_PYTHON_SHARED;
    python->major = needed->major;
    python->minor = needed->minor;
    python->is_free_threaded = strchr(needed->flags, 't');
    python->is_debug = strchr(needed->flags, 'd');
    return is_old(python) ? PIE_PYTHON_ELF_OLD : PIE_PYTHON_ELF_OK;
}

static enum pie_python_elf_fault take_static(Elf *elf, int fd, struct pie_python *python) {
    struct exported exported = {0};
    uint64_t version;

    pie_elf_each_symbol(elf, judge_symbol, &exported);
    if (!exported.is_cpython)
        return PIE_PYTHON_ELF_OTHER;
    python->linkage = PIE_PYTHON_STATIC;
    python->is_free_threaded = exported.is_free_threaded;
    python->is_debug = exported.is_debug;
    if (!exported.version_at || !read_at(elf, fd, exported.version_at, &version))
        return PIE_PYTHON_ELF_OLD;
    python->major = (int)(version >> 24 & 0xff); /* as PY_VERSION_HEX */
    python->minor = (int)(version >> 16 & 0xff);
    return is_old(python) ? PIE_PYTHON_ELF_OLD : PIE_PYTHON_ELF_OK;
}

static enum pie_python_elf_fault read_program(Elf *elf, int fd, struct pie_python *python) {
    GElf_Ehdr header;

    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return PIE_PYTHON_ELF_NO_ELF;
    if (gelf_getclass(elf) != ELFCLASS64 || header.e_machine != EM_X86_64 ||
        (header.e_type != ET_EXEC && header.e_type != ET_DYN))
        return PIE_PYTHON_ELF_MACHINE;
    if (!read_linker(elf, fd, &python->libc))
        return PIE_PYTHON_ELF_ALONE;
    struct needed needed = read_needed(elf);
    if (needed.has_library)
        return take_shared(&needed, python);
    return needed.is_pypy ? PIE_PYTHON_ELF_PYPY : take_static(elf, fd, python);
}

enum pie_python_elf_fault pie_python_elf_read(int fd, struct pie_python *python) {
    char head[2] = "";

    if (pread(fd, head, sizeof head, 0) == sizeof head && memcmp(head, "#!", sizeof head) == 0)
        return PIE_PYTHON_ELF_SCRIPT;
    if (elf_version(EV_CURRENT) == EV_NONE)
        return PIE_PYTHON_ELF_NO_ELF;
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    enum pie_python_elf_fault fault = elf ? read_program(elf, fd, python) : PIE_PYTHON_ELF_NO_ELF;
    elf_end(elf);
    return fault;
}
