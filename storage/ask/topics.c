/* SPDX-License-Identifier: Apache-2.0 */
/* Words that are no question of ours, of other profilers or of everyday speech. Their spelling leads nowhere: what is
 * near to "percentiles" in letters has nothing to do with it. So each subject names what comes closest in meaning. */
#include "storage/ask/topics.h"

#include <string.h>

#include "storage/ask/questions.h"

static const struct {
    const char *words; /* one of them in what was asked is enough */
    const char *phrases[PIE_TOPIC_QUESTIONS];
} topics[] = {
    {"wall|walltime|elapsed|duration", {"waiting", "threads", "runs"}},
    {"system|kernel|syscall|syscalls|sys",
     {"hot lines by system", "native functions by system", "wait causes"}},
    {"interpreter|bytecode|python", {"hot lines by python", "native functions", "libraries"}},
    {"file|files|folder|folders", {"hot lines in FILE", "source of FILE", "libraries"}},
    {"task|tasks|async|asyncio|await|awaits|coroutine|coroutines", {"wait causes", "tree", "call tree"}},
    {"parallel|parallelism|multithreaded|concurrency|concurrent|cores|multithreading|utilization|utilisation",
     {"threads", "runnable", "processes"}},
    {"slow", {"hot functions", "hot lines in F", "callees of F"}},
    {"long|take|takes|took", {"total functions", "hot lines in F", "callees of F"}},
    {"net|usage", {"wait causes", "hot lines", "heap"}},
    {"excluding|except|without|ignore|exclude", {"own lines", "own functions", "tree"}},
    {"cost|costs|price", {"hot lines", "total functions", "overhead"}},
    {"number|count|counts", {"memory", "leaks", "garbage collection"}},
    {"vectorize|vectorise|vectorization|vectorisation|numba|cython",
     {"redundancy", "hot lines by python", "native functions"}},
    {"unused|useless", {"redundancy", "redundant stores", "needless copies"}},
    {"context|switch|switches|preempted", {"runnable", "wait causes", "threads"}},
    {"latency|p50|p90|p95|p99|percentile|percentiles|distribution|histogram",
     {"learned calls", "slices", "wait causes"}},
    {"temporary|churn|temporaries", {"memory", "growth", "garbage collection"}},
    {"page|faults|rss|resident|swap", {"heap", "memory timeline", "peak"}},
    {"deadlock|stuck|hang|hangs|hanging|blocking", {"waiting", "wait causes", "threads"}},
    {"critical", {"tree", "call tree", "wait causes"}},
    {"sample|samples|sampling", {"runs", "overhead", "drops"}},
    {"dead|silent|overwritten", {"redundant stores", "redundant loads", "pairs"}},
    {"pool|executor|workers", {"worked for", "threads", "processes"}},
    {"backtrace|traceback|stack|frames", {"call tree", "tree", "callers of F"}},
};

/* Is one of the words, which blanks separate, in the list? */
static int has_one(const char *words, const char *list) {
    char word[32];
    for (; *words; words += strspn(words, " ")) {
        size_t size = strcspn(words, " ");
        if (size < sizeof word) {
            memcpy(word, words, size);
            word[size] = 0;
            if (pie_question_is_in(list, word))
                return 1;
        }
        words += size;
    }
    return 0;
}

const char *const *pie_topic_find(const char *words) {
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        if (has_one(words, topics[i].words))
            return topics[i].phrases;
    return NULL;
}
