/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sink: where the collection thread puts what it has collected. The engine knows no file format; storage/
 * implements this table over SQLite, tests implement it in memory.
 *
 * All calls come from one thread (the collection thread; after it has ended, from the thread that finishes the
 * profile). Every call returns 0 or -errno; a sink that fails (disk full, file gone) keeps failing cheaply, loses
 * nothing that was committed before, and never ends the process. Strings are borrowed for the call; NULL means
 * unknown. Ids are chosen by the engine and unique within one process of one run.
 *
 * Order within one flush: begin, then locations before the nodes that use them, parents before children, nodes
 * and threads before the samples that use them, then commit. A sink may see the same location, node or thread only
 * once, the same sample key (thread, node) in every flush: values are increments.
 *
 * Context: drain. */

enum pie_location_kind {
    PIE_LOCATION_PYTHON = 1,
    PIE_LOCATION_NATIVE = 2,
};

/* A place in the program: a line of a Python function or a place in a native function. */
struct pie_location {
    struct pie_location_id id;     /* from 1 */
    struct pie_location_id caller; /* native, inlined: of the function it was inlined into; else 0 */
    enum pie_location_kind kind;
    const char *function; /* co_qualname, or the demangled symbol; NULL: no symbol known */
    const char *file;     /* absolute source path where known ("<string>", "<frozen …>" as Python says it) */
    int32_t line;         /* 1-based; 0: unknown */
    int32_t first_line;   /* of the function; 0: unknown */
    bool
        is_in_loop; /* Python: a call of the line lies in a loop of its function's own code; if it has none, any
                             part of it */
    const char *module;   /* native: absolute path of the ELF file; NULL for Python and anonymous code */
    const char *build_id; /* native: hex, or NULL */
    uint64_t offset;      /* native: file-relative virtual address in module (address itself if no module) */
};

struct pie_node_row {
    struct pie_node_id id;           /* from 1 */
    struct pie_node_id parent;       /* 0: a root of this process */
    struct pie_location_id location; /* the innermost one (the inlined callee where there is one) */
};

enum { PIE_THREADS_SHORT = 0 }; /* id of the row of those that ended before they had a clock */

struct pie_thread_row {
    uint32_t id; /* from 1, never reused in a process; 0: PIE_THREADS_SHORT */
    int32_t tid;
    const char *name; /* Python's or the kernel's name of the thread */
    bool is_main;
    int64_t started_ns, ended_ns; /* CLOCK_REALTIME; ended_ns 0 while it runs */
    uint64_t
        cpu_ns; /* of the thread's own CPU clock since its start: the truth that samples are held against */
    uint64_t wall_ns;   /* since its start so far */
    uint64_t samples;   /* taken so far */
    bool has_off_times; /* the next three are known; they and cpu_ns add up to wall_ns */
    uint64_t wait_ns, runnable_ns, throttled_ns; /* as in pie_sample_row, wherever it was */
    uint64_t folded;                             /* short threads in this one row (id 0); 0: one thread */
};

/* Increments of one (thread, node) since the last flush. CPU time is python + native + system. */
struct pie_sample_row {
    uint32_t thread;
    struct pie_node_id node;
    uint32_t samples;      /* signals handled in this context */
    uint32_t wait_samples; /* ticks at which the thread was found off the CPU here */
    uint64_t python_ns, native_ns, system_ns;
    int64_t wait_ns;       /* off the CPU by its own doing; less than 0: less than was said before */
    uint64_t runnable_ns;  /* ready to run, without a processor */
    uint64_t throttled_ns; /* the same because of a CPU quota */
    double cpu_sq_ns2;     /* sum of squared CPU weights of the samples, for the interval */
};

