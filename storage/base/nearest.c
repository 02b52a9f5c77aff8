/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { WORD_MAX = 32 };

/* Damerau's distance in its restricted form (optimal string alignment): insertions, deletions, replacements and swaps
 * of neighbours. Longer words are compared by their beginnings. */
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t cost[WORD_MAX + 1][WORD_MAX + 1];
    a_size = a_size < WORD_MAX ? a_size : WORD_MAX;
    b_size = b_size < WORD_MAX ? b_size : WORD_MAX;
    for (size_t i = 0; i <= a_size; i++)
        cost[i][0] = i;
    for (size_t j = 0; j <= b_size; j++)
        cost[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        for (size_t j = 1; j <= b_size; j++) {
            size_t best = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (cost[i - 1][j] + 1 < best)
                best = cost[i - 1][j] + 1;
            if (cost[i][j - 1] + 1 < best)
                best = cost[i][j - 1] + 1;
            bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swap && cost[i - 2][j - 2] + 1 < best)
                best = cost[i - 2][j - 2] + 1;
            cost[i][j] = best;
        }
    }
    return cost[a_size][b_size];
}

/* From 0 (the same word is in the phrase) to 1 (no word is like it). */
static double word_distance(const char *word, size_t size, const char *phrase) {
    double best = 1;
    for (const char *other = phrase; *other;) {
        size_t other_size = strcspn(other, " "), longer = size > other_size ? size : other_size;
        longer = longer < WORD_MAX ? longer : WORD_MAX;
        double distance =
            (double)edit_distance(word, size, other, other_size) / (double)(longer ? longer : 1);
        best = distance < best ? distance : best;
        other += other_size;
        other += strspn(other, " ");
    }
    return best > 0.5 ? 1 : best;
}

static double one_way(const char *from, const char *to, size_t *ret_words) {
    double sum = 0;
    for (const char *word = from; *word;) {
        size_t size = strcspn(word, " ");
        sum += word_distance(word, size, to);
        ++*ret_words;
        word += size;
        word += strspn(word, " ");
    }
    return sum;
}

double pie_nearest_distance(const char *a, const char *b) {
    size_t words = 0;
    double sum = one_way(a, b, &words) + one_way(b, a, &words);
    return words ? sum / (double)words : 0;
}

size_t pie_nearest_choose(const char *text, const char *const *phrases, size_t count, size_t *ret_indices,
                          size_t max) {
    size_t found = 0;
    while (found < max) {
        size_t best = count;
        double best_distance = 1;
        for (size_t i = 0; i < count; i++) {
            bool is_taken = false;
            for (size_t j = 0; j < found; j++)
                is_taken = is_taken || ret_indices[j] == i;
            double distance = is_taken ? 1 : pie_nearest_distance(text, phrases[i]);
            if (distance < best_distance) {
                best = i;
                best_distance = distance;
            }
        }
        if (best == count)
            break;
        ret_indices[found++] = best;
    }
    return found;
}
