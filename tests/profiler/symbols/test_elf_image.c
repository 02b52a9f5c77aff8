/* SPDX-License-Identifier: Apache-2.0 */

/* Truncated, damaged and too large files: refused or read in part, never followed out of bounds. The sanitizers see
 * what this test does not. */

#include "profiler/symbols/dwarf_info.h"
#include "profiler/symbols/elf_image.h"
#include "profiler/symbols/minidebug.h"
#include "profiler/symbols/module_files.h"
#include "profiler/symbols/symbol_table.h"
#include "tests/profiler/symbols/fixture_modules.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ALL_PARTS = PIE_ELF_SYMTAB | PIE_ELF_DYNSYM | PIE_ELF_LINKS | PIE_ELF_DWARF };
static const uint64_t plenty = 64 * 1024 * 1024;

static unsigned char *read_fixture(const char *kind, struct pie_elf_source *ret_source) {
    char path[1024];
    fixture_path(kind, path, sizeof(path));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(size);
    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);
    *ret_source = (struct pie_elf_source){.fd = -1, .memory = bytes, .size = size};
    return bytes;
}

/* Uses all that a file offers. Returns whether it was taken for an ELF file. */
static bool use(const struct pie_elf_source *source) {
    struct pie_elf_image image = {0}, none = {0};
    if (pie_elf_image_read(source, ALL_PARTS, plenty, &image) < 0)
        return false;
    unsigned char id[PIE_BUILD_ID_MAX];
    (void)pie_elf_image_build_id(&image, id);
    struct pie_symbol_table_builder *builder;
    struct pie_symbol_table *table;
    assert_int_equal(pie_symbol_table_builder_create(&builder), 0);
    assert_int_equal(pie_symbol_table_add_elf(builder, image.elf), 0);
    assert_int_equal(pie_symbol_table_build(builder, &table), 0);
    pie_symbol_table_builder_destroy(builder);
    struct pie_dwarf *dwarf;
    bool has_dwarf = pie_dwarf_open(&image, &none, &dwarf) == 0;
    for (uint64_t address = 0; address < 0x3000; address += 7) {
        struct pie_dwarf_frame frames[8];
        (void)pie_symbol_table_find(table, address);
        if (has_dwarf)
            (void)pie_dwarf_find(dwarf, address, frames, 8);
    }
    if (has_dwarf)
        pie_dwarf_close(dwarf);
    pie_symbol_table_destroy(table);
    return true;
}

static void test_whole_file(void **state) {
    struct pie_elf_source source;
    unsigned char *bytes = read_fixture("debug", &source);
    assert_true(use(&source));
    struct pie_elf_image image;
    assert_int_equal(pie_elf_image_read(&source, PIE_ELF_LINKS, plenty, &image), 0);
    unsigned char id[PIE_BUILD_ID_MAX];
    assert_int_equal(pie_elf_image_build_id(&image, id), 20);
    assert_int_equal(image.dwarf_bytes, 0);
    Elf_Data *data;
    assert_null(pie_elf_section(image.elf, ".debug_info", &data));
    pie_elf_image_finish(&image);
    pie_elf_image_finish(&image);
    free(bytes);
}

static void test_limits(void **state) {
    struct pie_elf_source source;
    unsigned char *bytes = read_fixture("compressed", &source);
    struct pie_elf_image image;
    assert_int_equal(pie_elf_image_read(&source, ALL_PARTS, plenty, &image), 0);
    uint64_t unpacked = image.dwarf_bytes, packed = image.size;
    pie_elf_image_finish(&image);
    /* The limit is for what becomes of it in memory. */
    assert_int_equal(pie_elf_image_read(&source, ALL_PARTS, unpacked, &image), -EFBIG);
    assert_int_equal(pie_elf_image_read(&source, ALL_PARTS, packed + unpacked, &image), 0);
    pie_elf_image_finish(&image);
    assert_int_equal(pie_elf_image_read(&source, ALL_PARTS, 0, &image), -EFBIG);
    free(bytes);
}

/* What is not wanted is not missed, what is too large is. */
static void test_limits_of_a_module(void **state) {
    char path[1024];
    fixture_path("debug", path, sizeof(path));
    struct pie_elf_source source;
    unsigned char *bytes = read_fixture("debug", &source);
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof(header));
    struct pie_module_entry entry = {.path = path, .open_path = path, .phdr_count = header.e_phnum};
    entry.phdrs = (const Elf64_Phdr *)(bytes + header.e_phoff);
    static const struct {
        struct pie_module_files_limits limits;
        int own_error, dwarf_error;
    } table[] = {
        {{64 << 20, 64 << 20}, 0, 0},
        {{64 << 20, 1}, 0, -EFBIG},
        {{64 << 20, 0}, 0, -ENOENT},
        {{1, 64 << 20}, -EFBIG, -ENOENT},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct pie_module_files files;
        pie_module_files_read(&entry, &table[i].limits, &files);
        assert_int_equal(files.own_error, table[i].own_error);
        assert_int_equal(files.dwarf_error, table[i].dwarf_error);
        assert_int_equal(files.dwarf.dwarf_bytes > 0, table[i].dwarf_error == 0);
        pie_module_files_finish(&files);
    }
    entry.phdr_count--;
    struct pie_module_files files;
    pie_module_files_read(&entry, &table[0].limits, &files);
    assert_int_equal(files.own_error, -ESTALE);
    pie_module_files_finish(&files);
    free(bytes);
}