/* What a thread waits for. */
enum pie_wait_cause {
    PIE_WAIT_UNKNOWN = 0,
    PIE_WAIT_GIL = 1,
    PIE_WAIT_LOCK = 2, /* any other: of threads, of processes, of a file; of tasks also a queue */
    PIE_WAIT_SOCKET = 3,
    PIE_WAIT_PIPE = 4,
    PIE_WAIT_FILE = 5, /* reading, writing or opening one with a path, also a FIFO or a device */
    PIE_WAIT_TERMINAL = 6,
    PIE_WAIT_POLL = 7, /* the first of several descriptors, or of an event loop's */
    PIE_WAIT_SLEEP = 8,
    PIE_WAIT_CHILD = 9,
    PIE_WAIT_GPU = 10,
    PIE_WAIT_DISK = 11, /* a page that is read in, data that is written out */
    PIE_WAIT_SIGNAL = 12,
    PIE_WAIT_OTHER = 13,
};

/* Increments since the last flush of what one thread waited in one context, for one reason. Everything before wait_ns
 * is the key; over all reasons the sums are wait_ns of pie_sample_row. */
struct pie_wait_row {
    uint32_t thread;
    struct pie_node_id node;
    enum pie_wait_cause cause;
    const char *resource;    /* a path, an address, …; NULL: none is known */
    struct pie_node_id peer; /* where the thread was that held the lock; 0: not known */
    bool holds_gil;          /* while it waited */
    int64_t wait_ns;         /* less than 0: less than was said before */
    uint32_t looks;          /* ticks at which it was found so */
};

/* Increments since the last flush of what tasks of one name waited in one context for one cause, a part of
 * pie_wait_row's, or of their CPU time there. Everything before wait_ns is the key. */
enum { PIE_TASK_RUNS = -1 };
struct pie_task_row {
    uint32_t thread;
    struct pie_node_id node;
    struct pie_node_id
        coroutine;    /* node at or above it: where the tasks' own coroutine begins; 0: not known */
    int cause;        /* enum pie_wait_cause; PIE_TASK_RUNS: the row is of CPU time */
    const char *name; /* that the program gave them; NULL: none */
    int64_t wait_ns;
    uint64_t cpu_ns;
};

/* A time that belongs to a context beside those of pie_sample_row. */
enum pie_related_kind {
    PIE_RELATED_WORKED =
        1, /* CPU time of native threads meanwhile (profiler/time/pools.h); of no sum of the context */
    PIE_RELATED_GC_YOUNG = 2, /* while garbage of generation 0 was collected; a part of the CPU time */
    PIE_RELATED_GC_MIDDLE = 3,
    PIE_RELATED_GC_OLD = 4,
    PIE_RELATED_KINDS = 4, /* from 1 on */
    /* … and more: a part of the waiting, for this cause (enum pie_wait_cause). Not for the first one that a thread has
     * in a context, whose part is all that the others leave. The writer makes these rows of pie_wait_row. */
    PIE_RELATED_WAIT = 16,
};

/* Increments of one (thread, node, kind) since the last flush. */
struct pie_related_row {
    uint32_t thread;
    struct pie_node_id node;
    enum pie_related_kind kind;
    uint64_t time_ns;
};

enum { PIE_WATCH_FRAMES_MAX = 16 };

/* Increments since the last flush of watches that ended alike (PieProf §4.2; profiler/watch/watch.h says what the words
 * mean). Everything up to `traits` is the key. */
struct pie_watch_row {
    uint8_t kind;    /* enum pie_watch_kind */
    uint8_t outcome; /* enum pie_watch_outcome */
    uint8_t memory;  /* enum pie_watch_memory */
    uint16_t traits; /* enum pie_watch_traits */
    uint8_t
        length; /* of the native call, by what was left of it at the access: 0 up to 15 us, 1 up to 30 us, 2 more */
    struct pie_node_id first_node, second_node; /* second 0: the outcome has none */
    /* What the Python frames of the first access were at, innermost first: enum pie_operation with its flag. */
    uint8_t operations[PIE_WATCH_FRAMES_MAX];
    uint32_t operations_count;
    /* Sums. */
    uint64_t watches; /* that ended so */
    uint64_t bytes;   /* that their first accesses touched */
    double weight_ns; /* CPU time of the first access's line that they stand for (proportional attribution) */
    double weight_sq_ns2;
    uint64_t length_ns; /* what was left of the native calls */
    uint64_t gap_ns;    /* from the call's return to the outcome */
    uint64_t
        array_bytes; /* of the arrays that the calls got, where the words lay in the only one (OF_ARGUMENT) */
    uint64_t
        round_ns; /* OF_ARGUMENT: the program's CPU time on the thread from the first access to the outcome */
};

