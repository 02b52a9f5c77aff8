/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/serve/gate.h"
#include "launcher/serve/policy.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "storage/page/page.h"

static const struct pie_gate gate = {.token = "00112233445566778899aabbccddeeff", .port = 8080};
static const struct pie_request good = {
    .method = "GET", .path = "/", .host = "127.0.0.1:8080", .token = "00112233445566778899aabbccddeeff"};

static void test_a_new_token_is_random_and_has_128_bits(void **state) {
    struct pie_gate one, other;
    assert_int_equal(pie_gate_init(&one, 1), 0);
    assert_int_equal(pie_gate_init(&other, 1), 0);
    assert_int_equal(strlen(one.token), 32);
    assert_int_equal(strspn(one.token, "0123456789abcdef"), 32);
    assert_string_not_equal(one.token, other.token);
}

static void test_only_names_of_loopback_are_hosts(void **state) {
    static const char *const ours[] = {"127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080"};
    static const char *const foreign[] = {"",
                                          "evil.example",
                                          "evil.example:8080",
                                          "127.0.0.1",
                                          "127.0.0.1:8081",
                                          "127.0.0.1:80800",
                                          "127.0.0.2:8080",
                                          "::1:8080",
                                          "localhost.evil.example:8080",
                                          " localhost:8080",
                                          NULL};
    struct pie_request request = good;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        request.host = ours[i];
        assert_int_equal(pie_gate_judge(&gate, &request), PIE_GATE_OPEN);
    }
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        request.host = foreign[i];
        assert_int_equal(pie_gate_judge(&gate, &request), PIE_GATE_FOREIGN_HOST);
    }
}

static void test_port_80_is_left_out_by_browsers(void **state) {
    struct pie_gate on_80 = gate;
    struct pie_request request = good;
    on_80.port = 80;
    request.host = "localhost";
    request.origin = "http://localhost";
    assert_int_equal(pie_gate_judge(&on_80, &request), PIE_GATE_OPEN);
}

static void test_another_origin_is_refused(void **state) {
    static const char *const foreign[] = {"null",
                                          "http://evil.example",
                                          "https://127.0.0.1:8080",
                                          "http://127.0.0.1:8081",
                                          "http://127.0.0.1",
                                          "127.0.0.1:8080"};
    struct pie_request request = good;
    request.origin = "http://127.0.0.1:8080";
    assert_int_equal(pie_gate_judge(&gate, &request), PIE_GATE_OPEN);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        request.origin = foreign[i];
        assert_int_equal(pie_gate_judge(&gate, &request), PIE_GATE_FOREIGN_ORIGIN);
    }
}

static void test_the_token_has_to_be_whole(void **state) {
    static const char *const wrong[] = {NULL, "", "0", "00112233445566778899aabbccddeefe",
                                        "00112233445566778899aabbccddeeff0"};
    struct pie_request request = good;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        request.token = wrong[i];
        assert_int_equal(pie_gate_judge(&gate, &request), PIE_GATE_NO_TOKEN);
    }
}

static void test_nothing_but_reading(void **state) {
    struct pie_request request = good;
    request.method = "HEAD";
    assert_int_equal(pie_gate_judge(&gate, &request), PIE_GATE_OPEN);
    request.method = "POST";
    assert_int_equal(pie_gate_judge(&gate, &request), PIE_GATE_BAD_METHOD);
}

static void test_a_page_may_ask_its_server(void **state) {
    static const char head[] =
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\"><i>";
    const struct pie_page_template page = {head, "</i>", sizeof head - 1, 4};
    const struct pie_page_template bare = {"<i>", "</i>", 3, 4};
    struct pie_policy policy;
    assert_int_equal(pie_policy_init(&policy, &page), 0);
    assert_string_equal(policy.header, "default-src 'none'; connect-src 'self'; frame-ancestors 'none'");
    assert_string_equal(policy.page,
                        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                        "connect-src 'self'\"><i>{\"served\":true}</i>");
    pie_policy_finish(&policy);
    assert_int_equal(pie_policy_init(&policy, &bare), -EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_token_is_random_and_has_128_bits),
        cmocka_unit_test(test_only_names_of_loopback_are_hosts),
        cmocka_unit_test(test_port_80_is_left_out_by_browsers),
        cmocka_unit_test(test_another_origin_is_refused),
        cmocka_unit_test(test_the_token_has_to_be_whole),
        cmocka_unit_test(test_nothing_but_reading),
        cmocka_unit_test(test_a_page_may_ask_its_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
