/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands/family.h"
#include "cli/output.h"
#include "graft/host/choices.h"

/* The length of a choice's section: 9 for "attention.heads"; 0 for a name without one. */
static size_t section_length(const char *name) {
    const char *dot = strchr(name, '.');
    return dot != NULL ? (size_t)(dot - name) : 0;
}

static const char *own_name(const char *name) {
    const char *dot = strchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

/* --- Tables --- */

static void print_words(const char *words, struct graft_text *line) {
    for (const char *word = words; *word != '\0';) {
        size_t length = strcspn(word, " ");
        graft_text_printf(line, "%s`%.*s`", word != words ? ", " : "", (int)length, word);
        word += length + strspn(word + length, " ");
    }
}

static void print_values(const struct graft_family_choice *choice, struct graft_text *line) {
    switch (choice->kind) {
    case GRAFT_FAMILY_CHOICE_WORD:
        print_words(choice->words, line);
        break;
    case GRAFT_FAMILY_CHOICE_INT:
        graft_text_printf(line, "%lld to %lld", (long long)choice->minimum, (long long)choice->maximum);
        break;
    case GRAFT_FAMILY_CHOICE_REAL:
        if (choice->least < -1e299) {
            graft_text_printf(line, "a number");
        } else {
            graft_text_printf(line, "a number, %s %g", choice->is_above ? "more than" : "at least", choice->least);
        }
        break;
    case GRAFT_FAMILY_CHOICE_BOOL:
        graft_text_printf(line, "true, false");
        break;
    case GRAFT_FAMILY_CHOICE_NAME:
        graft_text_printf(line, "a name");
        break;
    default:
        graft_text_printf(line, "a text");
    }
    graft_text_printf(line, "%s", choice->is_nullable ? ", null" : "");
}

/* Adds a row: name, values, default, and meaning of a choice. */
static void print_choice(const struct graft_family_choice *choice, struct graft_text *line) {
    graft_text_printf(line, "| `%s`%s | ", own_name(choice->name), choice->is_by_layer ? " *" : "");
    print_values(choice, line);
    if (choice->kind == GRAFT_FAMILY_CHOICE_NAME && choice->fallback != NULL) {
        graft_text_printf(line, " | `\"%s\"` | ", choice->fallback);
    } else if (choice->fallback == NULL || strcmp(choice->fallback, "null") == 0) {
        graft_text_printf(line, " | | ");
    } else {
        graft_text_printf(line, " | `%s` | ", choice->fallback);
    }
    graft_text_printf(line, "%s |\n", choice->says);
}

/* Whether two choices are in the same section of the same member of the file. */
static int are_beside(const struct graft_family_choice *a, const struct graft_family_choice *b) {
    const size_t length = section_length(a->name);
    return strcmp(a->member, b->member) == 0 && section_length(b->name) == length &&
           strncmp(a->name, b->name, length) == 0;
}

/* Adds the heading of a section. Sections of "decoder", which most files have, stand without the member's name, others
 * with it: "vision.attention". */
static void print_heading(const struct graft_family_choice *choice, struct graft_text *text) {
    const int length = (int)section_length(choice->name);
    if (strcmp(choice->member, "decoder") != 0) {
        graft_text_printf(text, "### `%s%s%.*s`", choice->member, length > 0 ? "." : "", length, choice->name);
    } else if (length > 0) {
        graft_text_printf(text, "### `%.*s`", length, choice->name);
    } else {
        graft_text_printf(text, "### Beside the sections");
    }
    graft_text_printf(text, "\n\n| | Values | Left out | |\n|---|---|---|---|\n");
}

static int print_tables(struct graft_error *error) {
    struct graft_family_choice choice = {.struct_size = sizeof choice}, last = choice;
    struct graft_text text = {0};
    for (size_t i = 0; graft_family_choice_at(i, &choice); i++) {
        if (i == 0 || !are_beside(&last, &choice)) {
            graft_text_printf(&text, "%s", i > 0 ? "\n" : "");
            print_heading(&choice, &text);
        }
        print_choice(&choice, &text);
        last = choice;
    }
    int status = text.failed ? graft_fail_memory(error, "family") : GRAFT_OK;
    if (status == GRAFT_OK) {
        (void)fputs(text.bytes, stdout);
    }
    graft_text_free(&text);
    return status;
}

/* --- Schema --- */

static void append_type(struct graft_writer *writer, graft_json *any, const char *type) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_string(writer, object, "type", type);
    graft_writer_append(writer, any, object);
}

static void append_words(struct graft_writer *writer, graft_json *any, const char *words) {
    graft_json *object = graft_json_new_object(), *list = graft_json_new_array();
    for (const char *word = words; *word != '\0';) {
        size_t length = strcspn(word, " ");
        graft_writer_append(writer, list, graft_json_new_string_n(word, length));
        word += length + strspn(word + length, " ");
    }
    graft_writer_set(writer, object, "enum", list);
    graft_writer_append(writer, any, object);
}

