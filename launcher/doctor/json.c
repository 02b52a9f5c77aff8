/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>

#include "launcher/doctor/output.h"

/* Keys and their meaning change only with the number. */
enum { JSON_SCHEMA = 1 };

/* "s?": null where there is none. */
static json_t *json_probe(const struct pie_probe *probe) {
    return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s?}", "id", probe->id, "name", probe->name, "status",
                     pie_probe_status_name(probe->status), "detail", probe->detail, "cost", probe->cost,
                     "remedy", probe->remedy);
}

int pie_doctor_print_json(const struct pie_doctor_findings *findings, FILE *out) {
    json_t *probes = json_array();
    int r = 0;
    for (size_t i = 0; i < findings->count && r == 0; i++)
        r = json_array_append_new(probes, json_probe(&findings->probes[i]));
    json_t *root = json_pack("{s:i, s:s, s:b, s:s, s:b, s:s, s:o}", "schema", JSON_SCHEMA, "pieprof",
                             PIEPROF_VERSION, "time_profile", pie_doctor_has_time(findings), "clock",
                             pie_clock_name(findings->choice.clock), "redundancy",
                             findings->has_python && findings->choice.accesses != PIE_ACCESS_NONE, "sampler",
                             pie_access_sampler_name(findings->choice.accesses), "probes", probes);
    if (!root || r < 0)
        r = -ENOMEM;
    if (r == 0 && json_dumpf(root, out, JSON_INDENT(2)) == 0)
        fputc('\n', out);
    json_decref(root);
    return r;
}
