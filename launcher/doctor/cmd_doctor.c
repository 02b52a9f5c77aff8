/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>

#include "launcher/answers/profile.h"
#include "launcher/command/command.h"
#include "launcher/doctor/output.h"
#include "launcher/doctor/own_python.h"
#include "launcher/text/messages.h"
#include "launcher/text/text.h"
#include "profiler/doctor/machine_facts.h"
#include "runtime/embed/aging.h"
#include "runtime/embed/embed.h"

static int parse(int argc, char **argv, bool *ret_json) {
    static const struct option names[] = {{"json", no_argument, NULL, 'j'}, {0}};
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option != 'j')
            return pie_command_bad_option(argc, argv);
        *ret_json = true;
    }
    return optind < argc ? pie_command_bad_words("it takes no \"%s\"", argv[optind]) : 0;
}

int pie_cmd_doctor(int argc, char **argv) {
    bool is_json = false;
    pie_text_set_locale();
    int status = parse(argc, argv, &is_json);
    if (status != 0)
        return status;
    struct pie_machine_facts facts;
    struct pie_doctor_findings findings;
    /* Some function of libpython, wherever that lies. */
    pie_machine_facts_gather(dlsym(RTLD_DEFAULT, "Py_GetVersion"), &facts);
    struct pie_build_facts build = *pie_build_facts();
    static struct pie_doctor_python own;
    char why[PATH_MAX];
    build.has_aged = pie_aging_describe(why, sizeof why);
    if (!pie_embed_has_python)
        pie_doctor_python_find(&own, &facts, &build);
    findings.has_python = !build.own || build.own->is_usable;
    findings.count = pie_probe_evaluate(&facts, &build, findings.probes, &findings.choice);
    int r = is_json ? pie_doctor_print_json(&findings, stdout) : pie_doctor_print_text(&findings, stdout);
    if (r < 0)
        pie_message_error("doctor: out of memory");
    status = r < 0 || !pie_doctor_has_time(&findings) ? PIE_PROFILE_FAILED : 0;
    return pie_profile_close_output(stdout, "the findings", status);
}
