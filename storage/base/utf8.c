/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/base/utf8.h"

#include <string.h>

/* The lowest and highest second byte after each kind of lead byte: The Unicode Standard, table 3-7. */
static size_t lead_length(unsigned char lead, unsigned char *ret_low, unsigned char *ret_high) {
    *ret_low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    *ret_high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead <= 0xdf)
        return 2;
    if (lead >= 0xe0 && lead <= 0xef)
        return 3;
    return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

size_t pie_utf8_sequence(const unsigned char *text, size_t size) {
    unsigned char low, high;
    if (size == 0)
        return 0;
    size_t length = lead_length(text[0], &low, &high);
    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (text[i] < low || text[i] > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

size_t pie_utf8_clean(char *out, const char *text, size_t size) {
    size_t written = 0;
    for (size_t i = 0; i < size;) {
        size_t length = pie_utf8_sequence((const unsigned char *)text + i, size - i);
        if (length > 0) {
            memcpy(out + written, text + i, length);
            written += length;
            i += length;
        } else {
            memcpy(out + written, "\xef\xbf\xbd", 3);
            written += 3;
            i++;
        }
    }
    return written;
}