static void append_number(struct graft_writer *writer, graft_json *any, const struct graft_family_choice *choice) {
    graft_json *object = graft_json_new_object();
    const int is_int = choice->kind == GRAFT_FAMILY_CHOICE_INT;
    graft_writer_set_string(writer, object, "type", is_int ? "integer" : "number");
    if (is_int) {
        graft_writer_set_int(writer, object, "minimum", choice->minimum);
        graft_writer_set_int(writer, object, "maximum", choice->maximum);
    } else if (choice->least > -1e299) {
        graft_writer_set_real(writer, object, choice->is_above ? "exclusiveMinimum" : "minimum", choice->least);
    }
    graft_writer_append(writer, any, object);
}

static void append_reference(struct graft_writer *writer, graft_json *any, const char *target) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_string(writer, object, "$ref", target);
    graft_writer_append(writer, any, object);
}

static graft_json *choice_schema(struct graft_writer *writer, const struct graft_family_choice *choice) {
    graft_json *object = graft_json_new_object(), *any = graft_json_new_array();
    switch (choice->kind) {
    case GRAFT_FAMILY_CHOICE_NAME:
        append_reference(writer, any, "#/$defs/name");
        break;
    case GRAFT_FAMILY_CHOICE_WORD:
        append_words(writer, any, choice->words);
        break;
    case GRAFT_FAMILY_CHOICE_INT:
    case GRAFT_FAMILY_CHOICE_REAL:
        append_number(writer, any, choice);
        break;
    case GRAFT_FAMILY_CHOICE_BOOL:
        append_type(writer, any, "boolean");
        break;
    default:
        break;
    }
    if (choice->kind != GRAFT_FAMILY_CHOICE_NAME) {
        append_reference(writer, any, "#/$defs/expression");
    }
    if (choice->is_nullable) {
        append_type(writer, any, "null");
    }
    graft_writer_set_string(writer, object, "description", choice->says);
    if (choice->fallback != NULL) {
        graft_writer_set_string(writer, object, "default", choice->fallback);
    }
    graft_writer_set(writer, object, "anyOf", any);
    return object;
}

/* A schema for objects with these members and no others. */
static graft_json *closed_object(struct graft_writer *writer, graft_json *properties_take) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_string(writer, object, "type", "object");
    graft_writer_set_bool(writer, object, "additionalProperties", 0);
    graft_writer_set(writer, object, "properties", properties_take);
    return object;
}

static void append_other(struct graft_writer *writer, graft_json *properties, const char *name, const char *type,
                         const char *says) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_string(writer, object, "type", type);
    graft_writer_set_string(writer, object, "description", says);
    graft_writer_set(writer, properties, name, object);
}

/* The schema of a member, whose first choice is number `*i`. `*i` and `*choice` become the first choice of the next
 * member. */
static graft_json *member_schema(struct graft_writer *writer, size_t *i, struct graft_family_choice *choice) {
    graft_json *top = graft_json_new_object();
    const struct graft_family_choice first = *choice;
    if (strcmp(first.member, "vision") == 0) { /* "vision" also has members that are no choices */
        append_other(writer, top, "like", "string",
                     "the model type whose tower it is like, but for what is said here; that of the file");
        append_other(writer, top, "prefix", "string", "what names of its classes begin with; that of the file");
        append_other(writer, top, "defaults", "object", "what fields of vision_config are where it lacks them");
    }
    for (int more = 1; more && strcmp(first.member, choice->member) == 0;) {
        const struct graft_family_choice section = *choice;
        const size_t length = section_length(section.name);
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)length, section.name);
        if (length == 0) {
            graft_writer_set(writer, top, section.name, choice_schema(writer, &section));
            more = graft_family_choice_at(++*i, choice);
            continue;
        }
        graft_json *members = graft_json_new_object();
        for (; more && are_beside(&section, choice); more = graft_family_choice_at(++*i, choice)) {
            graft_writer_set(writer, members, own_name(choice->name), choice_schema(writer, choice));
        }
        graft_writer_set(writer, top, name, closed_object(writer, members));
    }
    return closed_object(writer, top);
}

/* Prints an object with a schema for each member that has choices. */
static int print_schema(struct graft_error *error) {
    struct graft_family_choice choice = {.struct_size = sizeof choice};
    struct graft_writer writer = {0};
    graft_json *schema = graft_json_new_object();
    for (size_t i = 0; graft_family_choice_at(i, &choice);) {
        const char *member = choice.member;
        graft_writer_set(&writer, schema, member, member_schema(&writer, &i, &choice));
    }
    int status = writer.failed ? graft_fail_memory(error, "family") : graft_output_json(schema, stdout, 1, error);
    graft_json_free(schema);
    return status;
}

int graft_family_choices(const struct graft_options *options, struct graft_error *error) {
    return options->json ? print_schema(error) : print_tables(error);
}
