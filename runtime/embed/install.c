/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/embed/install.h"

#include "profiler/base/real.h"
#include "profiler/collect/engine.h"
#include "runtime/code/registry.h"
#include "runtime/libc/exit.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/threads.h"
#include "runtime/retention/retention.h"

#include <errno.h>
#include <pthread.h>

static void fork_child(void) {
    pie_signals_fork_child();
    pie_exit_fork_child();
    pie_threads_fork_child();
    pie_retention_fork_child();
    pie_engine_fork_child();
}

int pie_runtime_install(void) {
    pie_real_init();
    pie_code_registry_install();
    int r = pie_signals_install(pie_runtime_pystack_ops());
    if (r < 0)
        return r;
    return -pthread_atfork(pie_engine_fork_prepare, pie_engine_fork_parent, fork_child);
}
