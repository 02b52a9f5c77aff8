/* SPDX-License-Identifier: Apache-2.0 */

/* From what was seen to what all iterations took.
 *
 * Long iterations. Where one in a thousand takes a hundred times as long as the others, some hundred observed ones
 * hardly tell what these take together; but ten times as many are timed. So how many are long and what they take comes
 * from all that were looked at, and only how it divides among the calls from those that were observed.
 *
 * The body's own code is what an observer sees worst: some nanoseconds an instruction, behind what observing one costs.
 * And a call that is observed takes longer by something in the order of that cost: specialised instructions do not run,
 * bound methods are made. Both are unknown, x and b, and what is known of them is put together by how sure it is, as
 * Kalman's filter does:
 *
 * - x by the instructions of observed iterations, less the cost of observing instructions that do next to nothing:
 *   right where they do much, as with large arrays;
 * - x by their number: what does next to nothing takes a small part of what observing it costs, on a slow machine as on
 *   a fast one; unless they were seen to do more;
 * - b by what was seen on the programs of bench/learn;
 * - x and b together: calls as observed, less b for each, and x are the time of an iteration that was only timed. Long
 *   ones, which chance has more or fewer of, count in it as just about long. */

#include "profiler/trace/internal.h"

#include <math.h>

enum {
    TIMED_MIN = 16,
    ALIKE =
        7, /* iterations of a burst, which may be all alike: they are one more observation, in the worst case */
};
/* In parts of what observing an instruction costs. */
static const double PLAIN_STEP = 0.02, CALL_BIAS = 0.5, CALL_BIAS_ERROR = 0.5;

double pie_trace_body_s(const struct pie_trace_loop *loop) {
    return loop->epoch.body.count >= TIMED_MIN ? loop->epoch.body.mean : loop->all_body.mean;
}

static double square(double x) {
    return x * x;
}

static double variance_of_mean(const struct pie_trace_mean *mean) {
    return mean->count > 1 ? mean->m2 / (double)(mean->count - 1) / (double)mean->count : INFINITY;
}

static uint64_t all_of(const struct pie_trace_lengths *lengths) {
    return lengths->count[PIE_TRACE_ORDINARY] + lengths->count[PIE_TRACE_LONG];
}

/* The first two: what instructions of observed iterations say. */
static double own_by_steps(const struct pie_trace_epoch *epoch, double *ret_var_s2) {
    double observing_s = epoch->own_steps.mean * epoch->step_s, plain_s = PLAIN_STEP * observing_s;
    double error_s = PIE_TRACE_STEP_ERROR * observing_s, more_s = fmax(epoch->own.mean - error_s, 0);
    double seen_var = variance_of_mean(&epoch->own) + square(error_s),
           plain_var = square(plain_s) + square(more_s);
    double seen_part = isfinite(seen_var) ? plain_var / (plain_var + seen_var + 1e-30) : 0;

    *ret_var_s2 = isfinite(seen_var) ? seen_part * seen_var : plain_var;
    return plain_s + seen_part * epoch->own.mean;
}

struct pie_trace_estimate pie_trace_estimate(const struct pie_trace_loop *loop) {
    const struct pie_trace_epoch *epoch = &loop->epoch;
    struct pie_trace_estimate found = {.bias_s = CALL_BIAS * epoch->step_s};

    if (all_of(&epoch->seen) == 0)
        return (struct pie_trace_estimate){0};
    found.own_s = own_by_steps(epoch, &found.own_var_s2);
    double error_s = epoch->body_capped.mean -
                     (epoch->called_capped.mean - epoch->calls.mean * found.bias_s + found.own_s);
    double bias_var = square(CALL_BIAS_ERROR * epoch->step_s);
    double var_s2 = variance_of_mean(&epoch->body_capped) + ALIKE * variance_of_mean(&epoch->called_capped) +
                    found.own_var_s2 + square(epoch->calls.mean) * bias_var;
    if (epoch->body_capped.count >= TIMED_MIN && isfinite(var_s2) && var_s2 > 0) {
        found.own_s += found.own_var_s2 / var_s2 * error_s;
        found.bias_s -= epoch->calls.mean * bias_var / var_s2 * error_s;
        found.own_var_s2 *= 1 - found.own_var_s2 / var_s2;
    }
    if (found.bias_s < 0) { /* no call comes out too short: what is missing is own code */
        found.own_s -= epoch->calls.mean * found.bias_s;
        found.bias_s = 0;
    }
    found.own_s = fmax(found.own_s, 0);
    return found;
}

/* A call's time in an iteration, s. Ordinary ones by their number, long ones by what they take. */
static double mean_of(const struct pie_trace_loop *loop, const struct pie_trace_call *call, double bias_s) {
    const struct pie_trace_lengths *seen = &loop->epoch.seen, *timed = &loop->epoch.timed;
    double all = (double)(all_of(seen) + all_of(timed)), mean_s = 0;
    uint64_t ordinary = seen->count[PIE_TRACE_ORDINARY];

    if (ordinary > 0)
        mean_s += call->found.seconds[PIE_TRACE_ORDINARY] / (double)ordinary *
                  (double)(ordinary + timed->count[PIE_TRACE_ORDINARY]) / all;
    if (seen->seconds[PIE_TRACE_LONG] > 0)
        mean_s += call->found.seconds[PIE_TRACE_LONG] / seen->seconds[PIE_TRACE_LONG] *
                  (seen->seconds[PIE_TRACE_LONG] + timed->seconds[PIE_TRACE_LONG]) / all;
    return fmax(mean_s - bias_s * (double)call->found.calls / (double)all_of(seen), 0);
}

/* What a call that was not met in any round of this epoch may take in an iteration all the same: the rarer it is the
 * more rounds there were, and it takes as long as it did before. */
static double unseen_s(const struct pie_trace_loop *loop, const struct pie_trace_call *call) {
    double rounds = (double)loop->race.rounds, most = log(1 / (1 - pie_trace_settings()->confidence));

    return rounds > most ? most / rounds * call->times.mean_ns * 1e-9 : 0;
}

struct pie_trace_sum pie_trace_epoch_sum(const struct pie_trace_loop *loop, unsigned number, double bias_s) {
    const struct pie_trace_call *call = &loop->calls[number];
    struct pie_arm arm = pie_race_arm(&loop->race, (int)number - 1);
    double iterations = (double)loop->epoch.iterations, low = 0, high = 0;

    if (call->found.calls == 0)
        return (struct pie_trace_sum){.high_s = unseen_s(loop, call) * iterations};
    pie_race_interval(&loop->race, (int)number - 1, &low, &high);
    double mean_s = mean_of(loop, call, bias_s);
    return (struct pie_trace_sum){
        .seconds = mean_s * iterations,
        .low_s = fmax(mean_s - (arm.mean - low), 0) * iterations,
        .high_s = (isfinite(high) ? mean_s + (high - arm.mean) : mean_s) * iterations,
        .calls = (double)call->found.calls / (double)all_of(&loop->epoch.seen) * iterations,
    };
}
