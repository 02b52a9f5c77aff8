/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/embed/aging.h"

#include "runtime/embed/embed.h"
#include "runtime/interpreter/replaced.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Linkers put program headers and notes at the beginning. */
enum { HEAD_BYTES = 4096, ID_MAX = 64 };

static size_t padded(size_t size) {
    return (size + 3) & ~(size_t)3;
}

/* The GNU build-id among notes, in hexadecimal. */
static bool find_id(const unsigned char *notes, size_t size, char text[2 * ID_MAX + 1]) {
    Elf64_Nhdr note;

    for (size_t at = 0; at + sizeof note <= size;) {
        memcpy(&note, notes + at, sizeof note);
        size_t name = at + sizeof note, id = name + padded(note.n_namesz);
        if (id > size || note.n_descsz > size - id)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0 &&
            note.n_descsz <= ID_MAX) {
            for (size_t i = 0; i < note.n_descsz; i++)
                sprintf(text + 2 * i, "%02x", notes[id + i]);
            return note.n_descsz > 0;
        }
        at = id + padded(note.n_descsz);
    }
    return false;
}

static bool read_id(const unsigned char *head, size_t size, char text[2 * ID_MAX + 1]) {
    Elf64_Ehdr header;
    Elf64_Phdr segment;

    if (size < sizeof header)
        return false;
    memcpy(&header, head, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof segment)
        return false;
    for (size_t i = 0; i < header.e_phnum; i++) {
        uint64_t at = header.e_phoff + i * sizeof segment;
        if (at > size || size - at < sizeof segment)
            return false;
        memcpy(&segment, head + at, sizeof segment);
        if (segment.p_type == PT_NOTE && segment.p_offset < size &&
            segment.p_filesz <= size - segment.p_offset &&
            find_id(head + segment.p_offset, segment.p_filesz, text))
            return true;
    }
    return false;
}

bool pie_aging_is_other(const char *path, const char *build_id) {
    unsigned char head[HEAD_BYTES];
    char text[2 * ID_MAX + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return false;
    ssize_t size = pread(fd, head, sizeof head, 0);
    close(fd);
    return size > 0 && read_id(head, (size_t)size, text) && strcmp(text, build_id) != 0;
}

/* A pieprof that stands in the interpreter's place is not it. */
bool pie_aging_describe(char *text, size_t size) {
    struct pie_replaced kept;

    if (!*PIE_PYTHON_BUILD_ID || strcmp(pie_embed_linkage(), "static") != 0 ||
        pie_replaced_follow(PIE_PYTHON, &kept) < 0 ||
        !pie_aging_is_other(kept.content, PIE_PYTHON_BUILD_ID) || pie_replaced_is_pieprof(kept.content))
        return false;
    snprintf(text, size,
             "%s is another build now than the one that this pieprof contains (%s): it may lack fixes; build "
             "pieprof "
             "again",
             PIE_PYTHON, pie_embed_python_build());
    return true;
}
