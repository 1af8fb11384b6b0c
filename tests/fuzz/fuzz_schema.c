/* SPDX-License-Identifier: Apache-2.0 */
/* JSON schemas: what is read and finished can be walked, and what is refused is said. */
#include <stdlib.h>

#include "fuzz/target.h"
#include "fuzz/walk.h"
#include "grammar/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_rules rules = {0};
    graft_json *schema = NULL;
    if (graft_json_parse((const char *)bytes, size, "fuzz.json", &schema, NULL) != GRAFT_OK) {
        return 0;
    }
    int status = graft_schema_read(schema, "fuzz.json", &rules, &error);
    if (status == GRAFT_OK) {
        status = graft_rules_finish(&rules, "fuzz.json", &error);
    }
    if (status != error.code || (status != GRAFT_OK && error.message[0] == '\0')) {
        abort();
    }
    if (status == GRAFT_OK) {
        walk_grammar(&rules, (uint32_t)size);
    }
    graft_rules_free(&rules);
    graft_json_free(schema);
    return 0;
}