static void test_not_elf(void **state) {
    static const unsigned char text[256] = "#!/bin/sh\necho no ELF\n";
    struct pie_elf_source source = {.fd = -1, .memory = text, .size = sizeof(text)};
    struct pie_elf_image image;
    assert_int_equal(pie_elf_image_read(&source, ALL_PARTS, plenty, &image), -ENOEXEC);
    source.size = 0;
    assert_int_equal(pie_elf_image_read(&source, ALL_PARTS, plenty, &image), -ENOEXEC);
    assert_false(pie_elf_source_has_phdrs(&source, NULL, 0));
    source.fd = 10000;
    source.size = 100;
    assert_int_equal(pie_elf_image_read(&source, ALL_PARTS, plenty, &image), -EBADF);
}

static void test_truncated(void **state) {
    static const char *const kinds[] = {"debug", "compressed"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct pie_elf_source source;
        unsigned char *bytes = read_fixture(kinds[i], &source);
        /* A copy of its own for each length, so that a sanitizer sees a read beyond it. Section headers end the
         * file: without its end it is none. */
        uint64_t whole = source.size;
        for (uint64_t size = 0; size < whole; size += size < 256 ? 1 : 97) {
            unsigned char *copy = malloc(size + 1);
            memcpy(copy, bytes, size);
            struct pie_elf_source cut = {.fd = -1, .memory = copy, .size = size};
            assert_false(use(&cut));
            free(copy);
        }
        free(bytes);
    }
}

/* Damaged in one to eight places, headers more often than the rest. */
static void test_damaged(void **state) {
    static const char *const kinds[] = {"debug", "dwarf4", "compressed"};
    unsigned seed = 20261121;
    int taken = 0;
    for (int round = 0; round < 1500; round++) {
        struct pie_elf_source source;
        unsigned char *bytes = read_fixture(kinds[round % 3], &source);
        uint64_t sections;
        memcpy(&sections, bytes + 40, sizeof(sections));
        for (int damages = 1 + (int)(rand_r(&seed) % 8); damages > 0; damages--) {
            uint64_t where = (uint64_t)rand_r(&seed) % source.size;
            if (damages == 1 && round % 2)
                where = round % 4 == 1 ? (uint64_t)rand_r(&seed) % 64
                                       : sections + (uint64_t)rand_r(&seed) % (source.size - sections);
            bytes[where] = (unsigned char)(rand_r(&seed) % 3 ? rand_r(&seed) : 0xff);
        }
        taken += use(&source);
        free(bytes);
    }
    assert_in_range(taken, 500, 1500);
}

static void test_build_id_notes(void **state) {
    unsigned char id[PIE_BUILD_ID_MAX];
    struct {
        Elf64_Nhdr header;
        char name[4];
        unsigned char bytes[8];
    } note = {{4, 8, NT_GNU_BUILD_ID}, "GNU", {1, 2, 3, 4, 5, 6, 7, 8}};
    assert_int_equal(pie_elf_build_id(&note, sizeof(note), id), 8);
    assert_memory_equal(id, note.bytes, 8);
    for (size_t size = 0; size < sizeof(note); size++)
        assert_int_equal(pie_elf_build_id(&note, size, id), 0);
    note.header.n_type = 1;
    assert_int_equal(pie_elf_build_id(&note, sizeof(note), id), 0);
    note.header.n_type = NT_GNU_BUILD_ID;
    note.header.n_descsz = UINT32_MAX;
    assert_int_equal(pie_elf_build_id(&note, sizeof(note), id), 0);
    note.header.n_descsz = 8;
    note.header.n_namesz = UINT32_MAX - 1;
    assert_int_equal(pie_elf_build_id(&note, sizeof(note), id), 0);
}

static void test_damaged_minidebug(void **state) {
    static const unsigned char junk[64] = {0xfd, '7', 'z', 'X', 'Z', 0};
    void *bytes = NULL;
    size_t size;
    assert_true(pie_minidebug_unpack(junk, sizeof(junk), 1024, &bytes, &size) < 0);
    assert_true(pie_minidebug_unpack(junk, 0, 1024, &bytes, &size) < 0);
    assert_null(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_file),         cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limits_of_a_module), cmocka_unit_test(test_not_elf),
        cmocka_unit_test(test_truncated),          cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_build_id_notes),     cmocka_unit_test(test_damaged_minidebug),
    };
    return cmocka_run_group_tests_name("elf_image", tests, NULL, NULL);
}
