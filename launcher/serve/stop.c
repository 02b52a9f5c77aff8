/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/serve/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "storage/read/reader.h"

static volatile sig_atomic_t is_wanted;
static _Atomic(struct pie_reader *) watched;
static int event = -1;

/* A query looks at its end every few thousand steps (storage/file/guard.c). The end is a number that is set here, on
 * the thread that the query runs on, and the clock may be read in a handler. */
static void on_signal(int number) {
    const uint64_t one = 1;
    int error = errno;
    struct pie_reader *reader = atomic_load(&watched);
    is_wanted = 1;
    if (reader)
        pie_reader_end_in(reader, 1e-9);
    if (write(event, &one, sizeof one) < 0)
        is_wanted = 1; /* it can be read from already */
    errno = error;
}

int pie_stop_init(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0)
        return -errno;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before, ours = {.sa_handler = on_signal};
        sigaction(signals[i], NULL, &before);
        if (before.sa_handler != SIG_IGN || signals[i] == SIGTERM) /* nohup */
            sigaction(signals[i], &ours, NULL);
    }
    return event;
}

bool pie_stop_is_wanted(void) {
    return is_wanted;
}

void pie_stop_watch(struct pie_reader *reader) {
    atomic_store(&watched, reader);
    if (reader && is_wanted)
        pie_reader_end_in(reader, 1e-9);
}
