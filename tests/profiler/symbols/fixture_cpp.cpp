/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/profiler/symbols/fixture_marks.h"

extern "C" {
int fixture_state;
}

namespace shop {

template <typename T> struct Basket {
    T total;
    __attribute__((noinline)) T add(T price, const char *what);
    __attribute__((always_inline)) void count(T price) {
        total += price;
        MARK(count);
    }
};

template <typename T> T Basket<T>::add(T price, const char *what) {
    count(price);
    MARK(add);
    return total + *what;
}

template int Basket<int>::add(int, const char *);

} // namespace shop
