/* SPDX-License-Identifier: Apache-2.0 */
/* Chat templates: a template that parses is rendered within its limits, and each byte of the result has a mark. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "jinja/jinja.h"

static const char input[] =
    "{\"messages\": [{\"role\": \"system\", \"content\": \"Be kind\"}, {\"role\": \"user\", \"content\": [{\"type\": "
    "\"text\", \"text\": \"H\xC3\xA4 <b>\\n\"}, {\"type\": \"image\"}]}, {\"role\": \"assistant\", \"content\": "
    "\"<think>a</think>b\", \"n\": [1, 2.5, true, null]}], \"tools\": [{\"type\": \"function\", \"function\": "
    "{\"name\": \"f\", \"parameters\": {\"properties\": {\"b\": {\"type\": \"string\"}, \"a\": {}}}}}]}";

static void render(const struct graft_jinja_template *parsed) {
    static const struct graft_jinja_limits limits = {
        .steps = 20000, .memory = (size_t)8 << 20, .output = 1 << 16, .depth = 200};
    struct graft_error error = graft_error_none();
    struct graft_jinja_output output = {0};
    graft_json *document = NULL;
    if (graft_json_parse(input, sizeof input - 1, "fuzz", &document, NULL) != GRAFT_OK) {
        abort();
    }
    const struct graft_jinja_variable variables[] = {
        {"messages", graft_json_get(document, "messages"), 1, "role"},
        {"tools", graft_json_get(document, "tools"), 1, NULL},
    };
    int status = graft_jinja_render(parsed, variables, 2, 0, &limits, &output, &error);
    if (status != error.code || (status != GRAFT_OK && error.message[0] == '\0') ||
        (status == GRAFT_OK &&
         (output.marks.length != output.text.length || output.text.length > limits.output ||
          graft_utf8_valid_prefix(output.text.bytes, output.text.length) != output.text.length))) {
        abort();
    }
    graft_jinja_output_free(&output);
    graft_json_free(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_jinja_template *parsed = NULL;
    int status = graft_jinja_parse((const char *)bytes, size, "fuzz.jinja", &parsed, &error);
    if (status != error.code || (status == GRAFT_OK) != (parsed != NULL) ||
        (status != GRAFT_OK && error.message[0] == '\0')) {
        abort();
    }
    if (parsed != NULL) {
        render(parsed);
    }
    graft_jinja_free(parsed);
    return 0;
}
