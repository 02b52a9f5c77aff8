/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/output.h"

#include <string.h>

static const struct pie_output outputs[] = {
    {"table", true, pie_table_print},
    {"json", false, pie_json_print},
    {"csv", false, pie_csv_print},
};

const struct pie_output *pie_output_find(const char *name) {
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        if (strcmp(outputs[i].name, name) == 0)
            return &outputs[i];
    }
    return NULL;
}
