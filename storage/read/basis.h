/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a finding rests on, by rank: of several at one line that stand alone, the last one is the line's. The view
 * x_basis (storage/read/views/basis.sql) says more of each. */
enum pie_basis {
    PIE_BASIS_WATCHES,        /* accesses that were watched */
    PIE_BASIS_COPIES,         /* copies that grow */
    PIE_BASIS_SHIFTS,         /* items that move, as sampled copies show */
    PIE_BASIS_READS,          /* all that was there is read, as samples of time met it */
    PIE_BASIS_ELEMENTS,       /* one element at a time, as samples of time met it */
    PIE_BASIS_PUTS,           /* … and one element that is set at a time */
    PIE_BASIS_SAME_CALLS,     /* calls of own code that do the same again, as watches show */
    PIE_BASIS_CALLS,          /* calls of own code that were counted, … */
    PIE_BASIS_SEARCHES,       /* … searches of lists, … */
    PIE_BASIS_SLICES,         /* … slices that are copied, … */
    PIE_BASIS_COUNTED_SHIFTS, /* … items that move, … */
    PIE_BASIS_CODE,           /* … text that is made into code, … */
    PIE_BASIS_LISTS,          /* … lists of numbers that are made into arrays, … */
    PIE_BASIS_ZEROS,          /* … products with arrays that are zero nearly everywhere, … */
    PIE_BASIS_SYSTEMS,        /* … systems of equations of that kind, … */
    PIE_BASIS_ARRAYS,         /* … and lists of arrays that another library takes number by number */
};
