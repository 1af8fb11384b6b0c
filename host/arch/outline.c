/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/outline.h"

#include <stdio.h>
#include <string.h>

#include "graft/describe.h"

enum { MAX_NAME = 256 };

enum { CHILD, FOUND_CHILD, WEIGHT, FOUND_WEIGHT, STATE };

/* A member that `create` fills in. */
struct member {
    const char *prefix; /* NULL: none */
    const char *name;
    int64_t index; /* -1: none */
    int32_t kind;
    uint32_t offset; /* in the instance */
};

struct graft_outline_kept {
    int64_t size; /* of the instance, which follows */
    int64_t capacity;
    int64_t n;
    struct member members[]; /* [capacity] */
};

static void *instance_of(const struct graft_outline_kept *kept) {
    return (char *)kept + sizeof *kept + (size_t)kept->capacity * sizeof kept->members[0];
}

void *graft_outline_start(struct graft_outline *of, const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, size_t size, int64_t members,
                          struct graft_error *error) {
    const size_t bytes = sizeof(struct graft_outline_kept) + (size_t)members * sizeof(struct member) + size;
    struct graft_outline_kept *kept = sink->keep(sink->data, (int64_t)bytes, error);
    if (kept == NULL) {
        return NULL;
    }
    kept->size = (int64_t)size;
    kept->capacity = members;
    of->args = args;
    of->sink = sink;
    of->error = error;
    of->prefix = NULL;
    of->index = -1;
    of->flags = 0;
    of->self = instance_of(kept);
    of->kept = kept;
    graft_reader_start(&of->reader, cls->data, config, graft_args_int(args, "layer_idx", 0), error);
    return of->self;
}

const char *graft_outline_name(const struct graft_outline *of, int32_t choice) {
    return graft_description_name(of->reader.description, choice);
}

int64_t graft_outline_hidden_size(const struct graft_outline *of) {
    return graft_args_int(of->args, "hidden_size", 0);
}

static const char *spell(const struct member *member, char path[MAX_NAME]) {
    if (member->index >= 0) {
        (void)snprintf(path, MAX_NAME, "%s.%lld", member->name, (long long)member->index);
    } else {
        (void)snprintf(path, MAX_NAME, "%s%s%s", member->prefix != NULL ? member->prefix : "",
                       member->prefix != NULL ? "." : "", member->name);
    }
    return path;
}

/* Records a member. Returns its full name, built in `path`, for declaring it; NULL if there is nothing to declare. */
static const char *note(struct graft_outline *of, int32_t kind, const void *member, const char *name,
                        char path[MAX_NAME]) {
    struct graft_outline_kept *kept = of->kept;
    if (name == NULL || of->error->code != GRAFT_OK) {
        return NULL;
    }
    if (kept->n == kept->capacity) {
        (void)graft_error_set(of->error, GRAFT_ERROR_INTERNAL, of->sink->path, "more than %lld members",
                              (long long)kept->capacity);
        return NULL;
    }
    kept->members[kept->n++] =
        (struct member){of->prefix, name, of->index, kind, (uint32_t)((const char *)member - (const char *)of->self)};
    return spell(&kept->members[kept->n - 1], path);
}

void graft_outline_child(struct graft_outline *of, const struct graft_module **child, const char *name,
                         const char *class_name, const char *interface_id, const struct graft_arg *args,
                         int32_t count) {
    char space[MAX_NAME];
    const char *path = note(of, CHILD, child, name, space);
    const struct graft_args list = graft_args_of(args, count);
    const struct graft_child_info info = {
        .struct_size = sizeof info,
        .flags = of->flags,
        .name = path,
        .class_name = class_name,
        .interface_id = interface_id,
        .args = &list,
    };
    if (path != NULL) {
        (void)of->sink->child(of->sink->data, &info, of->error);
    }
}

void graft_outline_given(struct graft_outline *of, const struct graft_module **child, const char *name,
                         const char *class_name, const char *interface_id) {
    char space[MAX_NAME];
    const char *path = note(of, CHILD, child, name, space);
    if (path != NULL) {
        (void)graft_describe_given(of->sink, path, class_name, interface_id, of->args, of->error);
    }
}

void graft_outline_linear(struct graft_outline *of, const struct graft_module **child, const char *name,
                          int64_t in_features, int64_t out_features, int32_t bias) {
    const struct graft_arg args[] = {graft_int_arg("in_features", in_features),
                                     graft_int_arg("out_features", out_features), graft_int_arg("bias", bias)};
    graft_outline_child(of, child, name, "Linear", GRAFT_INTERFACE_LINEAR, args, 3);
}

