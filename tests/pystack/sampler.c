/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "tests/pystack/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "profiler/base/region.h"
#include "profiler/base/safe_load.h"
#include "runtime/code/registry.h"
#include "runtime/embed/install.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
    RECORDS_MAX = 400000,
    FRAMES_RECORDED = 4, /* of each timer sample, the innermost ones */
    TIMERS_MAX = 64,
};

/* Asked by LeakSanitizer: what the interpreter leaves behind at its end is not ours to judge. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
    return 1;
}

struct record {
    uintptr_t code;
    uint32_t id;
    char qualname[SAMPLER_ORACLE_BYTES], file[SAMPLER_ORACLE_BYTES]; /* the oracle */
};

static const struct pie_pystack_ops *ops;
static struct record *records; /* RECORDS_MAX of them, touched as far as used */
static _Atomic uint32_t n_records;
static _Atomic uint64_t n_samples, n_invalid, n_empty;
static timer_t timers[TIMERS_MAX];
static _Atomic int n_timers;

static __thread struct sampler_sample taken;

/* A string member of a code object as the plain reader would get it; empty if it cannot be read. ASCII only. */
static void copy_string(uintptr_t code, size_t member, char text[SAMPLER_ORACLE_BYTES]) {
    uintptr_t string;

    memset(text, 0, SAMPLER_ORACLE_BYTES);
    if (!pie_safe_load((const void *)(code + member), &string))
        return;
    for (size_t i = 0; i < SAMPLER_ORACLE_BYTES - 1; i++)
        if (!pie_safe_copy(&text[i], (const void *)(string + sizeof(PyASCIIObject) + i), 1) || !text[i])
            return;
}

static void record_frame(const struct pie_pyframe *frame) {
    uint32_t at = atomic_fetch_add(&n_records, 1);

    if (at >= RECORDS_MAX)
        return;
    records[at].code = frame->code;
    copy_string(frame->code, offsetof(PyCodeObject, co_qualname), records[at].qualname);
    copy_string(frame->code, offsetof(PyCodeObject, co_filename), records[at].file);
    records[at].id = ops->intern(frame->code);
}

static void take_timer_sample(void) {
    struct pie_pyframe frames[FRAMES_RECORDED * 8];
    unsigned flags;
    size_t n = ops->walk(frames, FRAMES_RECORDED * 8, &flags);

    atomic_fetch_add(&n_samples, 1);
    if (flags & PIE_PYSTACK_INVALID)
        atomic_fetch_add(&n_invalid, 1);
    if (n == 0 && (flags & PIE_PYSTACK_PYTHON_THREAD))
        atomic_fetch_add(&n_empty, 1);
    for (size_t i = 0; i < n && i < FRAMES_RECORDED; i++)
        record_frame(&frames[i]);
}

static void take_own_sample(void) {
    static __thread struct pie_pyframe frames[SAMPLER_FRAMES_MAX];

    taken.n = ops->walk(frames, SAMPLER_FRAMES_MAX, &taken.flags);
    for (size_t i = 0; i < taken.n; i++)
        taken.frames[i] = (struct sampler_frame){
            .id = ops->intern(frames[i].code),
            .offset = ops->instr_offset(frames[i].code, frames[i].instr),
            .has_marker = frames[i].marker != 0,
        };
}

static void on_sample(int signo, siginfo_t *info, void *context) {
    int saved = errno;

    if (info->si_code == SI_TIMER)
        take_timer_sample();
    else
        take_own_sample();
    errno = saved;
}

static void on_fault(int signo, siginfo_t *info, void *context) {
    greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    uintptr_t resume = pie_safe_load_fix((uintptr_t)*pc);

    if (resume)
        *pc = (greg_t)resume;
    else
        signal(signo, SIG_DFL); /* a real fault: it happens again and kills the test */
}

static bool install(int signo, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

    sigemptyset(&action.sa_mask);
    return sigaction(signo, &action, NULL) == 0;
}

static int sample_signal(void) {
    return SIGRTMAX - 5;
}

bool sampler_take_signals(void) {
    return install(SIGSEGV, on_fault, SA_NODEFER) && install(SIGBUS, on_fault, SA_NODEFER) &&
           install(sample_signal(), on_sample, SA_RESTART);
}

bool sampler_init(void) {
    if (pie_region_init() < 0)
        return false;
    pie_code_registry_install();
    ops = pie_runtime_pystack_ops();
    records = mmap(NULL, sizeof *records * RECORDS_MAX, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return records != MAP_FAILED && sampler_take_signals();
}

const struct pie_pystack_ops *sampler_ops(void) {
    return ops;
}

const struct sampler_sample *sampler_take(void) {
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sample_signal());
    return &taken;
}

int sampler_arm(long period_us) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sample_signal()};
    struct itimerspec period = {.it_interval.tv_nsec = period_us * 1000,
                                .it_value.tv_nsec = period_us * 1000};
    int at = atomic_fetch_add(&n_timers, 1) % TIMERS_MAX;

    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &timers[at]) < 0)
        return -1;
    timer_settime(timers[at], 0, &period, NULL);
    return at;
}

void sampler_disarm(int timer) {
    timer_delete(timers[timer]);
}

/* Is `text` what the oracle saw the beginning of? */
static bool agrees(const char *text, const char oracle[SAMPLER_ORACLE_BYTES]) {
    return strncmp(text, oracle, SAMPLER_ORACLE_BYTES - 1) == 0;
}

static void judge_record(const struct record *record, struct sampler_verdict *verdict) {
    char name_now[SAMPLER_ORACLE_BYTES];
    const char *file, *qualname;
    int32_t first_line;

    copy_string(record->code, offsetof(PyCodeObject, co_qualname), name_now);
    verdict->naive_wrong += !agrees(name_now, record->qualname);
    if (record->id == 0)
        verdict->unnamed++;
    else if (ops->describe(record->id, &file, &qualname, &first_line) < 0 ||
             !agrees(qualname, record->qualname) || !agrees(file, record->file))
        verdict->wrong++;
}

void sampler_judge(struct sampler_verdict *ret_verdict) {
    uint32_t n = atomic_load(&n_records);
    struct sampler_verdict verdict = {
        .samples = atomic_load(&n_samples),
        .invalid = atomic_load(&n_invalid),
        .empty = atomic_load(&n_empty),
        .frames = n < RECORDS_MAX ? n : RECORDS_MAX,
    };

    for (uint64_t i = 0; i < verdict.frames; i++)
        judge_record(&records[i], &verdict);
    *ret_verdict = verdict;
}
