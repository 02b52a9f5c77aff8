/* SPDX-License-Identifier: Apache-2.0 */

/* An address leads to its unit, the unit's line table gives file and line of the instruction. The function's DIE holds
 * the inlined calls as a tree of DW_TAG_inlined_subroutine, in which the address leads down one path. The line of
 * each frame but the innermost is where the next inner one was called (DW_AT_call_file, DW_AT_call_line).
 *
 * libdw keeps a line table that it has read until the module is closed, at some 50 bytes a row. So a unit whose line
 * program is very long is refused, and so is each further one when all that were read are too much. Such addresses
 * keep their function names. */

#include "profiler/symbols/dwarf_info.h"
#include "profiler/base/dwarf_guard.h"
#include "profiler/symbols/dwarf_units.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_PROGRAM_BYTES_MAX = 4 * 1024 * 1024,
    LINES_BYTES_MAX = 64 * 1024 * 1024, /* of all units of a module */
    LINE_BYTES = 56,                    /* what libdw keeps for a row: the row and a pointer to it */
    INLINE_DEPTH_MAX = 64,
    BODY_ENTRIES_MAX = 20000, /* DIEs looked at for one address */
};

struct pie_dwarf {
    struct pie_elf_image image, alternate;
    Dwarf *dwarf, *alternate_dwarf;
    struct pie_dwarf_units units;
    Elf_Data *line_programs; /* .debug_line */
    uint64_t lines_bytes;
    uint64_t refused_units;
};

static int open_dwarf(struct pie_dwarf *dwarf) {
    dwarf->dwarf = dwarf_begin_elf(dwarf->image.elf, DWARF_C_READ, NULL);
    if (!dwarf->dwarf)
        return -ENOEXEC;
    if (dwarf->alternate.elf)
        dwarf->alternate_dwarf = dwarf_begin_elf(dwarf->alternate.elf, DWARF_C_READ, NULL);
    /* Without this, NULL included, libdw looks for the file itself and keeps its descriptor. */
    dwarf_setalt(dwarf->dwarf, dwarf->alternate_dwarf);
    pie_elf_section(dwarf->image.elf, ".debug_line", &dwarf->line_programs);
    return pie_dwarf_units_init(&dwarf->units, dwarf->dwarf);
}

struct opening {
    struct pie_dwarf *dwarf;
    int r;
};

static void open_guarded(void *data) {
    struct opening *opening = data;
    opening->r = open_dwarf(opening->dwarf);
}

/* libdw gave up: what it has of this module stays as it is, unused and not freed. */
static void abandon(struct pie_dwarf *dwarf) {
    dwarf->dwarf = dwarf->alternate_dwarf = NULL;
    dwarf->refused_units++;
}

int pie_dwarf_open(struct pie_elf_image *image, struct pie_elf_image *alternate,
                   struct pie_dwarf **ret_dwarf) {
    struct pie_dwarf *dwarf = calloc(1, sizeof(*dwarf));
    if (!dwarf) {
        pie_elf_image_finish(image);
        pie_elf_image_finish(alternate);
        return -ENOMEM;
    }
    dwarf->image = *image;
    dwarf->alternate = *alternate;
    *image = *alternate = (struct pie_elf_image){0};
    struct opening opening = {.dwarf = dwarf, .r = -ENOMEM};
    if (!pie_dwarf_guarded(open_guarded, &opening))
        abandon(dwarf);
    if (opening.r < 0) {
        pie_dwarf_close(dwarf);
        return opening.r;
    }
    *ret_dwarf = dwarf;
    return 0;
}

void pie_dwarf_close(struct pie_dwarf *dwarf) {
    if (!dwarf)
        return;
    pie_dwarf_units_finish(&dwarf->units);
    if (dwarf->dwarf)
        dwarf_end(dwarf->dwarf);
    if (dwarf->alternate_dwarf)
        dwarf_end(dwarf->alternate_dwarf);
    pie_elf_image_finish(&dwarf->image);
    pie_elf_image_finish(&dwarf->alternate);
    free(dwarf);
}

/* The length that the unit's line program claims; UINT64_MAX if it cannot be read. */
static uint64_t line_program_bytes(const struct pie_dwarf *dwarf, Dwarf_Die *unit_die) {
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    const Elf_Data *data = dwarf->line_programs;
    if (!data || !dwarf_attr(unit_die, DW_AT_stmt_list, &attribute) ||
        dwarf_formudata(&attribute, &offset) != 0 || offset > data->d_size || data->d_size - offset < 12)
        return UINT64_MAX;
    uint32_t length;
    uint64_t length_64;
    memcpy(&length, (const char *)data->d_buf + offset, sizeof(length));
    memcpy(&length_64, (const char *)data->d_buf + offset + sizeof(length), sizeof(length_64));
    return length == UINT32_MAX ? length_64 : length;
}

/* Makes libdw read the lines of a unit, once, within the limits. */
static bool has_lines(struct pie_dwarf *dwarf, struct pie_dwarf_unit *unit) {
    if (unit->has_lines || unit->is_refused)
        return unit->has_lines;
    Dwarf_Lines *lines;
    size_t count;
    if (line_program_bytes(dwarf, &unit->die) > LINE_PROGRAM_BYTES_MAX ||
        dwarf->lines_bytes > LINES_BYTES_MAX || dwarf_getsrclines(&unit->die, &lines, &count) != 0) {
        unit->is_refused = true;
        dwarf->refused_units++;
        return false;
    }
    unit->has_lines = true;
    dwarf->lines_bytes += (uint64_t)count * LINE_BYTES;
    return true;
}

