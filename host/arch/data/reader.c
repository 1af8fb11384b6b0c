/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/data/choice.h"

void graft_reader_start_in(struct graft_reader *reader, const struct graft_description *description,
                           const struct graft_config *config, const char *name, int64_t layer,
                           struct graft_error *error) {
    *reader = (struct graft_reader){
        .description = description, .config = config, .whole = config, .layer = layer, .error = error};
    if (description == NULL) {
        return; /* a basic class, which has no choices */
    }
    if (name != NULL || description->n_defaults > 0) {
        reader->status = graft_config_section(config, name, &reader->section, error);
        reader->section.outer = name != NULL ? GRAFT_SECTION_OUTER : NULL;
        reader->section.fallback = description->n_defaults > 0 ? graft_defaults_find : NULL;
        reader->section.fallback_data = description;
        reader->config = reader->status == GRAFT_OK ? &reader->section.view : config;
    }
}

void graft_reader_start(struct graft_reader *reader, const struct graft_description *description,
                        const struct graft_config *config, int64_t layer, struct graft_error *error) {
    const char *name = description != NULL ? description->section : NULL;
    const char *section = name != NULL && graft_config_has(config, name) ? name : NULL;
    graft_reader_start_in(reader, description, config, section, layer, error);
}

static struct graft_scope scope_of(const struct graft_reader *reader, int32_t choice, struct graft_error *error) {
    return (struct graft_scope){.expression = reader->description->entries[choice].expression,
                                .config = reader->config,
                                .layer = reader->layer,
                                .error = error};
}

/* A choice's name in messages: the field that determines it, else its text; for a constant the name of the choice. */
static void label_choice(const struct graft_reader *reader, int32_t choice, const struct graft_operand *operand,
                         struct graft_label *label) {
    const struct graft_scope scope = scope_of(reader, choice, NULL);
    struct graft_value value;
    if (operand->field < 0 && graft_expression_fixed(scope.expression, &value)) {
        (void)snprintf(label->text, sizeof label->text, "%s", reader->description->choices->infos[choice].name);
    } else {
        graft_operand_label(&scope, scope.expression->root, operand, label);
    }
}

static void fail(struct graft_reader *reader, int32_t choice, const struct graft_operand *operand,
                 const char *message) {
    struct graft_label label;
    label_choice(reader, choice, operand, &label);
    reader->status =
        graft_error_set(reader->error, GRAFT_ERROR_MODEL, reader->config->file, "%s: %s", label.text, message);
}

static void fail_null(struct graft_reader *reader, int32_t choice, const struct graft_operand *operand) {
    const struct graft_scope scope = scope_of(reader, choice, NULL);
    struct graft_label expected, message;
    graft_choice_expects(&reader->description->choices->infos[choice], &expected);
    (void)snprintf(message.text, sizeof message.text,
                   graft_operand_is_missing(&scope, operand) ? "missing, expected %.1000s"
                                                             : "expected %.1000s, got null",
                   expected.text);
    fail(reader, choice, operand, message.text);
}

static int evaluate(struct graft_reader *reader, int32_t choice, struct graft_operand *operand) {
    struct graft_scope scope = scope_of(reader, choice, reader->error);
    if (reader->status == GRAFT_OK) {
        *operand = graft_evaluate_node(&scope, scope.expression->root);
        reader->status = scope.status;
    }
    return reader->status == GRAFT_OK;
}

/* Evaluates a choice. Returns 1 with a value. Returns 0 after an error, also an earlier one, or if the choice is null,
 * which it may be. */
static int read(struct graft_reader *reader, int32_t choice, struct graft_operand *operand) {
    const struct graft_choice_info *info = &reader->description->choices->infos[choice];
    struct graft_label fault;
    if (!evaluate(reader, choice, operand)) {
        return 0;
    }
    if (operand->value.kind == GRAFT_VALUE_NULL) {
        if ((info->flags & GRAFT_CHOICE_NULLABLE) == 0) {
            fail_null(reader, choice, operand);
        }
        return 0;
    }
    if (graft_choice_fault(info, &operand->value, operand->is_own, &fault)) {
        fail(reader, choice, operand, fault.text);
        return 0;
    }
    return 1;
}

int graft_read_is_null(struct graft_reader *reader, int32_t choice) {
    struct graft_operand operand;
    if (reader->description->choices->infos[choice].kind == GRAFT_CHOICE_NAME) {
        return reader->description->entries[choice].name == NULL;
    }
    return evaluate(reader, choice, &operand) && operand.value.kind == GRAFT_VALUE_NULL;
}

int64_t graft_read_int(struct graft_reader *reader, int32_t choice) {
    struct graft_operand operand;
    if (!read(reader, choice, &operand)) {
        return 0;
    }
    return operand.value.kind == GRAFT_VALUE_INT ? operand.value.integer : (int64_t)operand.value.real;
}

double graft_read_real(struct graft_reader *reader, int32_t choice) {
    struct graft_operand operand;
    return read(reader, choice, &operand) ? operand.value.real : 0.0;
}

int32_t graft_read_bool(struct graft_reader *reader, int32_t choice) {
    struct graft_operand operand;
    return read(reader, choice, &operand) && operand.value.integer != 0;
}

const char *graft_read_text(struct graft_reader *reader, int32_t choice) {
    struct graft_operand operand;
    return read(reader, choice, &operand) ? operand.value.text : NULL;
}

int32_t graft_read_word(struct graft_reader *reader, int32_t choice) {
    struct graft_operand operand;
    return read(reader, choice, &operand)
               ? graft_choice_word(reader->description->choices->infos[choice].words, operand.value.text)
               : -1;
}

void graft_reader_fail(struct graft_reader *reader, int32_t choice, const char *format, ...) {
    const struct graft_choice_info *info = &reader->description->choices->infos[choice];
    char message[sizeof reader->error->message];
    va_list arguments;
    if (reader->status != GRAFT_OK) {
        return;
    }
    va_start(arguments, format);
    graft_error_write(message, sizeof message, format, arguments);
    va_end(arguments);
    if (info->kind == GRAFT_CHOICE_NAME) {
        reader->status =
            graft_error_set(reader->error, GRAFT_ERROR_MODEL, reader->config->file, "%s: %s", info->name, message);
        return;
    }
    struct graft_scope scope = scope_of(reader, choice, NULL);
    const struct graft_operand operand = graft_evaluate_node(&scope, scope.expression->root);
    fail(reader, choice, &operand, message);
}
