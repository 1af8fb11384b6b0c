/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/size.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int graft_size_parse(const char *text, int64_t *bytes) {
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1.0}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
    char *end;
    double number = strtod(text, &end);
    if (end == text || end != text + strspn(text, "0123456789.")) {
        return -1; /* no number, or one with a sign, an exponent, hexadecimal digits */
    }
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcasecmp(end, units[i].name) == 0) {
            number *= units[i].factor;
            *bytes = number >= 1.0 && number < 9e18 ? (int64_t)number : 0;
            return *bytes > 0 ? 0 : -1;
        }
    }
    return -1;
}
