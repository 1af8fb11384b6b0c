/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of family files: a line with an expression, followed by a config. Evaluation ends with a value or with an
 * error that has a message, and each kind of choice only gets values that it allows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arch/data/description.h"
#include "config/config.h"
#include "fuzz/target.h"

enum { TEXT, WORD, INT, REAL, BOOL, COUNT };

static const struct graft_choice_info infos[COUNT] = {
    [TEXT] = {.name = "text", .kind = GRAFT_CHOICE_TEXT, .flags = GRAFT_CHOICE_NULLABLE | GRAFT_CHOICE_BY_LAYER},
    [WORD] = {.name = "word", .kind = GRAFT_CHOICE_WORD, .words = "rms layer", .fallback = "rms"},
    [INT] = {.name = "int", .kind = GRAFT_CHOICE_INT, .flags = GRAFT_CHOICE_BY_LAYER, .minimum = 1, .maximum = 99},
    [REAL] = {.name = "real", .kind = GRAFT_CHOICE_REAL, .flags = GRAFT_CHOICE_ABOVE | GRAFT_CHOICE_BY_LAYER},
    [BOOL] = {.name = "bool", .kind = GRAFT_CHOICE_BOOL, .flags = GRAFT_CHOICE_BY_LAYER},
};

static const struct graft_choices choices = {infos, COUNT};

static void expect(int holds) {
    if (!holds) {
        abort();
    }
}

static int visit(void *data, const char *path) {
    (void)data;
    return path[0] == '\0';
}

static void evaluate(const char *text, const struct graft_config *config) {
    struct graft_error error = graft_error_none();
    struct graft_expression *expression = graft_expression_parse(text, "fuzz", &error);
    expect((expression == NULL) == (error.code == GRAFT_ERROR_PLUGIN && error.message[0] != '\0'));
    if (expression == NULL) {
        return;
    }
    expect(strcmp(graft_expression_text(expression), text) == 0);
    expect(graft_expression_uses(expression, visit, NULL) == 0);
    for (int64_t layer = -1; layer < 3; layer++) {
        struct graft_value value;
        error = graft_error_none();
        int status = graft_expression_evaluate(expression, config, layer, &value, &error);
        expect(status == error.code &&
               (status == GRAFT_OK || (status == GRAFT_ERROR_MODEL && error.message[0] != '\0')));
        expect(value.kind >= GRAFT_VALUE_NULL && value.kind <= GRAFT_VALUE_TEXT);
        expect((value.kind == GRAFT_VALUE_TEXT) == (value.text != NULL));
        (void)graft_expression_field(expression, config, layer);
    }
    graft_expression_destroy(expression);
}

static void read(struct graft_reader *reader, int32_t choice) {
    int64_t integer = 0;
    double real = 0.0;
    switch (choice) {
    case TEXT:
        (void)graft_read_text(reader, TEXT);
        return;
    case WORD:
        expect(graft_read_word(reader, WORD) < 2);
        return;
    case INT:
        integer = graft_read_int(reader, INT);
        expect(reader->status == GRAFT_OK ? integer >= 1 && integer <= 99 : integer == 0);
        return;
    case REAL:
        real = graft_read_real(reader, REAL);
        expect(reader->status == GRAFT_OK ? real > 0.0 && isfinite(real) : real == 0.0);
        return;
    default:
        expect((graft_read_bool(reader, BOOL) & ~1) == 0);
    }
}

static void describe(const char *text, const struct graft_config *config) {
    const struct graft_value value = {.kind = GRAFT_VALUE_TEXT, .text = text};
    struct graft_description *description = graft_description_create(&choices, NULL);
    expect(description != NULL);
    for (int32_t choice = 0; choice < COUNT; choice++) {
        struct graft_error error = graft_error_none();
        int status = graft_description_set(description, choice, &value, "fuzz", &error);
        expect(status == error.code && (status == GRAFT_OK || status == GRAFT_ERROR_PLUGIN));
        if (status == GRAFT_OK) {
            struct graft_reader reader;
            graft_reader_start(&reader, description, config, 1, &error);
            read(&reader, choice);
            expect(reader.status == error.code);
        }
    }
    graft_description_destroy(description);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char text[GRAFT_EXPRESSION_MAX + 64];
    const uint8_t *end = size > 0 ? memchr(bytes, '\n', size) : NULL;
    size_t length = end != NULL ? (size_t)(end - bytes) : size;
    size_t rest = end != NULL ? size - length - 1 : 0;
    graft_json *document = NULL;
    if (length >= sizeof text || graft_json_parse(rest > 0 ? (const char *)end + 1 : "{}", rest > 0 ? rest : 2,
                                                  "config.json", &document, NULL) != GRAFT_OK) {
        return 0;
    }
    if (graft_config_check_document(document, "config.json", NULL) == GRAFT_OK) {
        const struct graft_config config = graft_config_view(document, "config.json");
        memcpy(text, bytes, length);
        text[length] = '\0';
        evaluate(text, &config);
        describe(text, &config);
    }
    graft_json_free(document);
    return 0;
}
