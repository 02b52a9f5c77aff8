/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/text/style.h"

#include "launcher/text/text.h"

struct pie_style pie_style_for(FILE *out) {
    if (!pie_text_is_colourful(out))
        return (struct pie_style){.bold = "", .dim = "", .hot = "", .warm = "", .plain = ""};
    return (struct pie_style){
        .bold = "\033[1m", .dim = "\033[2m", .hot = "\033[1;31m", .warm = "\033[33m", .plain = "\033[0m"};
}
