/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/refusals.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "storage/ask/questions.h"

/* What is often asked for all the same: no answer is better than a wrong one. first: words with which such a question
 * begins, whatever follows. */
static const struct {
    const char *first, *words, *text;
} refusals[] = {
    {"diff|compare|comparison|regression|regressions", "difference|differences|what changed|changes",
     "runs cannot be compared yet: \"runs\" lists them, and \"hot lines of run 1\" asks one of them"},
    {"flame|flamegraph|icicle|speedscope", "",
     "a flame graph is a file: pieprof report DB --html FILE, or pieprof export DB -f svg -o FILE; \"tree\" "
     "is "
     "its text"},
    {"gpu|cuda", "", "GPU time and memory are not measured"},
    {"",
     "number of calls|number calls|call count|call counts|calls count|how many calls|how often|most called|"
     "called most|most calls|ncalls|most called functions|most called function|functions called most|"
     "time per call|percall|per call",
     "calls are not counted while a program is sampled: \"pieprof confirm\" counts those of a finding, and "
     "pieprof --learn FILE:LINE times those in a loop"},
    {"exceptions|exception|errors", "raised exceptions",
     "exceptions are not recorded: \"processes\" tells how each process ended"},
    {"locals|variables|arguments", "values",
     "values of variables are not recorded: \"call tree\" has the functions, \"source of FILE\" the lines"},
    {"live|watch|attach|dump|record|monitor", "top live",
     "to watch a profile, also while its program runs: pieprof top DB, or pieprof serve DB --open"},
    {"py-spy|pyspy|memray|scalene|austin|pyinstrument|transform|convert|export", "",
     "this command answers questions, \"help\" lists them; pieprof top DB shows a profile on the terminal, "
     "and "
     "pieprof export DB -f FORMAT writes one for other tools"},
    {"confirm|confirmed|confirmation|verify", "",
     "\"pieprof confirm DB --finding N\" runs the program again and counts the calls of a finding; "
     "\"findings\" has the verdicts so far"},
    {"cache|branch|instructions|flops|energy", "",
     "the processor's events are not counted: \"redundancy\" has the loads and stores that were done again"},
};

static bool begins_with(const char *words, const char *list) {
    char first[32] = "";
    size_t size = strcspn(words, " ");
    if (size == 0 || size >= sizeof first)
        return false;
    memcpy(first, words, size);
    return pie_question_is_in(list, first);
}

const char *pie_refusal_find(const char *words) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (begins_with(words, refusals[i].first) || pie_question_is_in(refusals[i].words, words))
            return refusals[i].text;
    return NULL;
}