void graft_outline_embedding(struct graft_outline *of, const struct graft_module **child, const char *name,
                             int64_t rows, int64_t width) {
    const struct graft_arg args[] = {graft_int_arg("num_embeddings", rows), graft_int_arg("embedding_dim", width)};
    graft_outline_child(of, child, name, "Embedding", GRAFT_INTERFACE_EMBEDDING, args, 2);
}

void graft_outline_norm(struct graft_outline *of, const struct graft_module **child, const char *name,
                        const char *class_name, int64_t width, double eps) {
    graft_outline_norm_biased(of, child, name, class_name, width, eps, 1);
}

void graft_outline_norm_biased(struct graft_outline *of, const struct graft_module **child, const char *name,
                               const char *class_name, int64_t width, double eps, int32_t bias) {
    const struct graft_arg args[] = {graft_int_arg("hidden_size", width), graft_real_arg("eps", eps),
                                     graft_int_arg("bias", 0)};
    graft_outline_child(of, child, name, class_name, GRAFT_INTERFACE_NORM, args, bias ? 2 : 3);
}

void graft_outline_number(struct graft_outline *of, const char *name, int64_t value) {
    if (of->error->code == GRAFT_OK) {
        (void)graft_describe_number(of->sink, name, value, of->error);
    }
}

void graft_outline_activation(struct graft_outline *of, const struct graft_module **child, const char *name) {
    char space[MAX_NAME];
    const char *path = note(of, CHILD, child, name, space);
    if (path != NULL) {
        (void)graft_describe_activation(of->sink, path, of->reader.whole, of->args, "hidden_act", of->error);
    }
}

void graft_outline_find_child(struct graft_outline *of, const struct graft_module **child, const char *name) {
    char space[MAX_NAME];
    (void)note(of, FOUND_CHILD, child, name, space);
}

void graft_outline_parameter(struct graft_outline *of, const struct graft_weight **weight, const char *name,
                             int32_t rank, const int64_t *shape) {
    char space[MAX_NAME];
    const char *path = note(of, WEIGHT, weight, name, space);
    if (path != NULL) {
        (void)graft_describe_parameter(of->sink, path, rank, shape, 0, GRAFT_INIT_NONE, of->error);
    }
}

void graft_outline_vector(struct graft_outline *of, const struct graft_weight **weight, const char *name,
                          int64_t length) {
    char space[MAX_NAME];
    const char *path = note(of, WEIGHT, weight, name, space);
    if (path != NULL) {
        (void)graft_describe_vector(of->sink, path, length, of->error);
    }
}

void graft_outline_find_weight(struct graft_outline *of, const struct graft_weight **weight, const char *name) {
    char space[MAX_NAME];
    (void)note(of, FOUND_WEIGHT, weight, name, space);
}

void graft_outline_state(struct graft_outline *of, const struct graft_state **state, const char *name, int32_t rank,
                         const int64_t *shape) {
    char space[MAX_NAME];
    const char *path = note(of, STATE, state, name, space);
    if (path != NULL) {
        (void)graft_describe_state(of->sink, path, rank, shape, GRAFT_DTYPE_F32, of->error);
    }
}

static const void *find(const struct member *member, const struct graft_build *build, struct graft_error *error) {
    char space[MAX_NAME];
    const char *path = spell(member, space);
    switch (member->kind) {
    case CHILD:
        return graft_build_child(build, path, error);
    case FOUND_CHILD:
        return build->child(build->data, path);
    case WEIGHT:
        return graft_build_weight(build, path, error);
    case FOUND_WEIGHT:
        return build->weight(build->data, path);
    default:
        return graft_build_state(build, path, error);
    }
}

void *graft_outline_make(const struct graft_build *build, struct graft_error *error) {
    const struct graft_outline_kept *kept = build->kept;
    const size_t base = sizeof(struct graft_instance);
    char *self = graft_instance_new(build, (size_t)kept->size, error);
    if (self == NULL) {
        return NULL;
    }
    memcpy(self + base, (const char *)instance_of(kept) + base, (size_t)kept->size - base);
    for (int64_t i = 0; i < kept->n; i++) {
        const void *found = find(&kept->members[i], build, error);
        memcpy(self + kept->members[i].offset, &found, sizeof found);
    }
    return self;
}

int graft_outline_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                         struct graft_error *error) {
    void *self = graft_outline_make(build, error);
    (void)cls;
    return self != NULL ? graft_instance_finish(self, instance, error) : GRAFT_ERROR_INTERNAL;
}
