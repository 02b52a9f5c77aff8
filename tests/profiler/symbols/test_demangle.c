/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/symbols/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/skip.h"

static void assert_demangled(const char *symbol, const char *expected) {
    char *name = pie_demangle(symbol);
    assert_non_null(name);
    assert_string_equal(name, expected);
    free(name);
}

static void test_plain_names_stay(void **state) {
    static const char *const names[] = {"main",           "",    "_",   ".",      "@",
                                        ".cold",          "a.b", "x.5", "_start", "Z3foo",
                                        "list.partial.3", "_Z",  "_R",  "_ZN",    "__libc_malloc"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_demangled(names[i], names[i]);
}

static void test_versions_are_cut(void **state) {
    assert_demangled("memcpy@GLIBC_2.2.5", "memcpy");
    assert_demangled("memcpy@@GLIBC_2.14", "memcpy");
}

static void test_clones_are_their_function(void **state) {
    assert_demangled("list_resize.part.0", "list_resize");
    assert_demangled("f.constprop.12.isra.0.cold", "f");
    assert_demangled("_PyEval_EvalFrameDefault.lto_priv.0", "_PyEval_EvalFrameDefault");
    assert_demangled("f.llvm.1234567890", "f");
    assert_demangled("f.cold", "f");
    assert_demangled("f.3.cold", "f.3");
}

static void test_mangled_names(void **state) {
    char *name = pie_demangle_mangled("_Z1fv");
    free(name);
    if (!name)
        skip_because("built without libiberty");
    assert_demangled("_Z1fv", "f()");
    assert_demangled("_ZN2at6native3addERKNS_6TensorES3_",
                     "at::native::add(at::Tensor const&, at::Tensor const&)");
    assert_demangled("_ZN2at6native3addERKNS_6TensorES3_.part.0",
                     "at::native::add(at::Tensor const&, at::Tensor const&)");
    assert_demangled("_ZNSt6vectorIiSaIiEE9push_backEOi",
                     "std::vector<int, std::allocator<int> >::push_back(int&&)");
    /* Rust, old and new scheme: without the hash. */
    assert_demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
    assert_demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.42", "core::fmt::Formatter::pad");
    assert_demangled("_RNvCs1234_7mycrate3foo", "mycrate::foo");
    assert_demangled("_RNvMs_NtCs1234_6polars5frameNtB4_9DataFrame6filter",
                     "<polars::frame::DataFrame>::filter");
}

/* A name that would unfold to more than memory holds, one nested beyond all sense, and one that is cut off. */
static void test_malicious_names_stay(void **state) {
    char bomb[512] = "_Z1f";
    strcat(bomb, "PFvS_S_E");
    for (int i = 0; i < 30; i++) {
        char level[16] = "PFvSx_Sx_E";
        level[4] = level[7] = (char)(i < 10 ? '0' + i : 'A' + i - 10);
        strcat(bomb, level);
    }
    char *name = pie_demangle(bomb);
    assert_non_null(name);
    assert_true(strlen(name) < 64 * 1024);
    free(name);

    enum { DEEP = 200000 };
    char *deep = malloc(DEEP + 8);
    memcpy(deep, "_Z1f", 4);
    memset(deep + 4, 'P', DEEP);
    memcpy(deep + 4 + DEEP, "i", 2);
    assert_demangled(deep, deep);
    free(deep);
    assert_demangled("_ZN2at6native3addERKNS_6Tens", "_ZN2at6native3addERKNS_6Tens");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_names_stay),          cmocka_unit_test(test_versions_are_cut),
        cmocka_unit_test(test_clones_are_their_function), cmocka_unit_test(test_mangled_names),
        cmocka_unit_test(test_malicious_names_stay),
    };
    return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
