/* SPDX-License-Identifier: Apache-2.0 */

/* Separate debug files are found as gdb does: by build-id under /usr/lib/debug/.build-id, then by the name in
 * .gnu_debuglink beside the module, in .debug/ beside it and under /usr/lib/debug. One found by name must have
 * the module's build-id; the checksum that .gnu_debuglink offers instead would mean reading all of it.
 *
 * The module's own file is trusted only if it is still the one that was mapped: same build-id, or for files without
 * one the same program headers. */

#include "profiler/symbols/module_files.h"
#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/symbols/minidebug.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

struct build_id {
    unsigned char bytes[PIE_BUILD_ID_MAX];
    size_t length;
};

static int open_source(const char *path, struct pie_elf_source *ret_source) {
    struct stat status;
    /* O_NONBLOCK: a FIFO put in the library's place must not hold us up. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) {
        close(fd);
        return -ENOEXEC;
    }
    *ret_source = (struct pie_elf_source){.fd = fd, .size = (uint64_t)status.st_size};
    return 0;
}

static bool has_section_of_type(const struct pie_elf_image *image, uint32_t type) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (image->elf && (section = elf_nextscn(image->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            return true;
    return false;
}

static bool is_id(const struct pie_elf_image *image, const struct build_id *id) {
    struct build_id found;
    found.length = pie_elf_image_build_id(image, found.bytes);
    return id->length > 0 && found.length == id->length && memcmp(found.bytes, id->bytes, id->length) == 0;
}

/* Reads parts of a file that must have this build-id. */
static int read_with_id(const char *path, const struct build_id *id, unsigned parts, uint64_t max_bytes,
                        struct pie_elf_image *ret_image) {
    struct pie_elf_source source;
    int r = open_source(path, &source);
    if (r < 0)
        return r;
    r = pie_elf_image_read(&source, parts | PIE_ELF_LINKS, max_bytes, ret_image);
    close(source.fd);
    if (r == 0 && !is_id(ret_image, id)) {
        pie_elf_image_finish(ret_image);
        return -ESTALE;
    }
    return r;
}

static int build_id_path(const struct build_id *id, char path[PATH_MAX]) {
    if (id->length < 2)
        return -ENOENT;
    int n = snprintf(path, PATH_MAX, DEBUG_ROOT "/.build-id/%02x/", id->bytes[0]);
    for (size_t i = 1; i < id->length; i++)
        n += snprintf(path + n, PATH_MAX - (size_t)n, "%02x", id->bytes[i]);
    snprintf(path + n, PATH_MAX - (size_t)n, ".debug");
    return 0;
}

/* The text at the start of a section, NULL if it does not end inside it. */
static const char *section_text(const struct pie_elf_image *image, const char *name, Elf_Data **ret_data) {
    if (!image->elf || !pie_elf_section(image->elf, name, ret_data))
        return NULL;
    const char *text = (*ret_data)->d_buf;
    return *text && memchr(text, '\0', (*ret_data)->d_size) ? text : NULL;
}

static int directory_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) : 0;
}

/* Calls `try` with the places of the separate debug file until it returns 0. */
static int try_debug_files(const char *module_path, const struct build_id *id, const char *link_name,
                           int (*try)(const char *path, void *data), void *data) {
    static const char *const patterns[] = {"%.*s/%s", "%.*s/.debug/%s", DEBUG_ROOT "%.*s/%s"};
    char path[PATH_MAX];
    int r = build_id_path(id, path);
    if (r == 0)
        r = try(path, data);
    int directory = directory_length(module_path);
    bool is_usable = *link_name && !strchr(link_name, '/') && *module_path == '/';
    for (size_t i = 0; r < 0 && is_usable && i < sizeof(patterns) / sizeof(*patterns); i++) {
        int n = snprintf(path, sizeof(path), patterns[i], directory, module_path, link_name);
        if (n > 0 && (size_t)n < sizeof(path) && strcmp(path, module_path) != 0)
            r = try(path, data);
    }
    return r;
}

struct separate {
    const struct build_id *id;
    const struct pie_module_files_limits *limits;
    struct pie_module_files *files;
    char path[PATH_MAX]; /* where it was found */
};

