/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/formats/marshal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/utf8.h"

/* A letter for the type, and what follows is little endian (CPython, Python/marshal.c). */

enum { DIGIT_BITS = 15, DIGITS_MAX = 5 };

static void write_u32(FILE *out, uint32_t value) {
    uint32_t bytes = htole32(value);
    fwrite(&bytes, sizeof bytes, 1, out);
}

void pie_marshal_begin_tuple(FILE *out, uint32_t count) {
    fputc('(', out);
    write_u32(out, count);
}

void pie_marshal_begin_dict(FILE *out) {
    fputc('{', out);
}

void pie_marshal_end_dict(FILE *out) {
    fputc('0', out);
}

/* As digits of 15 bits if it has more than 32; the sign is that of their number. */
void pie_marshal_write_int(FILE *out, int64_t value) {
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    uint16_t digits[DIGITS_MAX];
    int32_t count = 0;
    if (value == (int32_t)value) {
        fputc('i', out);
        write_u32(out, (uint32_t)value);
        return;
    }
    for (; rest; rest >>= DIGIT_BITS)
        digits[count++] = htole16((uint16_t)(rest & ((1U << DIGIT_BITS) - 1)));
    fputc('l', out);
    write_u32(out, (uint32_t)(value < 0 ? -count : count));
    fwrite(digits, sizeof *digits, (size_t)count, out);
}

void pie_marshal_write_float(FILE *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = htole64(bits);
    fputc('g', out);
    fwrite(&bits, sizeof bits, 1, out);
}

void pie_marshal_write_text(FILE *out, const char *text) {
    size_t size = strlen(text);
    char *clean = malloc(3 * size + 1);
    size = clean ? pie_utf8_clean(clean, text, size) : 0;
    fputc('u', out);
    write_u32(out, (uint32_t)size);
    if (clean)
        fwrite(clean, 1, size, out);
    free(clean);
}
