/* SPDX-License-Identifier: Apache-2.0 */
/* Grammars in GBNF: what is read and finished can be walked, and masks leave what each token alone says. */
#include <stdlib.h>

#include "fuzz/target.h"
#include "fuzz/walk.h"
#include "grammar/gbnf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_rules rules = {0};
    int status = graft_gbnf_read((const char *)bytes, size, "fuzz.gbnf", &rules, &error);
    if (status == GRAFT_OK) {
        status = graft_rules_finish(&rules, "fuzz.gbnf", &error);
    }
    if (status != error.code || (status != GRAFT_OK && error.message[0] == '\0')) {
        abort();
    }
    if (status == GRAFT_OK) {
        walk_grammar(&rules, (uint32_t)size);
    }
    graft_rules_free(&rules);
    return 0;
}
