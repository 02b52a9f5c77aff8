/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/symbols/modules_scan.h"
#include "profiler/code/modules.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static char *hex_text(const unsigned char *bytes, size_t count) {
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * count + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * count] = '\0';
    return text;
}

uint64_t pie_module_memory_left(const struct pie_module_entry *entry, uint64_t vaddr) {
    for (size_t i = 0; i < entry->phdr_count; i++) {
        const Elf64_Phdr *phdr = &entry->phdrs[i];
        if (phdr->p_type == PT_LOAD && (phdr->p_flags & PF_R) && vaddr >= phdr->p_vaddr &&
            vaddr - phdr->p_vaddr < phdr->p_memsz)
            return phdr->p_memsz - (vaddr - phdr->p_vaddr);
    }
    return 0;
}

const void *pie_module_memory(const struct pie_module_entry *entry, uint64_t vaddr, uint64_t size) {
    if (size > pie_module_memory_left(entry, vaddr))
        return NULL;
    return (const void *)(entry->base + vaddr);
}

static void read_build_id(struct pie_module_entry *entry) {
    for (size_t i = 0; i < entry->phdr_count && !entry->build_id; i++) {
        const Elf64_Phdr *phdr = &entry->phdrs[i];
        const void *notes =
            phdr->p_type == PT_NOTE ? pie_module_memory(entry, phdr->p_vaddr, phdr->p_memsz) : NULL;
        unsigned char id[PIE_BUILD_ID_MAX];
        size_t length = notes ? pie_elf_build_id(notes, phdr->p_memsz, id) : 0;
        if (length)
            entry->build_id = hex_text(id, length);
    }
}

static bool has_vdso(const struct pie_module_entry *entry) {
    uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
    return vdso && pie_module_memory_left(entry, vdso - entry->base) > 0;
}

static int add_found(struct pie_modules_scan *scan, const struct dl_phdr_info *info) {
    if (scan->count == scan->capacity) {
        size_t capacity = scan->capacity ? scan->capacity * 2 : 64;
        struct pie_module_entry *found = realloc(scan->found, capacity * sizeof(*found));
        if (!found)
            return -ENOMEM;
        scan->found = found;
        scan->capacity = capacity;
    }
    struct pie_module_entry *entry = &scan->found[scan->count];
    *entry = (struct pie_module_entry){.base = info->dlpi_addr, .phdr_count = info->dlpi_phnum};
    scan->count++; /* from here on finished with the scan */
    size_t phdrs_bytes = info->dlpi_phnum * sizeof(*entry->phdrs);
    Elf64_Phdr *phdrs = malloc(phdrs_bytes + 1);
    if (!phdrs)
        return -ENOMEM;
    memcpy(phdrs, info->dlpi_phdr, phdrs_bytes);
    entry->phdrs = phdrs;
    if (scan->is_known && scan->is_known(scan->data, scan, entry))
        return 0;
    entry->path = strdup(has_vdso(entry) ? "[vdso]" : info->dlpi_name ? info->dlpi_name : "");
    if (!entry->path)
        return -ENOMEM;
    read_build_id(entry);
    return 0;
}

/* Called with the dynamic linker's lock held: what it lists stays mapped meanwhile. */
static int visit_module(struct dl_phdr_info *info, size_t size, void *data) {
    struct pie_modules_scan *scan = data;
    if (scan->count == 0) {
        if (info->dlpi_adds == scan->loads && info->dlpi_subs == scan->unloads) {
            scan->is_unchanged = true;
            return 1;
        }
        scan->has_unloads = info->dlpi_subs != scan->unloads;
        scan->loads = info->dlpi_adds;
        scan->unloads = info->dlpi_subs;
    }
    scan->error = add_found(scan, info);
    return scan->error;
}

/* The executable has no name in the linker's list. */
static int name_executable(struct pie_module_entry *entry) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length > 0) {
        path[length] = '\0';
        entry->open_path = strdup("/proc/self/exe");
    } else {
        const char *name = (const char *)getauxval(AT_EXECFN);
        if (!name || !realpath(name, path))
            return 0;
        entry->open_path = strdup(path);
    }
    char *copy = strdup(path);
    if (!copy || !entry->open_path) {
        free(copy);
        return -ENOMEM;
    }
    free((char *)entry->path);
    entry->path = copy;
    return 0;
}

/* Outside the linker's lock: makes paths absolute and notes which file is meant. */
static int complete_entry(struct pie_module_entry *entry) {
    if (strcmp(entry->path, "[vdso]") == 0)
        return 0;
    if (!*entry->path) {
        int r = name_executable(entry);
        if (r < 0)
            return r;
    } else {
        if (*entry->path != '/') {
            char *absolute = realpath(entry->path, NULL);
            if (absolute) {
                free((char *)entry->path);
                entry->path = absolute;
            }
        }
        entry->open_path = strdup(entry->path);
        if (!entry->open_path)
            return -ENOMEM;
    }
    struct stat status;
    if (entry->open_path && stat(entry->open_path, &status) == 0) {
        entry->device = status.st_dev;
        entry->inode = status.st_ino;
        entry->modified = status.st_mtim;
    }
    return 0;
}

int pie_modules_scan(struct pie_modules_scan *scan) {
    dl_iterate_phdr(visit_module, scan);
    int r = scan->error;
    for (size_t i = 0; i < scan->count && r == 0; i++)
        r = scan->found[i].path ? complete_entry(&scan->found[i]) : 0;
    if (r < 0)
        pie_modules_scan_finish(scan);
    return r;
}

int pie_modules_scan_known(const struct pie_code_module *known, struct pie_module_entry *ret_entry) {
    size_t phdrs_bytes = known->phdr_count * sizeof(*known->phdrs);
    Elf64_Phdr *phdrs = malloc(phdrs_bytes);
    if (!phdrs)
        return -ENOMEM;
    memcpy(phdrs, known->phdrs, phdrs_bytes);
    *ret_entry = (struct pie_module_entry){
        .base = known->base, .phdrs = phdrs, .phdr_count = known->phdr_count, .path = strdup(known->path)};
    if (known->build_id_bytes)
        ret_entry->build_id = hex_text(known->build_id, known->build_id_bytes);
    if (!ret_entry->path || (known->build_id_bytes && !ret_entry->build_id))
        return -ENOMEM;
    return *known->path ? complete_entry(ret_entry) : 0;
}

void pie_module_entry_finish(struct pie_module_entry *entry) {
    free((Elf64_Phdr *)entry->phdrs);
    free((char *)entry->path);
    free((char *)entry->open_path);
    free((char *)entry->build_id);
    *entry = (struct pie_module_entry){0};
}

void pie_modules_scan_finish(struct pie_modules_scan *scan) {
    for (size_t i = 0; i < scan->count; i++)
        pie_module_entry_finish(&scan->found[i]);
    free(scan->found);
    scan->found = NULL;
    scan->count = scan->capacity = 0;
}
