/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/family_report.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "cli/output.h"

enum { MAX_EXAMPLES = 3, MAX_SHOWN = 60 };

static const char *text_of(const graft_json *array, size_t i) {
    return graft_json_string(graft_json_at(array, i), NULL);
}

/* --- Summary of the file --- */

static void print_value(const char *what, const char *name, const graft_json *value, const char *why) {
    char *text = graft_json_dump(value, 0);
    graft_output_line(stdout, "  %s%s: %s%s", what, name, text != NULL ? text : "?", why);
    graft_free(text);
}

static void print_said(const struct family_draft *draft) {
    void *iterator = NULL;
    const char *name;
    const graft_json *value;
    for (size_t i = 0; i < draft->aliases.count; i++) {
        print_value("aliases.", draft->aliases.items[i].name, draft->aliases.items[i].value, "");
    }
    while (graft_json_next(draft->defaults, &iterator, &name, &value)) {
        print_value("defaults.", name, value, ", which config.json does not say");
    }
    for (size_t i = 0; i < draft->choices.count; i++) {
        const struct family_edit *edit = &draft->choices.items[i];
        struct graft_text why = {0};
        graft_text_printf(&why, "%s%s%s", edit->field != NULL ? ", a guess by its name" : ", by the tensors",
                          edit->from != NULL ? ": as in " : "", edit->from != NULL ? edit->from : "");
        print_value("decoder.", edit->name, edit->value, why.bytes != NULL ? why.bytes : "");
        graft_text_free(&why);
    }
}

/* --- Open questions --- */

static void print_fields(const struct family_known *known, const graft_json *unused) {
    for (size_t i = 0; i < graft_json_size(unused); i++) {
        const graft_json *item = graft_json_at(unused, i);
        const char *field = graft_json_string(graft_json_get(item, "name"), NULL);
        struct graft_text line = {0};
        int n = 0;
        graft_text_printf(&line, "  config.json: %s (%s): nobody uses it", field,
                          graft_json_string(graft_json_get(item, "value"), NULL));
        for (size_t k = 0; k < known->count && n < MAX_EXAMPLES; k++) {
            if (family_mentions(known->items[k].value, field)) {
                const char *text = graft_json_string(known->items[k].value, NULL);
                graft_text_printf(&line, "%s%s has %s: \"%.*s%s\"", n++ == 0 ? "; " : ", ", known->items[k].from,
                                  known->items[k].name, MAX_SHOWN, text, strlen(text) > MAX_SHOWN ? "..." : "");
            }
        }
        graft_output_line(stdout, "%s", line.bytes != NULL ? line.bytes : "?");
        graft_text_free(&line);
    }
}

/* Whether two names differ in numbers only. */
static int is_alike(const char *a, const char *b) {
    while (*a != '\0' || *b != '\0') {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, "0123456789");
            b += strspn(b, "0123456789");
        } else if (*a++ != *b++) {
            return 0;
        }
    }
    return 1;
}

/* Prints names, those that differ only in numbers on one line. */
static void print_names(const graft_json *names, const char *what, const char *problem) {
    for (size_t i = 0; i < graft_json_size(names); i++) {
        size_t more = 0;
        int is_first = 1;
        for (size_t k = 0; k < graft_json_size(names); k++) {
            const int alike = k != i && is_alike(text_of(names, i), text_of(names, k));
            is_first &= !(alike && k < i);
            more += (size_t)alike;
        }
        if (is_first && more > 0) {
            graft_output_line(stdout, "  %s %s and %zu like it: %s", what, text_of(names, i), more, problem);
        } else if (is_first) {
            graft_output_line(stdout, "  %s %s: %s", what, text_of(names, i), problem);
        }
    }
}

int family_report(const struct family_draft *draft, const struct family_known *known,
                  const struct family_outcome *outcome, const char *path, struct graft_error *error) {
    graft_output_line(stdout, "%s: the model type %s, like %s", path, draft->model_type, draft->like);
    print_said(draft);
    if (outcome->status != GRAFT_OK) {
        graft_output_line(stdout, "could not be opened: %s", outcome->message);
    } else if (graft_json_size(outcome->unused) + graft_json_size(outcome->left) + graft_json_size(outcome->missing) >
               0) {
        graft_output_line(stdout, "could not be told:");
        print_fields(known, outcome->unused);
        print_names(outcome->left, "tensor", "no module takes it");
        print_names(outcome->missing, "parameter", "the checkpoint has nothing that fits");
    }
    if (outcome->status == GRAFT_OK && graft_json_size(outcome->left) * 3 > outcome->n_tensors) {
        graft_output_line(stdout, "Many tensors are left over: another type may be nearer (--like TYPE), or this needs "
                                  "arithmetic that no choice has (docs/family.md, When to write C instead).");
    }
    graft_output_line(stdout, "Neither names nor shapes tell the arithmetic: compare with the model's own code "
                              "(compare-hf).");
    return graft_output_flush(stdout, error);
}
