/* SPDX-License-Identifier: Apache-2.0 */
/* JSON schemas: texts can be generated from an accepted schema, and a refused one gets a message. */
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
    const int status = graft_schema_read(schema, "fuzz.json", &rules, &error);
    use_rules(&rules, status, "fuzz.json", &error, (uint32_t)size);
    graft_json_free(schema);
    return 0;
}