static void set_line(struct pie_dwarf *dwarf, struct pie_dwarf_unit *unit, uint64_t vaddr,
                     struct pie_dwarf_frame *frame) {
    int line;
    Dwarf_Line *found = has_lines(dwarf, unit) ? dwarf_getsrc_die(&unit->die, vaddr) : NULL;
    if (!found)
        return;
    frame->file = dwarf_linesrc(found, NULL, NULL);
    if (dwarf_lineno(found, &line) == 0 && line > 0)
        frame->line = line;
}

static void set_call_site(struct pie_dwarf_unit *unit, Dwarf_Die *inlined, struct pie_dwarf_frame *caller) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (dwarf_attr(inlined, DW_AT_call_line, &attribute) && dwarf_formudata(&attribute, &value) == 0 &&
        value <= INT32_MAX)
        caller->line = (int32_t)value;
    Dwarf_Files *files;
    size_t count;
    if (unit->has_lines && dwarf_attr(inlined, DW_AT_call_file, &attribute) &&
        dwarf_formudata(&attribute, &value) == 0 && dwarf_getsrcfiles(&unit->die, &files, &count) == 0 &&
        value < count)
        caller->file = dwarf_filesrc(files, value, NULL, NULL);
}

static const char *linkage_name(Dwarf_Die *die) {
    static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        Dwarf_Attribute attribute;
        const char *name =
            dwarf_attr_integrate(die, names[i], &attribute) ? dwarf_formstring(&attribute) : NULL;
        if (name)
            return name;
    }
    return NULL;
}

static void set_function(Dwarf_Die *die, struct pie_dwarf_frame *frame) {
    int line;
    frame->name = linkage_name(die);
    if (!frame->name)
        frame->name = dwarf_diename(die);
    if (dwarf_decl_line(die, &line) == 0 && line > 0)
        frame->first_line = line;
}

/* Does the address lie in this part of a function's body? */
static bool is_on_path(Dwarf_Die *die, uint64_t vaddr) {
    switch (dwarf_tag(die)) {
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        return dwarf_haspc(die, vaddr) > 0;
    default:
        return false;
    }
}

/* The inlined calls that lead from the function's body to the address, outermost first. Returns their number. */
static size_t find_inlined(Dwarf_Die *function, uint64_t vaddr, Dwarf_Die inlined[INLINE_DEPTH_MAX]) {
    size_t count = 0;
    Dwarf_Die die;
    int more = dwarf_child(function, &die);
    for (size_t budget = BODY_ENTRIES_MAX; more == 0 && budget > 0 && count < INLINE_DEPTH_MAX; budget--) {
        if (!is_on_path(&die, vaddr)) {
            more = dwarf_siblingof(&die, &die);
            continue;
        }
        if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
            inlined[count++] = die;
        more = dwarf_child(&die, &die);
    }
    return count;
}

static const char *compilation_directory(struct pie_dwarf_unit *unit) {
    Dwarf_Attribute attribute;
    return dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static size_t find_in_unit(struct pie_dwarf *dwarf, struct pie_dwarf_unit *unit, uint64_t vaddr,
                           struct pie_dwarf_frame *ret_frames, size_t max) {
    Dwarf_Die inlined[INLINE_DEPTH_MAX];
    Dwarf_Die *function = pie_dwarf_unit_function(unit, vaddr);
    size_t depth = function ? find_inlined(function, vaddr, inlined) : 0;

    struct pie_dwarf_frame frame = {0};
    set_line(dwarf, unit, vaddr, &frame);
    size_t count = 0;
    for (size_t i = depth; i-- > 0;) {
        set_function(&inlined[i], &frame);
        if (count + 1 < max)
            ret_frames[count++] = frame;
        frame = (struct pie_dwarf_frame){0};
        set_call_site(unit, &inlined[i], &frame);
    }
    if (function)
        set_function(function, &frame);
    ret_frames[count++] = frame;
    const char *directory = compilation_directory(unit);
    for (size_t i = 0; i < count; i++)
        ret_frames[i].directory = directory;
    return count;
}

struct finding {
    struct pie_dwarf *dwarf;
    struct pie_dwarf_unit *unit;
    uint64_t vaddr;
    struct pie_dwarf_frame *frames;
    size_t max, count;
};

static void find_guarded(void *data) {
    struct finding *finding = data;
    finding->count =
        find_in_unit(finding->dwarf, finding->unit, finding->vaddr, finding->frames, finding->max);
}

size_t pie_dwarf_find(struct pie_dwarf *dwarf, uint64_t vaddr, struct pie_dwarf_frame *ret_frames,
                      size_t max) {
    struct finding finding = {.dwarf = dwarf, .vaddr = vaddr, .frames = ret_frames, .max = max};
    if (max > 0 && dwarf->dwarf)
        finding.unit = pie_dwarf_units_find(&dwarf->units, vaddr);
    if (!finding.unit)
        return 0;
    if (!pie_dwarf_guarded(find_guarded, &finding)) {
        abandon(dwarf);
        ret_frames[0] = (struct pie_dwarf_frame){0};
        return 0;
    }
    return finding.count;
}

uint64_t pie_dwarf_size_bytes(const struct pie_dwarf *dwarf) {
    return dwarf->image.dwarf_bytes + dwarf->alternate.dwarf_bytes + dwarf->lines_bytes +
           dwarf->units.count * sizeof(*dwarf->units.units) +
           dwarf->units.ranges.count * sizeof(*dwarf->units.ranges.ranges);
}

uint64_t pie_dwarf_refused_units(const struct pie_dwarf *dwarf) {
    return dwarf->refused_units;
}
