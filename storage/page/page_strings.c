/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page_strings.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "storage/page/page_json.h"

int pie_page_strings_init(struct pie_page_strings *strings) {
    *strings = (struct pie_page_strings){.list = json_array()};
    return strings->list ? 0 : -ENOMEM;
}

void pie_page_strings_finish(struct pie_page_strings *strings) {
    json_decref(strings->list);
    pie_idmap_finish(&strings->numbers);
}

/* Found by the text as it is written: what was cut to the same is the same. */
json_t *pie_page_string(struct pie_page_strings *strings, const char *text) {
    json_t *value = pie_page_text(text);
    if (!json_is_string(value))
        return value;
    const char *key = json_string_value(value);
    size_t size = json_string_length(value), bytes;
    uint32_t number = pie_idmap_get(&strings->numbers, key, size);
    if (number == 0) {
        number = (uint32_t)json_array_size(strings->list) + 1;
        bytes = pie_page_size(value);
        if (bytes == SIZE_MAX || pie_idmap_add(&strings->numbers, key, size, number) < 0 ||
            json_array_append(strings->list, value) < 0) {
            json_decref(value);
            return NULL;
        }
        strings->bytes += bytes + 1;
    }
    json_decref(value);
    return json_integer(number - 1);
}

static bool is_kept(void *data, uint32_t number) {
    const size_t *count = data;
    return number <= *count;
}

int pie_page_strings_forget(struct pie_page_strings *strings, size_t count) {
    if (pie_idmap_forget(&strings->numbers, is_kept, &count) < 0)
        return -ENOMEM;
    while (json_array_size(strings->list) > count) {
        size_t last = json_array_size(strings->list) - 1;
        strings->bytes -= pie_page_size(json_array_get(strings->list, last)) + 1;
        json_array_remove(strings->list, last);
    }
    return 0;
}
