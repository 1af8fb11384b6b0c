/* SPDX-License-Identifier: Apache-2.0 */
/* Renders a template with its variables. */
#include <string.h>

#include "base/fail.h"
#include "jinja/run.h"

/* Of 224 published templates, all but one render a conversation of 2,001 messages (0.85 MB) within these limits; that
 * one rebuilds its whole text for each message. At worst the steps take seconds. */
const struct graft_jinja_limits graft_jinja_usual_limits = {
    .steps = 20 * 1000 * 1000,
    .memory = (size_t)512 << 20,
    .output = (size_t)64 << 20,
    .depth = 800,
};

void graft_jinja_output_free(struct graft_jinja_output *output) {
    graft_text_free(&output->text);
    graft_text_free(&output->marks);
}

static int take_variables(struct graft_jinja_run *run, const struct graft_jinja_variable *variables, size_t n) {
    int status = graft_jinja_push_scope(run, NULL);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_jinja_string name = graft_jinja_literal(variables[i].name);
        struct graft_jinja_value value;
        status = graft_jinja_take_input(run, &variables[i], &value);
        if (status == GRAFT_OK) {
            status = graft_jinja_assign(run, &name, &value);
        }
    }
    return status;
}

/* Moves the text to the caller, with one mark for each byte. */
static int hand_over(struct graft_jinja_run *run, struct graft_jinja_builder *text, struct graft_jinja_output *output) {
    static const char none[256];
    while (text->marks.length < text->text.length && !text->marks.failed) {
        size_t missing = text->text.length - text->marks.length;
        graft_text_add(&text->marks, none, missing < sizeof none ? missing : sizeof none);
    }
    graft_text_add(&text->text, "", 0);
    graft_text_add(&text->marks, "", 0);
    if (text->marks.failed || text->text.failed) {
        return graft_fail_memory(run->error, run->parsed->source.name);
    }
    output->text = text->text;
    output->marks = text->marks;
    return GRAFT_OK;
}

int graft_jinja_render(const struct graft_jinja_template *parsed, const struct graft_jinja_variable *variables,
                       size_t n, time_t now, const struct graft_jinja_limits *limits, struct graft_jinja_output *output,
                       struct graft_error *error) {
    struct graft_error own = graft_error_none();
    struct graft_jinja_builder text = {0};
    struct graft_jinja_run run = {.parsed = parsed, .limits = limits, .out = &text, .now = now, .error = &own};
    run.arena.limit = limits->memory;
    *output = (struct graft_jinja_output){0};
    int status = take_variables(&run, variables, n);
    if (status == GRAFT_OK) {
        status = graft_jinja_execute(&run, parsed->body);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_spend(&run, 0); /* the last comparison may have reached the limit */
    }
    if (status == GRAFT_OK) {
        status = hand_over(&run, &text, output);
    }
    if (status != GRAFT_OK) {
        graft_jinja_builder_free(&text);
    }
    graft_jinja_arena_finish(&run.arena);
    return graft_fail_with(error, &own, status);
}
