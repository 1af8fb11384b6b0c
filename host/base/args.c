/* SPDX-License-Identifier: Apache-2.0 */
#include "base/args.h"

#include "base/alloc.h"

static int is_valid(const struct graft_arg *arg) {
    switch (arg->kind) {
    case GRAFT_ARG_INT:
    case GRAFT_ARG_REAL:
        return arg->name != NULL;
    case GRAFT_ARG_STRING:
        return arg->name != NULL && arg->string != NULL;
    case GRAFT_ARG_INTS:
        return arg->name != NULL && arg->count >= 0 && arg->count <= GRAFT_MAX_ARG_INTS &&
               (arg->count == 0 || arg->integers != NULL);
    default:
        return 0;
    }
}

int graft_args_valid(const struct graft_args *args) {
    if (args == NULL) {
        return 1;
    }
    if (args->struct_size < GRAFT_ARGS_SIZE_1_0 || args->reserved != 0 || args->count < 0 ||
        args->count > GRAFT_MAX_ARGS) {
        return 0;
    }
    if (args->count > 0 &&
        (args->items == NULL || args->item_stride < GRAFT_ARG_SIZE_1_0 || args->item_stride % sizeof(void *) != 0)) {
        return 0;
    }
    for (int32_t i = 0; i < args->count; i++) {
        if (!is_valid(graft_args_at(args, i))) {
            return 0;
        }
    }
    return 1;
}

static void arg_finish(struct graft_arg *arg) {
    graft_free((void *)(uintptr_t)arg->name);
    graft_free((void *)(uintptr_t)arg->string);
    graft_free((void *)(uintptr_t)arg->integers);
}

static int arg_copy(struct graft_arg *copy, const struct graft_arg *arg) {
    *copy = graft_int_arg(graft_strdup(arg->name), arg->integer);
    copy->kind = arg->kind;
    copy->real = arg->real;
    if (arg->kind == GRAFT_ARG_STRING) {
        copy->string = graft_strdup(arg->string);
    }
    if (arg->kind == GRAFT_ARG_INTS) {
        int64_t *integers = graft_alloc((size_t)arg->count + 1, sizeof *integers);
        if (integers != NULL && arg->count > 0) {
            memcpy(integers, arg->integers, (size_t)arg->count * sizeof *integers);
        }
        copy->integers = integers;
        copy->count = arg->count;
    }
    if (copy->name == NULL || (arg->kind == GRAFT_ARG_STRING && copy->string == NULL) ||
        (arg->kind == GRAFT_ARG_INTS && copy->integers == NULL)) {
        arg_finish(copy);
        return -1;
    }
    return 0;
}

int graft_args_append(struct graft_args *args, const struct graft_args *more) {
    int32_t added = more != NULL ? more->count : 0;
    struct graft_arg *items = (struct graft_arg *)(uintptr_t)args->items;
    items = graft_realloc(items, (size_t)(args->count + added) + 1, sizeof *items);
    if (items == NULL) {
        return -1;
    }
    int32_t count = args->count;
    *args = graft_args_of(items, count);
    for (int32_t i = 0; i < added; i++) {
        if (arg_copy(&items[args->count], graft_args_at(more, i)) != 0) {
            return -1;
        }
        args->count++;
    }
    return 0;
}

static int has_name(const struct graft_args *args, const char *name) {
    for (int32_t i = 0; args != NULL && i < args->count; i++) {
        if (strcmp(graft_args_at(args, i)->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

int graft_args_override(struct graft_args *args, const struct graft_args *more) {
    struct graft_args merged;
    int failed = 0;
    memset(&merged, 0, sizeof merged);
    for (int32_t i = 0; i < args->count && !failed; i++) {
        const struct graft_args one = graft_args_of(graft_args_at(args, i), 1);
        failed = !has_name(more, one.items->name) && graft_args_append(&merged, &one) != 0;
    }
    if (failed || graft_args_append(&merged, more) != 0) {
        graft_args_finish(&merged);
        return -1;
    }
    graft_args_finish(args);
    *args = merged;
    return 0;
}

void graft_args_finish(struct graft_args *args) {
    struct graft_arg *items = (struct graft_arg *)(uintptr_t)args->items;
    for (int32_t i = 0; i < args->count; i++) {
        arg_finish(&items[i]);
    }
    graft_free(items);
    memset(args, 0, sizeof *args);
}
