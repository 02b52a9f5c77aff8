/* SPDX-License-Identifier: Apache-2.0 */

/* Units that share one list of ranges, each of which the linker has dropped: the time to read them grows with the
 * square of the file's size, so it is limited. */

#include "profiler/symbols/dwarf_info.h"
#include "profiler/symbols/elf_image.h"

#include <dwarf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { UNIT_BYTES = 16, SECTIONS = 5 };

static const char names[] = "\0.debug_abbrev\0.debug_ranges\0.debug_info\0.shstrtab";
static const unsigned char abbreviations[] = {
    1, DW_TAG_compile_unit, 0, DW_AT_ranges, DW_FORM_sec_offset, 0, 0, 0};

struct file {
    unsigned char *bytes;
    size_t size;
};

static uint64_t append(struct file *file, const void *bytes, size_t size) {
    uint64_t at = file->size;

    file->bytes = realloc(file->bytes, file->size + size);
    assert_non_null(file->bytes);
    memcpy(file->bytes + at, bytes, size);
    file->size += size;
    return at;
}

static Elf64_Shdr section(const char *name, uint32_t type, uint64_t at, uint64_t end) {
    const char *found = memmem(names, sizeof names, name, strlen(name) + 1);

    return (Elf64_Shdr){.sh_name = (uint32_t)(found - names),
                        .sh_type = type,
                        .sh_offset = at,
                        .sh_size = end - at,
                        .sh_addralign = 1};
}

/* `count` units, and as many entries in the list. */
static struct file make_file(uint32_t count) {
    static const uint64_t dropped[2] = {1, 2}, end[2] = {0};
    static const unsigned char unit[UNIT_BYTES] = {UNIT_BYTES - 4, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1};
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_DYN,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = SECTIONS,
                         .e_shstrndx = SECTIONS - 1};
    struct file file = {0};

    append(&file, &header, sizeof header);
    uint64_t abbreviations_at = append(&file, abbreviations, sizeof abbreviations), ranges_at = file.size;
    for (uint32_t i = 0; i < count; i++)
        append(&file, dropped, sizeof dropped);
    append(&file, end, sizeof end);
    uint64_t units_at = file.size;
    for (uint32_t i = 0; i < count; i++)
        append(&file, unit, sizeof unit);
    uint64_t names_at = append(&file, names, sizeof names);
    const Elf64_Shdr sections[SECTIONS] = {
        {0},
        section(".debug_abbrev", SHT_PROGBITS, abbreviations_at, ranges_at),
        section(".debug_ranges", SHT_PROGBITS, ranges_at, units_at),
        section(".debug_info", SHT_PROGBITS, units_at, names_at),
        section(".shstrtab", SHT_STRTAB, names_at, file.size),
    };
    header.e_shoff = append(&file, sections, sizeof sections);
    memcpy(file.bytes, &header, sizeof header);
    return file;
}

static int open_file(uint32_t count) {
    struct file file = make_file(count);
    const struct pie_elf_source source = {.fd = -1, .memory = file.bytes, .size = file.size};
    struct pie_elf_image image, none = {0};
    struct pie_dwarf *dwarf;

    assert_int_equal(pie_elf_image_read(&source, PIE_ELF_DWARF, 1 << 24, &image), 0);
    assert_true(image.dwarf_bytes > 0);
    int r = pie_dwarf_open(&image, &none, &dwarf);
    if (r == 0)
        pie_dwarf_close(dwarf);
    free(file.bytes);
    return r;
}

static void test_a_shared_list_is_read_for_each_unit_up_to_a_limit(void **state) {
    assert_int_equal(open_file(2000), 0);
    assert_int_equal(open_file(3999), 0);
    assert_int_equal(open_file(4001), -ENOEXEC);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_shared_list_is_read_for_each_unit_up_to_a_limit),
    };
    elf_version(EV_CURRENT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
