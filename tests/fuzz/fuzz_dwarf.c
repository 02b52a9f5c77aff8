/* SPDX-License-Identifier: Apache-2.0 */

/* Debug information of a library: its units are opened, and where each of the first ranges begins, lies in the middle
 * and ends, functions, inlined calls and lines are looked for. Strings that come back are read. */

#include "profiler/symbols/dwarf_info.c"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANGES_LOOKED_AT = 16, FRAMES = 8 };

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    elf_version(EV_CURRENT);
    return 0;
}

static void read_text(const char *text) {
    if (text && strlen(text) == SIZE_MAX)
        abort();
}

static void find(struct pie_dwarf *dwarf, uint64_t vaddr) {
    struct pie_dwarf_frame frames[FRAMES];
    size_t count = pie_dwarf_find(dwarf, vaddr, frames, FRAMES);

    if (count > FRAMES)
        abort();
    for (size_t i = 0; i < count; i++) {
        read_text(frames[i].name);
        read_text(frames[i].file);
        read_text(frames[i].directory);
        if (frames[i].line < 0 || frames[i].first_line < 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct pie_elf_source source = {.fd = -1, .memory = data, .size = size};
    struct pie_elf_image image, none = {0};
    struct pie_dwarf *dwarf;

    if (pie_elf_image_read(&source, PIE_ELF_DWARF, 1 << 24, &image) < 0 ||
        pie_dwarf_open(&image, &none, &dwarf) < 0)
        return 0;
    for (size_t i = 0; i < dwarf->units.ranges.count && i < RANGES_LOOKED_AT; i++) {
        struct pie_dwarf_range range = dwarf->units.ranges.ranges[i];
        find(dwarf, range.start);
        find(dwarf, range.start + (range.end - range.start) / 2);
        find(dwarf, range.end - 1);
    }
    (void)pie_dwarf_size_bytes(dwarf);
    pie_dwarf_close(dwarf);
    return 0;
}
