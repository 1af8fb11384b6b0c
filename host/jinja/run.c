/* SPDX-License-Identifier: Apache-2.0 */
/* Errors, limits, memory and text builders of a rendering. */
#include "jinja/run.h"

#include <stdarg.h>
#include <string.h>

int graft_jinja_fail(struct graft_jinja_run *run, const char *format, ...) {
    char what[900];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return graft_jinja_fault(run->error, GRAFT_ERROR_MODEL, &run->parsed->source, run->node != NULL ? run->node->at : 0,
                             "%s", what);
}

int graft_jinja_fail_memory(struct graft_jinja_run *run) {
    if (run->arena.over) {
        return graft_jinja_fail(run, "the values take more than %zu bytes", run->limits->memory);
    }
    return graft_fail_memory(run->error, run->parsed->source.name);
}

int graft_jinja_spend(struct graft_jinja_run *run, size_t walked) {
    run->steps += 1 + walked / 16;
    if (run->steps > run->limits->steps) {
        return graft_jinja_fail(run, "the template takes more than %llu steps", (unsigned long long)run->limits->steps);
    }
    return GRAFT_OK;
}

int graft_jinja_descend(struct graft_jinja_run *run) {
    return ++run->depth <= run->limits->depth
               ? graft_jinja_spend(run, 0)
               : graft_jinja_fail(run, "nested deeper than %d levels", run->limits->depth);
}

void *graft_jinja_take_memory(struct graft_jinja_run *run, size_t count, size_t size) {
    void *memory = graft_jinja_arena_take(&run->arena, count, size);
    if (memory == NULL) {
        (void)graft_jinja_fail_memory(run);
    }
    return memory;
}

int graft_jinja_reserve(struct graft_jinja_run *run, void *array, size_t *capacity, size_t n, size_t size) {
    if (n < *capacity) {
        return GRAFT_OK;
    }
    size_t room = *capacity < 4 ? 4 : 2 * *capacity;
    void *moved = graft_jinja_take_memory(run, room, size);
    if (moved == NULL) {
        return graft_jinja_failed(run);
    }
    void *old;
    memcpy(&old, array, sizeof old);
    if (n > 0) {
        memcpy(moved, old, n * size);
    }
    memcpy(array, &moved, sizeof moved);
    *capacity = room;
    return GRAFT_OK;
}

/* Extends the marks to the text's length. */
static void fill_marks(struct graft_jinja_builder *builder) {
    static const char none[256];
    while (builder->marks.length < builder->text.length && !builder->marks.failed) {
        size_t missing = builder->text.length - builder->marks.length;
        graft_text_add(&builder->marks, none, missing < sizeof none ? missing : sizeof none);
    }
}

static int check(struct graft_jinja_run *run, const struct graft_jinja_builder *builder) {
    if (builder->text.failed || builder->marks.failed) {
        return graft_fail_memory(run->error, run->parsed->source.name);
    }
    return builder->text.length > run->limits->output
               ? graft_jinja_fail(run, "a text has more than %zu bytes", run->limits->output)
               : GRAFT_OK;
}

int graft_jinja_add(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                    const struct graft_jinja_string *string) {
    if (string->marks != NULL && string->length > 0) {
        fill_marks(builder);
        graft_text_add(&builder->marks, (const char *)string->marks, string->length);
    }
    graft_text_add(&builder->text, string->bytes, string->length);
    int status = check(run, builder);
    return status == GRAFT_OK ? graft_jinja_spend(run, string->length) : status;
}

int graft_jinja_add_literal(struct graft_jinja_run *run, struct graft_jinja_builder *builder, const char *text) {
    return graft_jinja_add_bytes(run, builder, text, strlen(text), 0);
}

int graft_jinja_add_bytes(struct graft_jinja_run *run, struct graft_jinja_builder *builder, const char *bytes,
                          size_t length, int marked) {
    if (marked) {
        fill_marks(builder);
        for (size_t i = 0; i < length; i++) {
            graft_text_add(&builder->marks, "\1", 1);
        }
    }
    graft_text_add(&builder->text, bytes, length);
    return check(run, builder);
}

int graft_jinja_finish_text(struct graft_jinja_run *run, struct graft_jinja_builder *builder, int status,
                            struct graft_jinja_value *result) {
    struct graft_jinja_string string = {"", NULL, builder->text.length};
    int has_marks = builder->marks.length > 0;
    if (has_marks) {
        fill_marks(builder);
    }
    status = status == GRAFT_OK ? check(run, builder) : status;
    if (status == GRAFT_OK && string.length > 0) {
        string.bytes = graft_jinja_arena_copy(&run->arena, builder->text.bytes, string.length);
        string.marks =
            has_marks ? (const unsigned char *)graft_jinja_arena_copy(&run->arena, builder->marks.bytes, string.length)
                      : NULL;
        if (string.bytes == NULL || (has_marks && string.marks == NULL)) {
            status = graft_jinja_fail_memory(run);
        }
    }
    graft_jinja_builder_free(builder);
    *result = graft_jinja_text(string);
    return status;
}

void graft_jinja_builder_free(struct graft_jinja_builder *builder) {
    graft_text_free(&builder->text);
    graft_text_free(&builder->marks);
}

struct graft_jinja_string graft_jinja_part(const struct graft_jinja_string *string, size_t begin, size_t end) {
    return (struct graft_jinja_string){string->bytes + begin, string->marks != NULL ? string->marks + begin : NULL,
                                       end - begin};
}

int graft_jinja_want_int(struct graft_jinja_run *run, const struct graft_jinja_value *value, const char *what,
                         int64_t *out) {
    if (value == NULL || graft_jinja_as_int(value, out)) {
        return GRAFT_OK;
    }
    int status = graft_jinja_need_defined(run, value);
    return status == GRAFT_OK
               ? graft_jinja_fail(run, "%s is of type %s, expected int", what, graft_jinja_type_name(value))
               : status;
}

int graft_jinja_want_text(struct graft_jinja_run *run, const struct graft_jinja_value *value, const char *what,
                          struct graft_jinja_string *out) {
    if (value == NULL) {
        return GRAFT_OK;
    }
    if (value->kind == GRAFT_JINJA_STRING) {
        *out = value->as.string;
        return GRAFT_OK;
    }
    int status = graft_jinja_need_defined(run, value);
    return status == GRAFT_OK
               ? graft_jinja_fail(run, "%s is of type %s, expected str", what, graft_jinja_type_name(value))
               : status;
}