static int try_separate(const char *path, void *data) {
    struct separate *separate = data;
    struct pie_module_files *files = separate->files;
    int r =
        read_with_id(path, separate->id, PIE_ELF_SYMTAB, separate->limits->symbol_bytes, &files->separate);
    if (r == 0)
        snprintf(separate->path, sizeof(separate->path), "%s", path);
    return r;
}

/* dwz: a name, absolute or relative to the debug file, and the build-id that the file must have. */
static void read_alternate(const char *debug_path, uint64_t max_bytes, struct pie_module_files *files) {
    Elf_Data *data;
    const char *name = section_text(&files->dwarf, ".gnu_debugaltlink", &data);
    if (!name)
        return;
    struct build_id id;
    size_t name_size = strlen(name) + 1;
    id.length = data->d_size - name_size;
    if (id.length == 0 || id.length > sizeof(id.bytes))
        return;
    memcpy(id.bytes, name + name_size, id.length);
    char path[PATH_MAX];
    int n = *name == '/'
                ? snprintf(path, sizeof(path), "%s", name)
                : snprintf(path, sizeof(path), "%.*s/%s", directory_length(debug_path), debug_path, name);
    int r = n > 0 && (size_t)n < sizeof(path)
                ? read_with_id(path, &id, PIE_ELF_DWARF, max_bytes, &files->alternate)
                : -ENOENT;
    if (r < 0 && build_id_path(&id, path) == 0)
        (void)read_with_id(path, &id, PIE_ELF_DWARF, max_bytes, &files->alternate);
}

static void read_dwarf(const char *path, const struct pie_module_files_limits *limits,
                       struct pie_module_files *files) {
    struct pie_elf_source source;
    if (limits->dwarf_bytes == 0)
        return;
    files->dwarf_error = open_source(path, &source);
    if (files->dwarf_error < 0)
        return;
    files->dwarf_error =
        pie_elf_image_read(&source, PIE_ELF_DWARF | PIE_ELF_LINKS, limits->dwarf_bytes, &files->dwarf);
    close(source.fd);
    if (files->dwarf_error == 0 && files->dwarf.dwarf_bytes == 0) {
        pie_elf_image_finish(&files->dwarf);
        files->dwarf_error = -ENOENT;
    }
    if (files->dwarf_error == 0)
        read_alternate(path, limits->dwarf_bytes - files->dwarf.dwarf_bytes, files);
}

static void read_mini(const struct pie_module_files_limits *limits, struct pie_module_files *files) {
    Elf_Data *packed;
    struct pie_elf_source source = {.fd = -1};
    size_t size;
    if (!pie_elf_section(files->own.elf, ".gnu_debugdata", &packed) ||
        pie_minidebug_unpack(packed->d_buf, packed->d_size, limits->symbol_bytes, &files->mini_bytes, &size) <
            0)
        return;
    source.memory = files->mini_bytes;
    source.size = size;
    (void)pie_elf_image_read(&source, PIE_ELF_SYMTAB, limits->symbol_bytes, &files->mini);
}

static int read_own(const struct pie_module_entry *entry, const struct pie_module_files_limits *limits,
                    struct pie_elf_image *ret_image, struct build_id *ret_id) {
    struct pie_elf_source source;
    int r = entry->open_path ? open_source(entry->open_path, &source) : -ENOENT;
    if (r < 0)
        return r;
    bool is_same = pie_elf_source_has_phdrs(&source, entry->phdrs, entry->phdr_count);
    unsigned parts = PIE_ELF_SYMTAB | PIE_ELF_DYNSYM | PIE_ELF_LINKS | PIE_ELF_FEW_NAMES;
    r = pie_elf_image_read(&source, parts, limits->symbol_bytes, ret_image);
    if (r == -EFBIG)
        r = pie_elf_image_read(&source, PIE_ELF_DYNSYM | PIE_ELF_LINKS, limits->symbol_bytes, ret_image);
    close(source.fd);
    if (r < 0)
        return r;
    ret_id->length = pie_elf_image_build_id(ret_image, ret_id->bytes);
    if (is_same && entry->build_id) {
        char hex[2 * PIE_BUILD_ID_MAX + 1] = "";
        for (size_t i = 0; i < ret_id->length; i++)
            snprintf(hex + 2 * i, 3, "%02x", ret_id->bytes[i]);
        is_same = strcmp(hex, entry->build_id) == 0;
    }
    if (!is_same) {
        pie_elf_image_finish(ret_image);
        return -ESTALE;
    }
    return 0;
}

