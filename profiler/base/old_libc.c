/* SPDX-License-Identifier: Apache-2.0 */

/* For programs that run from glibc 2.28 on (-Dold_libc): functions that Debian 11 has in versions of 2.29 and 2.30. The
 * linker leads all calls of them here (--wrap), those of static libraries too. */

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* The mathematical functions of before 2.29 differ in how they report errors, which nobody here asks for. */
#define OLD_VERSION(name)                                                                                    \
    double __old_##name(double x);                                                                           \
    double __wrap_##name(double x);                                                                          \
    __asm__(".symver __old_" #name ", " #name "@GLIBC_2.2.5");                                               \
    double __wrap_##name(double x) {                                                                         \
        return __old_##name(x);                                                                              \
    }

OLD_VERSION(exp)
OLD_VERSION(exp2)
OLD_VERSION(log)
OLD_VERSION(log2)

double __old_pow(double x, double y);
double __wrap_pow(double x, double y);
__asm__(".symver __old_pow, pow@GLIBC_2.2.5");

double __wrap_pow(double x, double y) {
    return __old_pow(x, y);
}

int __wrap_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until);

/* By the clock of the day: while it is set forwards or back, the wait is shorter or longer by as much. */
int __wrap_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
    enum { SECOND_NS = 1000000000 };
    struct timespec now, day;

    if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &day) != 0)
        return EINVAL;
    day.tv_sec += until->tv_sec - now.tv_sec;
    day.tv_nsec += until->tv_nsec - now.tv_nsec;
    if (day.tv_nsec < 0 || day.tv_nsec >= SECOND_NS) {
        int carried = day.tv_nsec < 0 ? -1 : 1;
        day.tv_sec += carried;
        day.tv_nsec -= carried * (long)SECOND_NS;
    }
    return pthread_mutex_timedlock(mutex, &day);
}
