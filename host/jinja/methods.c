/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the methods of each type. Python also has methods that change a value; its sandbox refuses them. */
#include "jinja/methods.h"

static const struct {
    enum graft_jinja_kind kind;
    const struct graft_jinja_table *table;
} tables[] = {
    {GRAFT_JINJA_STRING, &graft_jinja_string_methods},
    {GRAFT_JINJA_STRING, &graft_jinja_string_split_methods},
    {GRAFT_JINJA_STRING, &graft_jinja_string_question_methods},
    {GRAFT_JINJA_DICT, &graft_jinja_dict_methods},
    {GRAFT_JINJA_LIST, &graft_jinja_list_methods},
    {GRAFT_JINJA_LOOP, &graft_jinja_loop_methods},
};

enum { N_TABLES = sizeof tables / sizeof tables[0], TABLE_STEP = 1000 };

/* Whether Python has the method but its sandbox refuses it. */
static int is_unsafe(const struct graft_jinja_value *self, const struct graft_jinja_string *name) {
    static const char *const of_lists[] = {"append", "clear",  "pop",    "reverse", "insert",
                                           "sort",   "extend", "remove", NULL};
    static const char *const of_dicts[] = {"clear", "pop", "popitem", "setdefault", "update", NULL};
    const char *const *names = self->kind == GRAFT_JINJA_DICT                    ? of_dicts
                               : graft_jinja_is_list_of(self, GRAFT_JINJA_PLAIN) ? of_lists
                                                                                 : NULL;
    for (; names != NULL && *names != NULL; names++) {
        if (graft_jinja_string_is(name, *names)) {
            return 1;
        }
    }
    return name->length >= 2 && name->bytes[0] == '_' && name->bytes[1] == '_';
}

const struct graft_jinja_built_in *graft_jinja_find_in(const struct graft_jinja_built_in *table, size_t n,
                                                       const struct graft_jinja_string *name) {
    for (size_t i = 0; i < n; i++) {
        if (graft_jinja_string_is(name, table[i].name)) {
            return &table[i];
        }
    }
    return NULL;
}

const struct graft_jinja_built_in *graft_jinja_method(int which) {
    return &tables[which / TABLE_STEP].table->entries[which % TABLE_STEP];
}

static int has_methods(const struct graft_jinja_value *self) {
    return self->kind != GRAFT_JINJA_LIST || self->as.list->form < GRAFT_JINJA_VIEW;
}

int graft_jinja_find_method(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                            const struct graft_jinja_string *name, struct graft_jinja_value *result) {
    for (int i = 0; i < N_TABLES; i++) {
        if (tables[i].kind != self->kind || !has_methods(self)) {
            continue;
        }
        const struct graft_jinja_table *table = tables[i].table;
        const struct graft_jinja_built_in *found = graft_jinja_find_in(table->entries, table->n, name);
        struct graft_jinja_value *own = found != NULL ? graft_jinja_arena_take(&run->arena, 1, sizeof *own) : NULL;
        if (found != NULL && own != NULL) {
            *own = *self;
            *result = (struct graft_jinja_value){.kind = GRAFT_JINJA_METHOD};
            result->as.method.self = own;
            result->as.method.which = i * TABLE_STEP + (int)(found - table->entries);
            return 1;
        }
    }
    if (is_unsafe(self, name)) {
        const char *copy = graft_jinja_arena_copy(&run->arena, name->bytes, name->length);
        *result = graft_jinja_missing(copy != NULL ? copy : "?", graft_jinja_type_name(self));
        result->as.missing.unsafe = 1;
        return 1;
    }
    return 0;
}
