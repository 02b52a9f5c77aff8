/* SPDX-License-Identifier: Apache-2.0 */

/* libelf and libdw can work on a mapped file, but a mapping kept for the life of the program raises SIGBUS
 * when the file is truncated, which programs do to libraries that they have unloaded. So a new, smaller file
 * is put together in memory: the ELF header, all section headers (indexes in symbols stay valid) and the
 * contents of the wanted sections; the others become SHT_NOBITS. Every number read from the file is checked
 * before it is used. */

#include "profiler/symbols/elf_image.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECTIONS_MAX = 0x40000, NAMES_BYTES_MAX = 16 * 1024 * 1024, SECTION_ALIGNMENT = 16 };

struct layout {
    Elf64_Ehdr ehdr;
    Elf64_Shdr *sections;
    size_t section_count;
    size_t names_index;
    char *names; /* of the sections, terminated */
    size_t names_size;
    bool *wanted;
    size_t left_names; /* section of names that stay in the file; 0: none */
    uint64_t dwarf_bytes;
};

int pie_elf_source_read(const struct pie_elf_source *source, uint64_t offset, void *ret_bytes, size_t size) {
    if (offset > source->size || size > source->size - offset)
        return -ENOEXEC;
    if (source->fd < 0) {
        memcpy(ret_bytes, source->memory + offset, size);
        return 0;
    }
    unsigned char *bytes = ret_bytes;
    while (size > 0) {
        ssize_t n = pread(source->fd, bytes, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return -ENOEXEC;
        bytes += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static int read_header(const struct pie_elf_source *source, Elf64_Ehdr *ret_ehdr) {
    int r = pie_elf_source_read(source, 0, ret_ehdr, sizeof(*ret_ehdr));
    if (r < 0)
        return r;
    if (memcmp(ret_ehdr->e_ident, ELFMAG, SELFMAG) != 0 || ret_ehdr->e_ident[EI_CLASS] != ELFCLASS64 ||
        ret_ehdr->e_ident[EI_DATA] != ELFDATA2LSB || ret_ehdr->e_machine != EM_X86_64)
        return -ENOEXEC;
    return 0;
}

bool pie_elf_source_has_phdrs(const struct pie_elf_source *source, const Elf64_Phdr *phdrs, size_t count) {
    Elf64_Ehdr ehdr;
    if (read_header(source, &ehdr) < 0 || ehdr.e_phnum != count || ehdr.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    for (size_t i = 0; i < count; i++) {
        Elf64_Phdr phdr;
        if (pie_elf_source_read(source, ehdr.e_phoff + i * sizeof(phdr), &phdr, sizeof(phdr)) < 0 ||
            memcmp(&phdr, &phdrs[i], sizeof(phdr)) != 0)
            return false;
    }
    return true;
}

static void finish_layout(struct layout *layout) {
    free(layout->sections);
    free(layout->names);
    free(layout->wanted);
}

static int read_names(const struct pie_elf_source *source, struct layout *layout) {
    const Elf64_Shdr *section = &layout->sections[layout->names_index];
    if (section->sh_type != SHT_STRTAB || section->sh_size > NAMES_BYTES_MAX)
        return -ENOEXEC;
    layout->names_size = section->sh_size;
    layout->names = malloc(layout->names_size + 1);
    if (!layout->names)
        return -ENOMEM;
    layout->names[layout->names_size] = '\0';
    return pie_elf_source_read(source, section->sh_offset, layout->names, layout->names_size);
}

/* Section counts and indexes above 0xff00 are kept in the first section header. */
static int read_sections(const struct pie_elf_source *source, struct layout *layout) {
    const Elf64_Ehdr *ehdr = &layout->ehdr;
    Elf64_Shdr first;
    if (ehdr->e_shoff == 0 || ehdr->e_shentsize != sizeof(Elf64_Shdr))
        return -ENOEXEC;
    int r = pie_elf_source_read(source, ehdr->e_shoff, &first, sizeof(first));
    if (r < 0)
        return r;
    uint64_t count = ehdr->e_shnum ? ehdr->e_shnum : first.sh_size;
    layout->names_index = ehdr->e_shstrndx == SHN_XINDEX ? first.sh_link : ehdr->e_shstrndx;
    if (count == 0 || count > SECTIONS_MAX || layout->names_index >= count)
        return -ENOEXEC;
    layout->section_count = (size_t)count;
    layout->sections = malloc(count * sizeof(*layout->sections));
    layout->wanted = calloc(count, sizeof(*layout->wanted));
    if (!layout->sections || !layout->wanted)
        return -ENOMEM;
    r = pie_elf_source_read(source, ehdr->e_shoff, layout->sections, count * sizeof(*layout->sections));
    return r < 0 ? r : read_names(source, layout);
}

static const char *section_name(const struct layout *layout, size_t index) {
    uint32_t name = layout->sections[index].sh_name;
    return name < layout->names_size ? layout->names + name : "";
}

static bool is_listed(const char *name, const char *const *list) {
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static bool is_wanted(const struct layout *layout, size_t index, unsigned parts) {
    static const char *const link_names[] = {".gnu_debuglink", ".gnu_debugaltlink", ".gnu_debugdata", NULL};
    static const char *const dwarf_names[] = {
        ".debug_info",     ".debug_abbrev", ".debug_line", ".debug_str",         ".debug_line_str",
        ".debug_rnglists", ".debug_ranges", ".debug_addr", ".debug_str_offsets", NULL};
    const char *name = section_name(layout, index);
    switch (layout->sections[index].sh_type) {
    case SHT_SYMTAB:
        return parts & PIE_ELF_SYMTAB;
    case SHT_DYNSYM:
        return parts & PIE_ELF_DYNSYM;
    case SHT_NOTE:
        return parts & PIE_ELF_LINKS;
    case SHT_NOBITS:
        return false;
    default:
        return ((parts & PIE_ELF_LINKS) && is_listed(name, link_names)) ||
               ((parts & PIE_ELF_DWARF) && is_listed(name, dwarf_names));
    }
}

/* Names of a symbol table that are many and not those of the sections. Some libraries have 35 MB of them, and a profile
 * names a few hundred. */
static bool leaves_names(const struct layout *layout, const Elf64_Shdr *symbols, unsigned parts) {
    return (parts & PIE_ELF_FEW_NAMES) && symbols->sh_type == SHT_SYMTAB &&
           symbols->sh_link != layout->names_index &&
           layout->sections[symbols->sh_link].sh_size > PIE_ELF_NAMES_BYTES;
}

static void choose_sections(struct layout *layout, unsigned parts) {
    layout->wanted[layout->names_index] = true;
    for (size_t i = 1; i < layout->section_count; i++) {
        const Elf64_Shdr *section = &layout->sections[i];
        if (!is_wanted(layout, i, parts))
            continue;
        layout->wanted[i] = true;
        bool has_strings = section->sh_type == SHT_SYMTAB || section->sh_type == SHT_DYNSYM;
        if (!has_strings || section->sh_link >= layout->section_count ||
            layout->sections[section->sh_link].sh_type != SHT_STRTAB)
            continue;
        if (leaves_names(layout, section, parts))
            layout->left_names = section->sh_link;
        else
            layout->wanted[section->sh_link] = true;
    }
}

/* What libdw will hold in memory for a section. A damaged compression header counts as it is; libelf refuses
 * it. */
static uint64_t loaded_bytes(const struct pie_elf_source *source, const Elf64_Shdr *section) {
    Elf64_Chdr chdr;
    if (!(section->sh_flags & SHF_COMPRESSED) ||
        pie_elf_source_read(source, section->sh_offset, &chdr, sizeof(chdr)) < 0)
        return section->sh_size;
    return chdr.ch_size > section->sh_size ? chdr.ch_size : section->sh_size;
}

/* Gives each wanted section its place in the image and adds up the sizes. Returns 0, -ENOEXEC or -EFBIG. */
static int place_sections(const struct pie_elf_source *source, struct layout *layout, uint64_t max_bytes,
                          size_t *ret_size) {
    uint64_t size = sizeof(Elf64_Ehdr) + layout->section_count * sizeof(Elf64_Shdr);
    uint64_t loaded = size;
    for (size_t i = 0; i < layout->section_count; i++) {
        const Elf64_Shdr *section = &layout->sections[i];
        if (!layout->wanted[i])
            continue;
        if (section->sh_offset > source->size || section->sh_size > source->size - section->sh_offset)
            return -ENOEXEC;
        uint64_t bytes = loaded_bytes(source, section);
        if (bytes > max_bytes || loaded > max_bytes - bytes)
            return -EFBIG;
        loaded += bytes;
        if (strncmp(section_name(layout, i), ".debug_", 7) == 0)
            layout->dwarf_bytes += bytes;
        size = (size + SECTION_ALIGNMENT - 1) / SECTION_ALIGNMENT * SECTION_ALIGNMENT + section->sh_size;
    }
    *ret_size = (size_t)size;
    return 0;
}

static int copy_sections(const struct pie_elf_source *source, const struct layout *layout,
                         unsigned char *image) {
    Elf64_Ehdr ehdr = layout->ehdr;
    ehdr.e_shoff = sizeof(ehdr);
    ehdr.e_phoff = 0;
    ehdr.e_phnum = 0;
    memcpy(image, &ehdr, sizeof(ehdr));
    Elf64_Shdr *sections = (Elf64_Shdr *)(image + sizeof(ehdr));
    memcpy(sections, layout->sections, layout->section_count * sizeof(*sections));
    size_t offset = sizeof(ehdr) + layout->section_count * sizeof(*sections);
    for (size_t i = 0; i < layout->section_count; i++) {
        if (!layout->wanted[i]) {
            if (sections[i].sh_type != SHT_NULL)
                sections[i].sh_type = SHT_NOBITS;
            continue;
        }
        offset = (offset + SECTION_ALIGNMENT - 1) / SECTION_ALIGNMENT * SECTION_ALIGNMENT;
        int r = pie_elf_source_read(source, sections[i].sh_offset, image + offset, sections[i].sh_size);
        if (r < 0)
            return r;
        sections[i].sh_offset = offset;
        offset += sections[i].sh_size;
    }
    return 0;
}

static void note_left_names(const struct pie_elf_source *source, const struct layout *layout,
                            struct pie_elf_image *image) {
    const Elf64_Shdr *names = &layout->sections[layout->left_names];
    if (layout->left_names == 0 || layout->wanted[layout->left_names] || names->sh_offset > source->size ||
        names->sh_size > source->size - names->sh_offset)
        return;
    image->left_offset = names->sh_offset;
    image->left_bytes = names->sh_size;
}

static int open_image(const struct pie_elf_source *source, const struct layout *layout, size_t size,
                      struct pie_elf_image *ret_image) {
    /* Mapped, not malloc'ed: given back to the system whole, and no part of the program's heap. */
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    int r = copy_sections(source, layout, memory);
    if (r == 0) {
        elf_version(EV_CURRENT);
        Elf *elf = elf_memory(memory, size);
        if (elf) {
            *ret_image = (struct pie_elf_image){
                .elf = elf, .memory = memory, .size = size, .dwarf_bytes = layout->dwarf_bytes};
            note_left_names(source, layout, ret_image);
            return 0;
        }
        r = -ENOEXEC;
    }
    munmap(memory, size);
    return r;
}

int pie_elf_image_read(const struct pie_elf_source *source, unsigned parts, uint64_t max_bytes,
                       struct pie_elf_image *ret_image) {
    struct layout layout = {0};
    size_t size = 0;
    int r = read_header(source, &layout.ehdr);
    if (r == 0)
        r = read_sections(source, &layout);
    if (r == 0) {
        choose_sections(&layout, parts);
        r = place_sections(source, &layout, max_bytes, &size);
    }
    if (r == 0)
        r = open_image(source, &layout, size, ret_image);
    finish_layout(&layout);
    return r;
}

void pie_elf_image_finish(struct pie_elf_image *image) {
    if (!image->elf)
        return;
    elf_end(image->elf);
    munmap(image->memory, image->size);
    *image = (struct pie_elf_image){0};
}

Elf_Scn *pie_elf_section(Elf *elf, const char *name, Elf_Data **ret_data) {
    size_t names_index;
    if (elf_getshdrstrndx(elf, &names_index) < 0)
        return NULL;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char *found = elf_strptr(elf, names_index, header.sh_name);
        if (!found || strcmp(found, name) != 0)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        if (!data || !data->d_buf)
            return NULL;
        *ret_data = data;
        return section;
    }
    return NULL;
}

size_t pie_elf_build_id(const void *notes, size_t size, unsigned char ret_id[PIE_BUILD_ID_MAX]) {
    const unsigned char *bytes = notes;
    size_t offset = 0;
    Elf64_Nhdr note;
    while (size - offset >= sizeof(note)) {
        memcpy(&note, bytes + offset, sizeof(note));
        offset += sizeof(note);
        uint64_t name_size = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
        uint64_t id_size = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
        if (name_size > size - offset || id_size > size - offset - name_size)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") && note.n_descsz > 0 &&
            note.n_descsz <= PIE_BUILD_ID_MAX && memcmp(bytes + offset, "GNU", sizeof("GNU")) == 0) {
            memcpy(ret_id, bytes + offset + name_size, note.n_descsz);
            return note.n_descsz;
        }
        offset += (size_t)(name_size + id_size);
    }
    return 0;
}

size_t pie_elf_image_build_id(const struct pie_elf_image *image, unsigned char ret_id[PIE_BUILD_ID_MAX]) {
    for (Elf_Scn *section = elf_nextscn(image->elf, NULL); section;
         section = elf_nextscn(image->elf, section)) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        size_t length = data && data->d_buf ? pie_elf_build_id(data->d_buf, data->d_size, ret_id) : 0;
        if (length)
            return length;
    }
    return 0;
}
