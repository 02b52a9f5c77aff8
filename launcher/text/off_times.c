/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/text/off_times.h"

#include "storage/read/reader.h"

/* Told from here on: less is what every program has. */
static const double TOLD_MIN_S = 0.01;

void pie_off_times_print(FILE *out, struct pie_cursor *row, int column) {
    double runnable = pie_cursor_real(row, column + 2), throttled = pie_cursor_real(row, column + 3);

    fprintf(out, "%.2f s waiting", pie_cursor_real(row, column + 1));
    if (runnable >= TOLD_MIN_S)
        fprintf(out, ", %.2f s ready to run", runnable);
    if (throttled >= TOLD_MIN_S)
        fprintf(out, ", %.2f s throttled", throttled);
}
