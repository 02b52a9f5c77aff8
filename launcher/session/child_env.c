/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/session/child_env.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/options/options.h"
#include "launcher/text/words.h"
#include "runtime/libc/exec.h"

#define NAME "_PIEPROF_CHILD"

#define ROOT "root"

const char PIE_CHILD_ENV_OFF[] = NAME "=off";
const char PIE_CHILD_ENV_ROOT[] = PIE_EXEC_RUN_VARIABLE "=" ROOT;

/* ":<price>" for each of the prices of counting. */
static bool read_heap_prices(const char *text, struct pie_child_env *child) {
    uint32_t *prices = child->heap_prices;
    int end = 0;

    if (sscanf(text, ":%7" SCNu32 ":%7" SCNu32 ":%7" SCNu32 ":%7" SCNu32 "%n", &prices[0], &prices[1],
               &prices[2], &prices[3], &end) != PIE_HEAP_PRICES ||
        text[end] != '\0')
        return false;
    for (int i = 0; i < PIE_HEAP_PRICES; i++)
        if (prices[i] > PIE_HEAP_PRICE_MAX + 1)
            return false;
    child->has_heap_prices = true;
    return true;
}

/* "<run id>:<pid>" and perhaps prices, as runtime/libc/exec_sigsafe.c writes it. */
static bool read_run(const char *text, struct pie_child_env *child) {
    long long run_id;
    int pid, end = 0;
    if ((child->is_root = strcmp(text, ROOT) == 0))
        return true;
    if (sscanf(text, "%lld:%d%n", &run_id, &pid, &end) != 2 || run_id <= 0 ||
        (text[end] != '\0' && !read_heap_prices(text + end, child)))
        return false;
    child->run_id = run_id;
    child->parent_pid = pid;
    return true;
}

enum { PARTS = 1000000000 }; /* in which a share is written */

/* "<ns of a trap>:<ns of a fault>:<share of a fault>:<ns of an interrupt>", or "-". */
static bool read_price(const char *text, struct pie_child_env *child) {
    unsigned long long trap_ns, tax_ns, parts, interrupt_ns;
    int end = 0;
    if (strcmp(text, "-") == 0)
        return true;
    if (sscanf(text, "%llu:%llu:%llu:%llu%n", &trap_ns, &tax_ns, &parts, &interrupt_ns, &end) != 4 ||
        text[end] != '\0' || parts > PARTS)
        return false;
    child->price = (struct pie_watch_price){.trap_ns = trap_ns,
                                            .fault_tax_ns = tax_ns,
                                            .fault_tax_share = (double)parts / PARTS,
                                            .pmu_interrupt_ns = interrupt_ns};
    child->has_price = true;
    return true;
}

/* "<ns of a signal>:<thousandths>:<ns of a switch>:<ns of one with a long period>:<ns of loading again>", or "-". */
static bool read_clock_price(const char *text, struct pie_child_env *child) {
    unsigned long long signal_ns, whole_permille, switch_ns, long_switch_ns, reload_ns;
    int end = 0;
    if (strcmp(text, "-") == 0)
        return true;
    if (sscanf(text, "%llu:%llu:%llu:%llu:%llu%n", &signal_ns, &whole_permille, &switch_ns, &long_switch_ns,
               &reload_ns, &end) != 5 ||
        text[end] != '\0')
        return false;
    child->clock_price = (struct pie_clock_price){.signal_ns = signal_ns,
                                                  .whole_permille = whole_permille,
                                                  .switch_ns = switch_ns,
                                                  .long_switch_ns = long_switch_ns,
                                                  .reload_ns = reload_ns};
    child->has_clock_price = true;
    return true;
}

static void print_price(const struct pie_watch_price *price, char *text, size_t size) {
    if (price)
        snprintf(text, size, "%llu:%llu:%llu:%llu", (unsigned long long)price->trap_ns,
                 (unsigned long long)price->fault_tax_ns,
                 (unsigned long long)(price->fault_tax_share * PARTS),
                 (unsigned long long)price->pmu_interrupt_ns);
    else
        snprintf(text, size, "-");
}

static void print_clock_price(const struct pie_clock_price *price, char *text, size_t size) {
    if (price)
        snprintf(text, size, "%llu:%llu:%llu:%llu:%llu", (unsigned long long)price->signal_ns,
                 (unsigned long long)price->whole_permille, (unsigned long long)price->switch_ns,
                 (unsigned long long)price->long_switch_ns, (unsigned long long)price->reload_ns);
    else
        snprintf(text, size, "-");
}

/* Five words: target, pid for the summary, the options, the price of watching, that of the clock's signals. */
static bool read_settings(const char *text, struct pie_child_env *child) {
    char **words = pie_words_split(text);
    bool is_good = words && words[0] && words[1] && words[2] && words[3] && words[4] && !words[5] &&
                   read_price(words[3], child) && read_clock_price(words[4], child);
    if (is_good) {
        child->target = strdup(words[0]);
        child->summary_pid = (pid_t)atol(words[1]);
        child->options = strdup(words[2]);
        is_good = child->target && child->options;
    }
    free(words);
    return is_good;
}

void pie_child_env_take(struct pie_child_env *ret_child) {
    const char *settings = getenv(NAME), *run = getenv(PIE_EXEC_RUN_VARIABLE);
    *ret_child = (struct pie_child_env){.is_child = settings != NULL};
    if (settings && run)
        ret_child->is_profiled = read_run(run, ret_child) && read_settings(settings, ret_child);
    if (ret_child->is_profiled) {
        ret_child->variables[0] = strdup(settings);
        ret_child->variables[1] = strdup(run);
    }
    unsetenv(NAME);
    unsetenv(PIE_EXEC_RUN_VARIABLE);
}

void pie_child_env_restore(void *data) {
    const struct pie_child_env *child = data;
    if (child->variables[0] && child->variables[1]) {
        setenv(NAME, child->variables[0], 1);
        setenv(PIE_EXEC_RUN_VARIABLE, child->variables[1], 1);
    }
}

char *pie_child_env_make(const struct pie_options *options, const char *target, pid_t summary_pid,
                         const struct pie_watch_price *price, const struct pie_clock_price *clock_price) {
    char pid[16], price_text[100], clock_text[120], *value = NULL, *variable = NULL;
    snprintf(pid, sizeof pid, "%ld", (long)summary_pid);
    print_price(price, price_text, sizeof price_text);
    print_clock_price(clock_price, clock_text, sizeof clock_text);
    char *string = pie_options_to_string(options);
    bool is_good = string && pie_words_append(&value, target) == 0 && pie_words_append(&value, pid) == 0 &&
                   pie_words_append(&value, string) == 0 && pie_words_append(&value, price_text) == 0 &&
                   pie_words_append(&value, clock_text) == 0;
    if (is_good && asprintf(&variable, NAME "=%s", value) < 0)
        variable = NULL;
    free(string);
    free(value);
    return variable;
}