/* What was read by calls that one line of Python made and that samples of time met (profiler/reads). All values are
 * totals: a row replaces the last one of the same node and kind. From SKIP on nothing is compared: rises and upper_ns
 * are of samples that say PIE_READ_SAYS_YES, others and lower_ns of PIE_READ_SAYS_NO, same of the rest. */
struct pie_reading_row {
    struct pie_node_id node;
    uint8_t kind;     /* enum pie_read_kind; part of the key */
    uint64_t samples; /* of calls at work; SORT: samples in a row count as one */
    uint64_t cpu_ns;  /* that they stand for */
    double cpu_sq_ns2;
    uint64_t same; /* those that met what the sample before them had met, as long as it was then, … */
    uint64_t
        rises; /* … one that began the same and was longer; not SEARCH: with the same other arguments; CHOICE: with
                  some other items, PATTERN: with another pattern, … */
    uint64_t others; /* … another one */
    uint64_t
        lower_ns; /* while one rose to four times its length at least: CPU time up to half of its last length, … */
    uint64_t upper_ns; /* … and from there on */
    uint64_t sum_size; /* of all samples, struct pie_call_read.size */
    uint64_t max_size;
};

/* Whose memory: what the interpreter's allocators hand out, or what native code allocates for itself. */
enum pie_heap_domain { PIE_HEAP_NATIVE, PIE_HEAP_PYTHON, PIE_HEAP_DOMAINS };

enum { PIE_KEPT_PARTS = 8 };

/* Size classes of blocks. Class n is of blocks of up to PIE_SIZE_LEAST_BYTES << 2 * n; the last one has all larger
 * ones. */
enum { PIE_SIZES = 8, PIE_SIZE_LEAST_BYTES = 512 };

/* What one context has allocated so far in blocks of one size class, by sampled allocations. All values are totals: a
 * row replaces the last one of the same node and size. */
struct pie_allocation_row {
    struct pie_node_id node;
    uint32_t size;
    uint32_t samples;                           /* allocations that were sampled here */
    uint64_t allocated_bytes[PIE_HEAP_DOMAINS]; /* all that was ever allocated: sum of the samples' weights */
    double allocated_sq_bytes2; /* sum of squared weights of samples that stand for more than themselves */
    uint64_t live_bytes;        /* not freed yet */
    double live_sq_bytes2;      /* as allocated_sq_bytes2, of those */
    uint64_t peak_bytes[PIE_HEAP_DOMAINS]; /* not freed when the process's memory was at its peak */
    double peak_sq_bytes2;                 /* as allocated_sq_bytes2, of those */
    double live_bytes_s; /* integral of live_bytes over the process's time so far, bytes x s */
    /* Leak score (Scalene §3.4) of what is kept: sampled allocations that lived for a tenth of the process's time, and
     * those of them that were freed all the same. */
    uint32_t mallocs, frees;
    /* Of those that were not, by when they were allocated: parts of the time from the process's start to a tenth of it
     * before its end. */
    uint64_t kept_bytes[PIE_KEPT_PARTS];
    int64_t first_ns; /* CLOCK_REALTIME of the first sample */
    double blocks;    /* allocations that the samples stand for: weight / size of block, summed */
    /* Samples whose block was a little larger than that of the sample before; smaller, or larger by more. */
    uint32_t rises, falls;
};

/* Increments since the last flush of what one context allocated. Their sums are those of pie_allocation_row. */
struct pie_allocated_row {
    struct pie_node_id node;
    uint32_t samples;
    uint64_t bytes[PIE_HEAP_DOMAINS];
    double sq_bytes2; /* as allocated_sq_bytes2 */
};

/* Live memory of one context in blocks of one size class at a point in time; a step of the line's curve. */
struct pie_live_row {
    struct pie_node_id node;
    uint32_t size;
    int64_t time_ns; /* CLOCK_REALTIME */
    uint64_t live_bytes;
};

