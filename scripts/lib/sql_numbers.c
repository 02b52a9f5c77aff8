/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a script of sed that puts the values of enumerations in place of their names: the SQL of the views has the
 * names, and the headers have the values. Run by the build (embed-text), which refuses a name that is not here. */
#include <stdio.h>

#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "profiler/watch/watch.h"

static const struct {
    const char *name;
    int value;
} numbers[] = {
#define NUMBER(name) {#name, name}
    NUMBER(PIE_LOCATION_PYTHON),
    NUMBER(PIE_LOCATION_NATIVE),
    NUMBER(PIE_WATCH_LOAD),
    NUMBER(PIE_WATCH_STORE),
    NUMBER(PIE_WATCH_REDUNDANT),
    NUMBER(PIE_WATCH_CHANGED),
    NUMBER(PIE_WATCH_LOST),
    NUMBER(PIE_WATCH_MEMORY_OBJECT),
    NUMBER(PIE_WATCH_MEMORY_ARRAY),
    NUMBER(PIE_WATCH_MEMORY_RESULT),
    NUMBER(PIE_WATCH_MEMORY_RETURNED),
    NUMBER(PIE_WATCH_IN_LOOP),
    NUMBER(PIE_WATCH_PARTLY),
    NUMBER(PIE_WATCH_MEMORY_CALL),
    NUMBER(PIE_WATCH_ARGUMENTS),
    NUMBER(PIE_WATCH_OTHER_ARGUMENTS),
    NUMBER(PIE_WATCH_OF_ARGUMENT),
    NUMBER(PIE_WATCH_FIRST_SEEN),
    NUMBER(PIE_WATCH_WEAK),
    NUMBER(PIE_WATCH_NEW_VALUE),
    NUMBER(PIE_WATCH_OUTER_CALL),
    NUMBER(PIE_WATCH_OWN_CALL),
    NUMBER(PIE_OPERATION_OTHER),
    NUMBER(PIE_OPERATION_SUBSCRIPT),
    NUMBER(PIE_OPERATION_STORE_SUBSCRIPT),
    NUMBER(PIE_OPERATION_CALL),
    NUMBER(PIE_OPERATION_OPERATOR),
    NUMBER(PIE_OPERATION_ITERATE),
    NUMBER(PIE_OPERATION_MASK),
    NUMBER(PIE_OPERATION_IN_LOOP),
    NUMBER(PIE_COPY_COUNTED),
    NUMBER(PIE_COPY_SHIFT),
    NUMBER(PIE_COPY_SAMPLED),
    NUMBER(PIE_COPY_LOOP),
    NUMBER(PIE_COPY_NEEDLESS),
    NUMBER(PIE_COPY_UNSURE),
    NUMBER(PIE_COPY_REWRITTEN),
    NUMBER(PIE_RELATED_WORKED),
    NUMBER(PIE_RELATED_GC_YOUNG),
    NUMBER(PIE_RELATED_GC_MIDDLE),
    NUMBER(PIE_RELATED_GC_OLD),
    NUMBER(PIE_WAIT_UNKNOWN),
    NUMBER(PIE_WAIT_GIL),
    NUMBER(PIE_WAIT_LOCK),
    NUMBER(PIE_WAIT_SOCKET),
    NUMBER(PIE_WAIT_PIPE),
    NUMBER(PIE_WAIT_FILE),
    NUMBER(PIE_WAIT_TERMINAL),
    NUMBER(PIE_WAIT_POLL),
    NUMBER(PIE_WAIT_SLEEP),
    NUMBER(PIE_WAIT_CHILD),
    NUMBER(PIE_WAIT_GPU),
    NUMBER(PIE_WAIT_DISK),
    NUMBER(PIE_WAIT_SIGNAL),
    NUMBER(PIE_WAIT_OTHER),
    NUMBER(PIE_TRACED_UNDECIDED),
    NUMBER(PIE_TRACED_DROPPED),
    NUMBER(PIE_TRACED_KEPT),
#undef NUMBER
};

int main(void) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        printf("s/\\b%s\\b/%d/g\n", numbers[i].name, numbers[i].value);
    return 0;
}
