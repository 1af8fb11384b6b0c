/* SPDX-License-Identifier: Apache-2.0 */
#include "base/args.h"

#include <string.h>

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

/* The bytes that an argument needs after the items: its numbers, then its strings. */
static size_t text_bytes(const struct graft_arg *arg) {
    return strlen(arg->name) + 1 + (arg->kind == GRAFT_ARG_STRING ? strlen(arg->string) + 1 : 0);
}

static size_t number_bytes(const struct graft_arg *arg) {
    return arg->kind == GRAFT_ARG_INTS ? ((size_t)arg->count + 1) * sizeof *arg->integers : 0;
}

static const char *copy_text(char **at, const char *text) {
    const size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

static struct graft_arg copy_arg(const struct graft_arg *arg, int64_t **numbers, char **texts) {
    struct graft_arg copy = graft_int_arg(copy_text(texts, arg->name), arg->integer);
    copy.kind = arg->kind;
    copy.real = arg->real;
    if (arg->kind == GRAFT_ARG_STRING) {
        copy.string = copy_text(texts, arg->string);
    }
    if (arg->kind == GRAFT_ARG_INTS) {
        if (arg->count > 0) {
            memcpy(*numbers, arg->integers, (size_t)arg->count * sizeof **numbers);
        }
        copy.integers = *numbers;
        copy.count = arg->count;
        *numbers += arg->count + 1;
    }
    return copy;
}

static const struct graft_arg *arg_of_both(const struct graft_args *args, const struct graft_args *more, int32_t i) {
    return i < args->count ? graft_args_at(args, i) : graft_args_at(more, i - args->count);
}

static int32_t count_both(const struct graft_args *args, const struct graft_args *more) {
    return args->count + (more != NULL ? more->count : 0);
}

static size_t numbers_of_both(const struct graft_args *args, const struct graft_args *more) {
    size_t bytes = 0;
    for (int32_t i = 0; i < count_both(args, more); i++) {
        bytes += number_bytes(arg_of_both(args, more, i));
    }
    return bytes;
}

size_t graft_args_bytes(const struct graft_args *args, const struct graft_args *more) {
    const int32_t count = count_both(args, more);
    size_t bytes = ((size_t)count + 1) * sizeof(struct graft_arg) + numbers_of_both(args, more);
    for (int32_t i = 0; i < count; i++) {
        bytes += text_bytes(arg_of_both(args, more, i));
    }
    return bytes;
}

/* Items, numbers and strings share the block. */
struct graft_args graft_args_write(void *block, const struct graft_args *args, const struct graft_args *more) {
    const int32_t count = count_both(args, more);
    const size_t numbers_bytes = numbers_of_both(args, more);
    struct graft_arg *items = block;
    int64_t *numbers = (int64_t *)(void *)(items + count + 1);
    char *texts = (char *)numbers + numbers_bytes;
    for (int32_t i = 0; i < count; i++) {
        items[i] = copy_arg(arg_of_both(args, more, i), &numbers, &texts);
    }
    return graft_args_of(items, count);
}

int graft_args_append(struct graft_args *args, const struct graft_args *more) {
    void *items = graft_alloc(1, graft_args_bytes(args, more));
    if (items == NULL) {
        return -1;
    }
    const struct graft_args both = graft_args_write(items, args, more);
    graft_free((void *)(uintptr_t)args->items);
    *args = both;
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
    graft_free((void *)(uintptr_t)args->items);
    memset(args, 0, sizeof *args);
}
