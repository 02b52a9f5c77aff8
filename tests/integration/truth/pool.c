/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* A pool of threads that compute, as OpenMP and BLAS have them. The job is handed over under a mutex. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static unsigned long job, rounds_of_job, threads, busy;
static double cpu_s_of_job;
static _Thread_local volatile unsigned long value;

static double cpu_s(void) {
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void compute(unsigned long rounds) {
    for (unsigned long i = 0; i < rounds; i++)
        value = value * 3 + i;
}

static void *work(void *unused) {
    unsigned long seen = 0;

    pthread_mutex_lock(&mutex);
    for (;;) {
        while (job == seen)
            pthread_cond_wait(&begun, &mutex);
        seen = job;
        pthread_mutex_unlock(&mutex);
        double before_s = cpu_s();
        compute(rounds_of_job);
        double used_s = cpu_s() - before_s;
        pthread_mutex_lock(&mutex);
        cpu_s_of_job += used_s;
        if (--busy == 0)
            pthread_cond_signal(&done);
    }
    return NULL;
}

void pool_begin(unsigned long count) {
    pthread_t thread;

    threads = count;
    for (unsigned long i = 0; i < count; i++)
        pthread_create(&thread, NULL, work, NULL);
}

void pool_start(unsigned long rounds) {
    pthread_mutex_lock(&mutex);
    rounds_of_job = rounds;
    cpu_s_of_job = 0;
    busy = threads;
    job++;
    pthread_cond_broadcast(&begun);
    pthread_mutex_unlock(&mutex);
}

/* Returns the CPU time that the pool's threads took. */
double pool_wait(void) {
    pthread_mutex_lock(&mutex);
    while (busy > 0)
        pthread_cond_wait(&done, &mutex);
    double used_s = cpu_s_of_job;
    pthread_mutex_unlock(&mutex);
    return used_s;
}

double pool_run(unsigned long rounds, bool takes_part) {
    pool_start(rounds);
    if (takes_part)
        compute(rounds);
    return pool_wait();
}
