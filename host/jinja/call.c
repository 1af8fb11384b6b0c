/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: evaluates arguments, and calls macros and built-in functions. */
#include <string.h>

#include "jinja/run.h"

static int add_keyword(struct graft_jinja_run *run, struct graft_jinja_arguments *arguments,
                       const struct graft_jinja_string *name, const struct graft_jinja_value *value) {
    int status = graft_jinja_reserve(run, &arguments->keywords, &arguments->keyword_capacity, arguments->n_keywords,
                                     sizeof *arguments->keywords);
    if (status == GRAFT_OK) {
        arguments->keywords[arguments->n_keywords++] = (struct graft_jinja_keyword){*name, *value};
    }
    return status;
}

static int add_value(struct graft_jinja_run *run, struct graft_jinja_arguments *arguments,
                     const struct graft_jinja_value *value) {
    int status =
        graft_jinja_reserve(run, &arguments->values, &arguments->capacity, arguments->n, sizeof *arguments->values);
    if (status == GRAFT_OK) {
        arguments->values[arguments->n++] = *value;
    }
    return status;
}

/* Unpacks *value or **value into the arguments. */
static int spread(struct graft_jinja_run *run, int stars, const struct graft_jinja_value *value,
                  struct graft_jinja_arguments *arguments) {
    const struct graft_jinja_value *items = NULL;
    size_t n = 0;
    int status = GRAFT_OK;
    if (stars == 1) {
        status = graft_jinja_walk(run, value, &items, &n);
        for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
            status = add_value(run, arguments, &items[i]);
        }
        return status;
    }
    if (value->kind != GRAFT_JINJA_DICT) {
        return graft_jinja_fail(run, "what follows ** is of type %s, expected dict", graft_jinja_type_name(value));
    }
    for (size_t i = 0; i < value->as.dict->n && status == GRAFT_OK; i++) {
        const struct graft_jinja_entry *entry = &value->as.dict->entries[i];
        status = entry->key.kind == GRAFT_JINJA_STRING
                     ? add_keyword(run, arguments, &entry->key.as.string, &entry->value)
                     : graft_jinja_fail(run, "keywords must be strings");
    }
    return status;
}

int graft_jinja_evaluate_arguments(struct graft_jinja_run *run, const struct graft_jinja_node *list,
                                   struct graft_jinja_arguments *arguments) {
    int status = GRAFT_OK;
    for (const struct graft_jinja_node *one = list; one != NULL && status == GRAFT_OK; one = one->next) {
        struct graft_jinja_value value;
        status = graft_jinja_evaluate(run, one->a, &value);
        if (status == GRAFT_OK) {
            status = one->op != 0           ? spread(run, one->op, &value, arguments)
                     : one->name.length > 0 ? add_keyword(run, arguments, &one->name, &value)
                                            : add_value(run, arguments, &value);
        }
    }
    return status;
}

static const struct graft_jinja_value *keyword(const struct graft_jinja_arguments *arguments,
                                               const struct graft_jinja_string *name) {
    for (size_t i = 0; i < arguments->n_keywords; i++) {
        if (graft_jinja_string_equal(&arguments->keywords[i].name, name)) {
            return &arguments->keywords[i].value;
        }
    }
    return NULL;
}