/* The process's memory at a point in time. */
struct pie_footprint_row {
    int64_t time_ns; /* CLOCK_REALTIME */
    uint64_t heap_bytes[PIE_HEAP_DOMAINS];
    uint64_t rss_bytes;      /* 0: unknown */
    struct pie_node_id node; /* allocated when the threshold was crossed; 0: seen by the collection thread */
};

/* Totals so far of the process's memory; the row replaces the last. Times: CLOCK_REALTIME. */
struct pie_heap_row {
    int64_t peak_ns; /* when heap_bytes was greatest; 0: nothing allocated */
    uint64_t peak_bytes[PIE_HEAP_DOMAINS];
    uint64_t rss_peak_bytes;                                                   /* 0: unknown */
    uint64_t allocated_bytes[PIE_HEAP_DOMAINS], freed_bytes[PIE_HEAP_DOMAINS]; /* counted */
    uint64_t profiler_bytes;  /* the profiler's own memory, in none of the others */
    uint64_t threshold_bytes; /* of the footprint sampler, at the peak */
    const char *allocator;    /* "glibc", "jemalloc", a library's path: who serves malloc() */
    const char *note;         /* what is not measured and why, one sentence, or NULL */
};

/* Increments since the last flush of what one context copied (Scalene §3.5). */
struct pie_copy_row {
    struct pie_node_id node;
    uint32_t samples;
    uint8_t estimate; /* of enum pie_copy_estimate; part of the key */
    uint64_t bytes;
    double sq_bytes2; /* sum of squared weights of samples that stand for more than themselves */
};
enum pie_copy_estimate {
    PIE_COPY_COUNTED = 1, /* large copies, each seen */
    PIE_COPY_SAMPLED = 2, /* memcpy() and its like, sampled by bytes */
    PIE_COPY_LOOP = 3,    /* copy loops of a library's own, by samples of time */
    PIE_COPY_SHIFT =
        4, /* added to the first two: large blocks, moved by less than a sixteenth of their length */
};

/* Increments since the last flush: copies that were followed, by what became of them (profiler/heap/copy_ends.h). */
struct pie_copy_end_row {
    struct pie_node_id node;
    uint8_t outcome; /* of enum pie_copy_outcome; part of the key */
    uint64_t copies;
    uint64_t bytes; /* that they stand for, as in pie_copy_row */
};
enum pie_copy_outcome {
    PIE_COPY_NO_OUTCOME = 0,
    PIE_COPY_NEEDLESS = 1,  /* neither source nor copy was written before one of them was freed */
    PIE_COPY_WRITTEN = 2,   /* one was, and it shows */
    PIE_COPY_PART = 3,      /* neither was written, but the copy is a part of a larger block, or let one go */
    PIE_COPY_UNSURE = 4,    /* both are equal, but there was no debug register all the time */
    PIE_COPY_OPEN = 5,      /* neither was freed, or it was not followed so far */
    PIE_COPY_REWRITTEN = 6, /* both are equal, though a debug register saw a write */
};

/* How far the learning tracer is with a call (profiler/race/racing.h). */
enum pie_traced_state {
    PIE_TRACED_UNDECIDED = 1,
    PIE_TRACED_DROPPED = 2, /* surely less than every other that was left: not observed any more */
    PIE_TRACED_KEPT = 3,    /* the greatest, or known as well as wanted */
};

/* A traced loop: its calls are timed (Paikana §3). All values are totals: a row replaces the loop's last. */
struct pie_traced_loop_row {
    uint32_t loop;        /* from 1, unique in the process */
    const char *file;     /* as Python says it */
    int32_t line;         /* of the loop, or the first of the function whose calls are its iterations */
    const char *function; /* co_qualname of the code the loop is in */
    const char *policy;   /* "racing", "successive rejects", "successive accepts and rejects" */
    double confidence;    /* of decisions and intervals, e.g. 0.95 */
    uint64_t entries;     /* times the loop was entered */
    uint64_t iterations, observed_iterations;
    double body_s;    /* wall time in the body, all iterations */
    const char *note; /* what could not be seen and why, one sentence, or NULL */
};

