/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runtime/early_malloc.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

char *early_blocks[4];
int early_thread_ran;

static void *allocate(void *argument) {
    void *volatile block = malloc(1000);

    free(block);
    early_thread_ran = block != NULL;
    return argument;
}

static __attribute__((constructor)) void begin(void) {
    pthread_t thread;

    early_blocks[0] = malloc(100);
    early_blocks[1] = calloc(10, 10);
    early_blocks[2] = realloc(strdup("resized"), 100);
    early_blocks[3] = memalign(256, 100);
    memcpy(early_blocks[0], "allocated", sizeof "allocated");
    memmove(early_blocks[0] + 1, early_blocks[0], sizeof "allocated"); /* "aallocated" */
    if (pthread_create(&thread, NULL, allocate, NULL) == 0)
        pthread_join(thread, NULL);
}