bool pie_module_files_read_text(const struct pie_module_entry *entry, uint64_t offset, uint64_t max_bytes,
                                char *ret_text, size_t size) {
    struct pie_elf_source source;
    struct stat status;
    if (!entry->open_path || open_source(entry->open_path, &source) < 0)
        return false;
    size_t bytes = max_bytes < size ? (size_t)max_bytes : size;
    bool is_same = fstat(source.fd, &status) == 0 && status.st_dev == entry->device &&
                   status.st_ino == entry->inode && status.st_mtim.tv_sec == entry->modified.tv_sec &&
                   status.st_mtim.tv_nsec == entry->modified.tv_nsec;
    bool done = is_same && pie_elf_source_read(&source, offset, ret_text, bytes) == 0 &&
                memchr(ret_text, '\0', bytes);
    close(source.fd);
    return done;
}

static void note_link(struct pie_module_files *files) {
    Elf_Data *data;
    const char *name = section_text(&files->own, ".gnu_debuglink", &data);

    if (name && strlen(name) < sizeof files->link)
        memcpy(files->link, name, strlen(name) + 1);
}

void pie_module_files_read(const struct pie_module_entry *entry, const struct pie_module_files_limits *limits,
                           struct pie_module_files *ret_files) {
    struct build_id id = {.length = 0};
    *ret_files = (struct pie_module_files){.dwarf_error = -ENOENT};
    ret_files->own_error = read_own(entry, limits, &ret_files->own, &id);
    if (ret_files->own_error < 0)
        return;
    note_link(ret_files);
    read_dwarf(entry->open_path, limits, ret_files);
    bool has_symbols = has_section_of_type(&ret_files->own, SHT_SYMTAB);
    if (has_symbols && (ret_files->dwarf_error == 0 || limits->dwarf_bytes == 0))
        return;
    struct separate separate = {.id = &id, .limits = limits, .files = ret_files};
    if (try_debug_files(entry->path, &id, ret_files->link, try_separate, &separate) == 0) {
        if (ret_files->dwarf_error == -ENOENT)
            read_dwarf(separate.path, limits, ret_files);
    } else if (!has_symbols) {
        read_mini(limits, ret_files);
    }
}

void pie_module_files_finish(struct pie_module_files *files) {
    pie_elf_image_finish(&files->own);
    pie_elf_image_finish(&files->separate);
    pie_elf_image_finish(&files->mini);
    pie_elf_image_finish(&files->dwarf);
    pie_elf_image_finish(&files->alternate);
    pie_free(files->mini_bytes);
    files->mini_bytes = NULL;
}

/* Goes on to the next one. */
static int note_file(const char *path, void *data) {
    uint64_t *hash = data;
    struct stat status;

    if (stat(path, &status) < 0)
        status = (struct stat){0};
    *hash = pie_hash_mix(*hash, (uint64_t)status.st_size);
    *hash = pie_hash_mix(*hash, (uint64_t)status.st_mtim.tv_sec);
    *hash = pie_hash_mix(*hash, (uint64_t)status.st_mtim.tv_nsec);
    return -ENOENT;
}

static struct build_id id_of(const char *hex) {
    struct build_id id = {.length = 0};

    for (; hex && id.length < sizeof id.bytes; hex += 2)
        if (sscanf(hex, "%2hhx", &id.bytes[id.length]) == 1)
            id.length++;
        else
            break;
    return id;
}

uint64_t pie_module_files_separate(const struct pie_module_entry *entry, const char *link) {
    struct build_id id = id_of(entry->build_id);
    uint64_t hash = 0;

    (void)try_debug_files(entry->path, &id, link, note_file, &hash);
    return hash;
}
