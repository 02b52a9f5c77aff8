/* SPDX-License-Identifier: Apache-2.0 */

/* ELF files: sections are copied, symbols and the build-id read. */

#include "profiler/symbols/elf_image.h"
#include "profiler/symbols/symbol_table.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    elf_version(EV_CURRENT);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct pie_elf_source source = {.fd = -1, .memory = data, .size = size};
    struct pie_symbol_table_builder *builder;
    struct pie_symbol_table *table;
    struct pie_elf_image image;
    unsigned char id[PIE_BUILD_ID_MAX];

    if (pie_elf_image_read(&source, PIE_ELF_SYMTAB | PIE_ELF_DYNSYM | PIE_ELF_LINKS | PIE_ELF_DWARF, 1 << 24,
                           &image) < 0)
        return 0;
    pie_elf_image_build_id(&image, id);
    if (pie_symbol_table_builder_create(&builder) == 0) {
        pie_symbol_table_add_elf(builder, image.elf);
        if (pie_symbol_table_build(builder, &table) == 0) {
            pie_symbol_table_find(table, 0x1000);
            pie_symbol_table_destroy(table);
        }
        pie_symbol_table_builder_destroy(builder);
    }
    pie_elf_image_finish(&image);
    return 0;
}