/* One call site in the loop's body, or the body's own code (call 0, without a callee): shares of a loop add up to 1. */
struct pie_traced_call_row {
    uint32_t loop, call;
    const char *file; /* of the call site */
    int32_t line;
    const char *callee; /* co_qualname, "module.name" of a native function; NULL: the body's own code */
    bool is_native;
    uint8_t state;                       /* enum pie_traced_state */
    uint64_t decided_after;              /* observed iterations until it was decided; 0: it is not */
    uint64_t calls;                      /* in all iterations, estimated unless all were observed */
    uint64_t observed_calls;             /* that were timed */
    double share, share_low, share_high; /* of body_s; the interval at the loop's confidence */
    double mean_s, variance_s2;          /* of one call */
    double p50_s, p95_s, p99_s;          /* of one call; within 5 % */
};

/* What one process is: written once by begin_process; end_process completes it. */
struct pie_process_row {
    int32_t pid, parent_pid;
    bool is_child; /* belongs to run_id; else a new run is made */
    int64_t run_id;
    int64_t started_ns;      /* CLOCK_REALTIME */
    const char *const *argv; /* NULL-terminated, or NULL with --no-argv */
    const char *executable;  /* what sys.executable says */
    const char *clock;       /* "perf", "perf-user", "timer", "itimer", "none": how CPU time was sampled */
    const char *clock_note;  /* why not a better one, one sentence, or NULL */
    uint64_t period_ns;
    /* How memory accesses are sampled: "pmu" (access-weighted), "taskclock" (time-weighted), "none". */
    const char *sampler;
    const char *sampler_note; /* why not a better one or none, one sentence, or NULL */
};

/* How another process of the run ended, which could not say so itself. */
struct pie_process_end_row {
    int32_t pid, parent_pid;
    int64_t started_ns,
        ended_ns;             /* CLOCK_REALTIME; its own row does not begin earlier; ended_ns 0: unknown */
    const char *cause;        /* "killed", "exit", "gone" */
    int exit_status;          /* as the shell sees it, or -1 */
    int write_error;          /* -errno with which it gave up its profile, or 0 */
    const char *lost_counter; /* which counts that */
    bool may_have_own_file;   /* where each process has one, its row may be in that */
    const char *const *argv;  /* as in pie_process_row, as is the next one */
    const char *executable;
};

/* Does no process have this id any more, or one that began later than started_ns (CLOCK_REALTIME)? */
typedef bool (*pie_is_gone_fn)(int32_t pid, int64_t started_ns);

struct pie_sink;
struct pie_window_row;

/* The stored nodes and locations that rows may still refer to. */
struct pie_in_use {
    bool (*node)(const void *data, struct pie_node_id node);
    bool (*location)(const void *data, struct pie_location_id location);
    const void *data;
};

struct pie_sink_ops {
    /* Creates the run (or joins it) and the process row; *ret_run_id is set on success. */
    int (*begin_process)(struct pie_sink *, const struct pie_process_row *, int64_t *ret_run_id);
    /* key: "python_version", "platform", "cpu", "kernel", … Units are in the key. Replaces an earlier value. */
    int (*put_environment)(struct pie_sink *, const char *key, const char *value);

    /* Is a Python source file the user's own code? May be NULL: not known. */
    bool (*owns)(struct pie_sink *, const char *file);

