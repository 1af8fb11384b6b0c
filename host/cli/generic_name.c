/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/generic_name.h"

#include <string.h>

void graft_generic_name_add(struct graft_text *text, const char *name) {
    while (*name != '\0') {
        size_t length = strcspn(name, ".");
        if (strspn(name, "0123456789") == length) {
            graft_text_add(text, "*", 1);
        } else {
            graft_text_add(text, name, length);
        }
        name += length;
        if (*name == '.') {
            graft_text_add(text, name++, 1);
        }
    }
}
