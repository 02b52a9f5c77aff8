/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/process/environment.h"

#include "profiler/base/proc_file.h"
#include "profiler/ports/facts.h"
#include "profiler/ports/sink.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static int put_cpu(struct pie_sink *sink) {
    char text[4096], value[256];

    if (pie_proc_read("/proc/cpuinfo", text, sizeof text) <= 0 ||
        pie_proc_field(text, "model name", value, sizeof value) < 0)
        return 0;
    const char *model = value + strspn(value, ": \t");
    return sink->ops->put_environment(sink, "cpu", model);
}

static int put_number(struct pie_sink *sink, const char *key, long number) {
    char text[32];

    snprintf(text, sizeof text, "%ld", number);
    return sink->ops->put_environment(sink, key, text);
}

int pie_environment_put(struct pie_sink *sink, const struct pie_process_facts *facts) {
    struct utsname uname_facts;
    char text[512];
    int r = sink->ops->put_environment(sink, "pieprof_version", PIEPROF_VERSION);

    if (r == 0 && facts->python_version)
        r = sink->ops->put_environment(sink, "python_version", facts->python_version);
    if (r == 0 && uname(&uname_facts) == 0) {
        snprintf(text, sizeof text, "%s %s", uname_facts.sysname, uname_facts.machine);
        r = sink->ops->put_environment(sink, "platform", text);
        if (r == 0)
            r = sink->ops->put_environment(sink, "kernel", uname_facts.release);
        if (r == 0)
            r = sink->ops->put_environment(sink, "host", uname_facts.nodename);
    }
    if (r == 0)
        r = sink->ops->put_environment(sink, "libc", gnu_get_libc_version());
    if (r == 0)
        r = put_number(sink, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
    return r == 0 ? put_cpu(sink) : r;
}