    /* Before the first put_ of a flush. at_ns: CLOCK_REALTIME of the middle of the time in which the increments were
     * measured that are put until the commit. */
    int (*begin)(struct pie_sink *, int64_t at_ns);
    int (*put_location)(struct pie_sink *, const struct pie_location *);
    int (*put_node)(struct pie_sink *, const struct pie_node_row *);
    int (*put_thread)(struct pie_sink *, const struct pie_thread_row *); /* first time or update */
    int (*put_sample)(struct pie_sink *, const struct pie_sample_row *);
    int (*put_wait)(struct pie_sink *, const struct pie_wait_row *);
    int (*put_task)(struct pie_sink *, const struct pie_task_row *);
    int (*put_related)(struct pie_sink *, const struct pie_related_row *);
    int (*put_watch)(struct pie_sink *, const struct pie_watch_row *);
    int (*put_reading)(struct pie_sink *, const struct pie_reading_row *);
    int (*put_allocation)(struct pie_sink *, const struct pie_allocation_row *);
    int (*put_allocated)(struct pie_sink *, const struct pie_allocated_row *);
    int (*put_live)(struct pie_sink *, const struct pie_live_row *);           /* in the order of time */
    int (*put_footprint)(struct pie_sink *, const struct pie_footprint_row *); /* in the order of time */
    int (*put_heap)(struct pie_sink *, const struct pie_heap_row *);
    int (*put_copy)(struct pie_sink *, const struct pie_copy_row *);
    int (*put_copy_end)(struct pie_sink *, const struct pie_copy_end_row *);
    /* The retention path of objects of one size class that a context allocated: types and the way to a module, class or
     * frame, one line. */
    int (*put_retention_path)(struct pie_sink *, struct pie_node_id node, uint32_t size, const char *text);
    int (*put_window)(struct pie_sink *, const struct pie_window_row *); /* ports/windows.h; totals */
    int (*put_traced_loop)(struct pie_sink *, const struct pie_traced_loop_row *); /* before its calls */
    int (*put_traced_call)(struct pie_sink *, const struct pie_traced_call_row *);
    /* Completes the row of that process, or makes one where it has written nothing. */
    int (*put_process_end)(struct pie_sink *, const struct pie_process_end_row *);
    /* The sink may forget all other nodes and locations, and fold them in the file. Not inside begin/commit. in_use:
     * valid during the call. */
    void (*forget)(struct pie_sink *, const struct pie_in_use *in_use);
    /* Counters are totals so far, e.g. "ring_full", "unwind_truncated". is_drop: a sample was lost. */
    int (*put_counter)(struct pie_sink *, const char *name, uint64_t value, bool is_drop);
    /* The profiler's own cost so far. collector: "time", "redundancy", "memory", "copies", "collection thread". cpu_ns
     * and wall_ns are totals. */
    int (*put_overhead)(struct pie_sink *, const char *collector, uint64_t cpu_ns, double rate_hz);
    /* Also moves the process's "last seen" time forward. now_ns: CLOCK_REALTIME. If it fails, what was put is kept and
     * written with the next commit; where that can never be, begin fails from then on. */
    int (*commit)(struct pie_sink *, int64_t now_ns);

    /* cause: "exit", "_exit", "exec", … ; exit_status as the shell would see it, or -1 where unknown.
     * Source text of profiled lines is read and stored here at the latest. */
    int (*end_process)(struct pie_sink *, int64_t now_ns, const char *cause, int exit_status);
    /* After end_process, by the process that may be the last of the run. Processes of this machine that are gone
     * without a row of their end get the cause "gone", and parents that came later than their children are entered. One
     * that turns out to live (commit) loses the cause again. */
    int (*complete_run)(struct pie_sink *, pie_is_gone_fn is_gone);
    /* Gives up every descriptor, lock and mapping of the file until the next call that needs it; called before a fork,
     * because a forked child must find no open database in its copy of the library's memory. Not inside
     * begin/commit. */
    void (*suspend)(struct pie_sink *);
    void (*close)(struct pie_sink *);
};

struct pie_sink {
    const struct pie_sink_ops *ops;
    /* Not 0: the program waits in fork() for the sink to be suspended, so a commit should not wait for other processes.
     * Set by the engine, by any thread; NULL: nobody ever waits. */
    const _Atomic uint32_t *waiters;
    /* Source that was compiled under a name which is no file's, as long as the process lives; NULL: none. Set by the
     * engine; may be NULL. */
    const char *(*made_source)(const char *name, size_t *ret_size);
    /* Set by the sink: what it has written is large, and forget() would make it smaller. */
    bool wants_to_forget;
};
