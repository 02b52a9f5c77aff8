/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/options/run_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char *value(const char *name) {
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

/* Open MPI 5 and others with PMIx; Slurm's srun of more than one task, which has its own PMIx name or none. */
static char *name_of_job(void) {
    const char *space = value("PMIX_NAMESPACE"), *job = value("SLURM_JOB_ID"), *step = value("SLURM_STEP_ID");
    const char *tasks = value("SLURM_STEP_NUM_TASKS");
    char *name = NULL;
    if (space && asprintf(&name, "job %s", space) < 0)
        return NULL;
    if (!space && job && step && tasks && atol(tasks) > 1 && asprintf(&name, "job %s.%s", job, step) < 0)
        return NULL;
    return name;
}

char *pie_run_name_make(bool is_job) {
    unsigned char bytes[16] = {0};
    char *name = is_job ? name_of_job() : NULL;
    if (name || getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes ||
        !(name = malloc(2 * sizeof bytes + 1)))
        return name;
    for (size_t i = 0; i < sizeof bytes; i++)
        sprintf(name + 2 * i, "%02x", bytes[i]);
    return name;
}
