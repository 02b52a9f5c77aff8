/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/text/text.h"

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "storage/base/utf8.h"

static const char ELLIPSIS[] = "\xe2\x80\xa6";
static const char NEW_LINE[] = "\xe2\x86\xb5"; /* a downwards arrow with a corner leftwards */

static bool is_locale_due;

void pie_text_set_locale(void) {
    is_locale_due = true;
}

static void load_locale(void) {
    if (!is_locale_due)
        return;
    is_locale_due = false;
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        setlocale(LC_CTYPE, "C.UTF-8");
}

static uint32_t decode(const unsigned char *text, size_t length) {
    static const unsigned char lead_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t character = text[0] & lead_mask[length];
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (text[i] & 0x3f);
    return character;
}

/* C0 and C1 controls, line separators, and the marks that turn the direction of text around. */
static bool is_steering(uint32_t character) {
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x2028 ||
           character == 0x2029 || (character >= 0x200e && character <= 0x200f) ||
           (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

char *pie_text_printable(const char *text) {
    size_t size = strlen(text), written = 0;
    char *out = malloc(3 * size + 1);
    for (size_t i = 0; out && i < size;) {
        size_t length = pie_utf8_sequence((const unsigned char *)text + i, size - i);
        if (length > 0 && !is_steering(decode((const unsigned char *)text + i, length))) {
            memcpy(out + written, text + i, length);
            written += length;
        } else if (text[i] == '\t') {
            out[written++] = ' ';
        } else if (text[i] == '\n') {
            memcpy(out + written, NEW_LINE, 3);
            written += 3;
        } else {
            memcpy(out + written, "\xef\xbf\xbd", 3);
            written += 3;
        }
        i += length ? length : 1;
    }
    if (out)
        out[written] = 0;
    return out;
}

/* Of one character; the C library's table where the locale has one. */
static size_t character_width(const unsigned char *text, size_t length) {
    if (length == 1)
        return 1;
    load_locale();
    int width = wcwidth((wchar_t)decode(text, length));
    return width < 0 ? 1 : (size_t)width;
}

/* Bytes of the longest beginning that takes at most `width` columns. */
static size_t fitting(const char *text, size_t width) {
    size_t size = strlen(text), used = 0, i = 0;
    while (i < size) {
        size_t length = pie_utf8_sequence((const unsigned char *)text + i, size - i);
        size_t columns = length ? character_width((const unsigned char *)text + i, length) : 1;
        if (used + columns > width)
            break;
        used += columns;
        i += length ? length : 1;
    }
    return i;
}

size_t pie_text_width(const char *text) {
    size_t size = strlen(text), width = 0;
    for (size_t i = 0; i < size;) {
        size_t length = pie_utf8_sequence((const unsigned char *)text + i, size - i);
        width += length ? character_width((const unsigned char *)text + i, length) : 1;
        i += length ? length : 1;
    }
    return width;
}

char *pie_text_cut_end(const char *text, size_t width) {
    char *out;
    if (pie_text_width(text) <= width)
        return strdup(text);
    int size = (int)fitting(text, width > 0 ? width - 1 : 0);
    return asprintf(&out, "%.*s%s", size, text, width > 0 ? ELLIPSIS : "") < 0 ? NULL : out;
}

char *pie_text_cut_start(const char *text, size_t width) {
    char *out;
    size_t whole = pie_text_width(text);
    if (whole <= width)
        return strdup(text);
    const char *rest = text + fitting(text, whole - (width > 0 ? width - 1 : 0));
    while (*rest && pie_text_width(rest) >= width) { /* a wide character stood at the cut */
        size_t length = pie_utf8_sequence((const unsigned char *)rest, strlen(rest));
        rest += length ? length : 1;
    }
    return asprintf(&out, "%s%s", width > 0 ? ELLIPSIS : "", rest) < 0 ? NULL : out;
}

/* What would be rounded up to four digits gets the next unit. */
void pie_text_bytes(double bytes, char buffer[PIE_TEXT_BYTES_SIZE]) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = bytes < 0 ? -bytes : bytes;
    size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1000;
    int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(buffer, PIE_TEXT_BYTES_SIZE, "%s%.*f %s", bytes < 0 ? "-" : "", digits, value, units[unit]);
}

void pie_text_seconds(double seconds, char buffer[PIE_TEXT_SECONDS_SIZE]) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = 1e9 * (seconds < 0 ? -seconds : seconds);
    size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1000;
    int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(buffer, PIE_TEXT_SECONDS_SIZE, "%s%.*f %s", seconds < 0 ? "-" : "", digits, value, units[unit]);
}

/* To whole seconds or minutes, downwards, as a clock shows them. */
void pie_text_elapsed(double seconds, int digits, char buffer[PIE_TEXT_SECONDS_SIZE]) {
    double minutes = floor(seconds / 60), hours = floor(seconds / 3600);
    if (seconds < 99.995)
        snprintf(buffer, PIE_TEXT_SECONDS_SIZE, "%.*f s", digits, seconds);
    else if (seconds < 3600)
        snprintf(buffer, PIE_TEXT_SECONDS_SIZE, "%.0f:%02.0f min", minutes, floor(seconds) - 60 * minutes);
    else
        snprintf(buffer, PIE_TEXT_SECONDS_SIZE, "%.0f:%02.0f h", hours, minutes - 60 * hours);
}

const char *pie_text_short_path(const char *path) {
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder))
        return path;
    size_t size = strlen(folder);
    return size > 1 && strncmp(path, folder, size) == 0 && path[size] == '/' ? path + size + 1 : path;
}

size_t pie_text_columns(FILE *out) {
    struct winsize window;
    const char *columns = getenv("COLUMNS");
    if (columns && atoi(columns) > 0)
        return (size_t)atoi(columns);
    if (ioctl(fileno(out), TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
        return window.ws_col;
    return 0;
}

/* https://no-color.org and https://force-color.org */
bool pie_text_is_colourful(FILE *out) {
    const char *no = getenv("NO_COLOR"), *force = getenv("FORCE_COLOR"), *terminal = getenv("TERM");
    if (no && *no)
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return isatty(fileno(out)) && terminal && strcmp(terminal, "dumb") != 0;
}