/* Binds one parameter of a macro to what was passed, to its default, or to an undefined value. */
static int bind_parameter(struct graft_jinja_run *run, const struct graft_jinja_node *parameter, size_t i,
                          const struct graft_jinja_arguments *arguments, size_t *used) {
    const struct graft_jinja_string *name = &parameter->a->name;
    const struct graft_jinja_value *named = keyword(arguments, name);
    struct graft_jinja_value value = graft_jinja_missing(name->bytes, NULL);
    if (named != NULL) {
        if (i < arguments->n) {
            return graft_jinja_fail(run, "got multiple values for argument '%s'", name->bytes);
        }
        value = *named;
        (*used)++;
    } else if (i < arguments->n) {
        value = arguments->values[i];
    } else if (parameter->b != NULL) {
        int status = graft_jinja_evaluate(run, parameter->b, &value);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    return graft_jinja_assign(run, name, &value);
}

static int bind_macro(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                      const struct graft_jinja_arguments *arguments) {
    static const char caller_name[] = "caller";
    const struct graft_jinja_string caller = {caller_name, NULL, sizeof caller_name - 1};
    const char *name = node->kind == GRAFT_JINJA_MACRO_OF ? node->name.bytes : "caller";
    const struct graft_jinja_value *given = keyword(arguments, &caller);
    size_t i = 0, used = given != NULL;
    int status = given != NULL ? graft_jinja_assign(run, &caller, given) : GRAFT_OK;
    for (const struct graft_jinja_node *one = node->parameters; one != NULL && status == GRAFT_OK; one = one->next) {
        status = bind_parameter(run, one, i++, arguments, &used);
    }
    if (status == GRAFT_OK && arguments->n > i) {
        return graft_jinja_fail(run, "macro '%s' takes not more than %zu argument(s)", name, i);
    }
    if (status == GRAFT_OK && used < arguments->n_keywords) {
        return graft_jinja_fail(run, "macro '%s' was called with a keyword that it does not have", name);
    }
    return status;
}

static int call_macro(struct graft_jinja_run *run, const struct graft_jinja_macro *macro,
                      const struct graft_jinja_arguments *arguments, struct graft_jinja_value *result) {
    struct graft_jinja_scope *scope = run->scope;
    int status = graft_jinja_push_scope(run, macro->scope);
    if (status == GRAFT_OK) {
        status = bind_macro(run, macro->node, arguments);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_capture(run, macro->node->list, result);
    }
    graft_jinja_pop_scope(run, scope);
    return status;
}

/* Returns parameter number `i` of a list such as "old new count", and its length; NULL past the last one. */
static const char *parameter_at(const char *parameters, size_t i, size_t *length) {
    const char *at = parameters;
    for (; i > 0 && at != NULL; i--) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    *length = at != NULL ? strcspn(at, " ") : 0;
    return at != NULL && *length > 0 ? at : NULL;
}

static int bind(struct graft_jinja_run *run, const struct graft_jinja_built_in *entry,
                const struct graft_jinja_arguments *arguments, const struct graft_jinja_value **given) {
    size_t i = 0, used = 0, length;
    for (const char *name; (name = parameter_at(entry->parameters, i, &length)) != NULL; i++) {
        const struct graft_jinja_string key = {name, NULL, length};
        const struct graft_jinja_value *named = keyword(arguments, &key);
        given[i] = i < arguments->n ? &arguments->values[i] : named;
        used += named != NULL;
        if (given[i] == NULL && (int)i < entry->required) {
            return graft_jinja_fail(run, "%s() misses its argument '%.*s'", entry->name, (int)length, name);
        }
    }
    if (arguments->n > i || used < arguments->n_keywords) {
        return graft_jinja_fail(run, "%s() takes %s", entry->name,
                                arguments->n > i ? "fewer arguments" : "no argument of that name");
    }
    return GRAFT_OK;
}

int graft_jinja_call_built_in(struct graft_jinja_run *run, const struct graft_jinja_built_in *entry,
                              const struct graft_jinja_value *self, const struct graft_jinja_arguments *arguments,
                              struct graft_jinja_value *result) {
    struct graft_jinja_call call = {self, arguments, {NULL}};
    int status = entry->parameters != NULL ? bind(run, entry, arguments, call.given) : GRAFT_OK;
    return status == GRAFT_OK ? entry->call(run, &call, result) : status;
}

int graft_jinja_call_value(struct graft_jinja_run *run, const struct graft_jinja_value *called,
                           const struct graft_jinja_arguments *arguments, struct graft_jinja_value *result) {
    switch (called->kind) {
    case GRAFT_JINJA_MACRO:
        return call_macro(run, called->as.macro, arguments, result);
    case GRAFT_JINJA_METHOD:
        return graft_jinja_call_built_in(run, graft_jinja_method(called->as.method.which), called->as.method.self,
                                         arguments, result);
    case GRAFT_JINJA_FUNCTION:
        return graft_jinja_call_built_in(run, graft_jinja_function(called->as.function), NULL, arguments, result);
    case GRAFT_JINJA_UNDEFINED:
        return graft_jinja_need_defined(run, called);
    default:
        return graft_jinja_fail(run, "'%s' object is not callable", graft_jinja_type_name(called));
    }
}

int graft_jinja_evaluate_call(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                              const struct graft_jinja_value *caller, struct graft_jinja_value *result) {
    struct graft_jinja_arguments arguments = {0};
    struct graft_jinja_value called;
    int status = graft_jinja_evaluate(run, node->a, &called);
    if (status == GRAFT_OK) {
        status = graft_jinja_evaluate_arguments(run, node->list, &arguments);
    }
    if (status == GRAFT_OK && caller != NULL) {
        const struct graft_jinja_string name = graft_jinja_literal("caller");
        status = add_keyword(run, &arguments, &name, caller);
    }
    return status == GRAFT_OK ? graft_jinja_call_value(run, &called, &arguments, result) : status;
}
