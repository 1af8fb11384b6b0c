/* SPDX-License-Identifier: Apache-2.0 */
/* map, select, reject and their variants by attribute. They return generators. */
#include "jinja/methods.h"

/* The arguments after the first `n`, including keyword arguments. */
static struct graft_jinja_arguments arguments_after(const struct graft_jinja_arguments *arguments, size_t n) {
    struct graft_jinja_arguments rest = *arguments;
    n = n < rest.n ? n : rest.n;
    rest.values = n > 0 ? rest.values + n : rest.values; /* may be NULL */
    rest.n -= n;
    return rest;
}

static struct graft_jinja_list *generator(struct graft_jinja_run *run) {
    return graft_jinja_new_list(run, GRAFT_JINJA_GENERATOR, 0);
}

/* For none, 0 and the like, jinja2 returns an empty generator and ignores the arguments. */
static int nothing(struct graft_jinja_list *empty, struct graft_jinja_value *result) {
    *result = graft_jinja_of_list(empty);
    return GRAFT_OK;
}

static const struct graft_jinja_value *keyword(const struct graft_jinja_arguments *arguments, const char *name) {
    for (size_t i = 0; i < arguments->n_keywords; i++) {
        if (graft_jinja_string_is(&arguments->keywords[i].name, name)) {
            return &arguments->keywords[i].value;
        }
    }
    return NULL;
}

/* map(attribute='a.b', default=x). */
static int map_attribute(struct graft_jinja_run *run, const struct graft_jinja_value *item,
                         const struct graft_jinja_value *path, const struct graft_jinja_value *otherwise,
                         struct graft_jinja_value *result) {
    int status = graft_jinja_attribute_path(run, item, path, result);
    if (status == GRAFT_OK && result->kind == GRAFT_JINJA_UNDEFINED && otherwise != NULL) {
        *result = *otherwise;
    }
    return status;
}

static int map(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_arguments *arguments = call->arguments;
    const struct graft_jinja_value *items = NULL, *path = keyword(arguments, "attribute");
    struct graft_jinja_string name = {0};
    struct graft_jinja_list *made = generator(run);
    size_t n = 0;
    int status = made != NULL ? GRAFT_OK : graft_jinja_failed(run);
    if (status == GRAFT_OK && !graft_jinja_truth(call->self)) {
        return nothing(made, result);
    }
    status = status == GRAFT_OK ? graft_jinja_walk(run, call->self, &items, &n) : status;
    if (status == GRAFT_OK && arguments->n == 0 && path == NULL) {
        status = graft_jinja_fail(run, "map requires a filter argument");
    }
    if (status == GRAFT_OK && arguments->n > 0) {
        status = graft_jinja_want_text(run, &arguments->values[0], "map's filter", &name);
        path = NULL;
    }
    const struct graft_jinja_arguments rest = arguments_after(arguments, 1);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        struct graft_jinja_value item;
        status = path != NULL ? map_attribute(run, &items[i], path, keyword(arguments, "default"), &item)
                              : graft_jinja_apply_filter(run, &name, &items[i], &rest, &item);
        if (status == GRAFT_OK) {
            status = graft_jinja_push(run, made, &item);
        }
    }
    *result = graft_jinja_of_list(made);
    return status;
}

/* Keeps the items for which the test returns `wanted`. Without a test, an item's own truth counts. */
static int choose(struct graft_jinja_run *run, const struct graft_jinja_call *call, int by_attribute, int wanted,
                  struct graft_jinja_value *result) {
    const struct graft_jinja_arguments rest = arguments_after(call->arguments, by_attribute ? 1 : 0);
    const struct graft_jinja_arguments of_test = arguments_after(&rest, 1);
    const struct graft_jinja_value *items = NULL;
    struct graft_jinja_string name = {0};
    struct graft_jinja_list *made = generator(run);
    size_t n = 0;
    int status = made != NULL ? GRAFT_OK : graft_jinja_failed(run);
    if (status == GRAFT_OK && !graft_jinja_truth(call->self)) {
        return nothing(made, result);
    }
    status = status == GRAFT_OK ? graft_jinja_walk(run, call->self, &items, &n) : status;
    if (status == GRAFT_OK && by_attribute && call->arguments->n == 0) {
        status = graft_jinja_fail(run, "Missing parameter for attribute name");
    }
    if (status == GRAFT_OK && rest.n > 0) {
        status = graft_jinja_want_text(run, &rest.values[0], "the name of a test", &name);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        struct graft_jinja_value tested = items[i];
        int truth = 0;
        if (by_attribute) {
            status = graft_jinja_attribute_path(run, &items[i], &call->arguments->values[0], &tested);
        }
        if (status == GRAFT_OK && rest.n > 0) {
            status = graft_jinja_apply_test(run, &name, &tested, &of_test, &truth);
        } else {
            truth = graft_jinja_truth(&tested);
        }
        if (status == GRAFT_OK && truth == wanted) {
            status = graft_jinja_push(run, made, &items[i]);
        }
    }
    *result = graft_jinja_of_list(made);
    return status;
}

static int select_(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return choose(run, call, 0, 1, result);
}

static int reject(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return choose(run, call, 0, 0, result);
}

static int selectattr(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                      struct graft_jinja_value *result) {
    return choose(run, call, 1, 1, result);
}

static int rejectattr(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                      struct graft_jinja_value *result) {
    return choose(run, call, 1, 0, result);
}

static const struct graft_jinja_built_in entries[] = {
    {"map", map, NULL, 0},
    {"select", select_, NULL, 0},
    {"reject", reject, NULL, 0},
    {"selectattr", selectattr, NULL, 0},
    {"rejectattr", rejectattr, NULL, 0},
};

const struct graft_jinja_table graft_jinja_choice_filters = GRAFT_JINJA_TABLE(entries);
