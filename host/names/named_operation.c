/* SPDX-License-Identifier: Apache-2.0 */
#include "names/named_operation.h"

#include <string.h>

#include "base/fail.h"
#include "names/transform_read.h"
#include "value/operations.h"

/* Whether `name` is the item's "NAME" or "PLUGIN.NAME". */
static int is_called(const struct graft_named_operation *item, const char *name) {
    size_t length = strlen(item->plugin);
    return strcmp(name, item->operation->name) == 0 ||
           (strncmp(name, item->plugin, length) == 0 && name[length] == '.' &&
            strcmp(name + length + 1, item->operation->name) == 0);
}

static void add_name(struct graft_text *text, const struct graft_named_operation *item) {
    graft_text_printf(text, "%s%s.%s", text->length > 0 ? ", " : "", item->plugin, item->operation->name);
}

static int fail(const struct graft_text *names, const char *name, const char *what, const struct graft_field *object,
                struct graft_error *error) {
    const struct graft_field op = graft_field_get(object, "op");
    return names->failed ? graft_fail_memory(error, op.file)
                         : graft_field_error(&op, error, "\"%.100s\" is %s %s", name, what, names->bytes);
}

int graft_named_operation_find(const struct graft_named_operation *items, size_t n, const char *name,
                               const struct graft_field *object, const struct graft_custom_operation **operation,
                               struct graft_error *error) {
    struct graft_text names = {0}; /* the names of matching operations, or of all if none matches */
    size_t hits = 0;
    int status = GRAFT_OK;
    for (size_t i = 0; i < n; i++) {
        if (is_called(&items[i], name)) {
            *operation = items[i].operation;
            add_name(&names, &items[i]);
            hits++;
        }
    }
    if (hits > 1) {
        status = fail(&names, name, "the name of several operations:", object, error);
    }
    if (hits == 0) {
        graft_operation_add_names(&names);
        for (size_t i = 0; i < n; i++) {
            add_name(&names, &items[i]);
        }
        status = fail(&names, name, "not an operation; known:", object, error);
    }
    graft_text_free(&names);
    return status;
}
