/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a class is made of, said once. Its `describe` lays an instance out: it reads sizes into it, and declares
 * children, parameters and states together with the members that point to them. Its `create` copies what was laid out
 * and finds what those members point to; for most classes that is graft_outline_create.
 *
 *     static void outline(struct graft_outline *of, struct mlp *self) {
 *         self->width = graft_read_int(&of->reader, D_MLP_SIZE);
 *         graft_outline_linear(of, &self->up, "up_proj", hidden_size, self->width, 0);
 *     }
 *
 *     GRAFT_OUTLINED(graft_mlp, struct mlp)
 *
 * Where a name is NULL nothing is declared, and the member stays NULL. Errors are latched in `error`: nothing is
 * declared after one. All functions are [load].
 */
#ifndef GRAFT_ARCH_OUTLINE_H
#define GRAFT_ARCH_OUTLINE_H

#include "arch/data/description.h"
#include "graft/class.h"
#include "graft/instance.h"

struct graft_outline {
    struct graft_reader reader; /* of the class's description; its layer is the argument layer_idx, or 0 */
    const struct graft_args *args;
    const struct graft_sink *sink;
    struct graft_error *error;
    const char *prefix; /* "altup": names below are PREFIX.NAME; NULL: they are as given; may be changed, as the next */
    int64_t index;      /* 0 or more: what is named is that item of the list NAME, NAME.INDEX; -1: it is no list */
    uint32_t flags;     /* of children that are declared next: GRAFT_CHILD_... */
    void *self;         /* the instance that is laid out; starts with a struct graft_instance, which is not filled in */
    struct graft_outline_kept *kept;
};

/* How many members of an instance an outline notes, for most classes. */
enum { GRAFT_OUTLINE_MEMBERS = 32 };

/* Starts an outline. Returns the instance to fill in, `size` zeroed bytes; NULL with an error recorded on failure. The
 * outline may note up to `members` children, weights and states. Do not move `of`: it points into itself. */
void *graft_outline_start(struct graft_outline *of, const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, size_t size, int64_t members,
                          struct graft_error *error);

/* Defines ROLE_describe (graft/class.h), which starts an outline of a TYPE and calls the function `outline(of, self)`
 * of the same file. FROM: with another function that starts it, and room for so many `members`. */
#define GRAFT_OUTLINED(role, type) GRAFT_OUTLINED_FROM(graft_outline_start, role, type, GRAFT_OUTLINE_MEMBERS)
#define GRAFT_OUTLINED_FROM(start, role, type, members)                                                            \
    int role##_describe(const struct graft_class *cls, const struct graft_config *config,                          \
                        const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) { \
        struct graft_outline of;                                                                                   \
        type *self = start(&of, cls, config, args, sink, sizeof *self, members, error);                            \
        if (self != NULL) {                                                                                        \
            outline(&of, self);                                                                                    \
        }                                                                                                          \
        return error->code;                                                                                        \
    }

/* The name that the description has for a choice; NULL: none. */
const char *graft_outline_name(const struct graft_outline *of, int32_t choice);

/* The argument hidden_size, or 0. */
int64_t graft_outline_hidden_size(const struct graft_outline *of);

/* Declare a child. `given`: it gets all arguments of this module. */
void graft_outline_child(struct graft_outline *of, const struct graft_module **child, const char *name,
                         const char *class_name, const char *interface_id, const struct graft_arg *args, int32_t count);
void graft_outline_given(struct graft_outline *of, const struct graft_module **child, const char *name,
                         const char *class_name, const char *interface_id);
void graft_outline_linear(struct graft_outline *of, const struct graft_module **child, const char *name,
                          int64_t in_features, int64_t out_features, int32_t bias);
void graft_outline_embedding(struct graft_outline *of, const struct graft_module **child, const char *name,
                             int64_t rows, int64_t width);
void graft_outline_norm(struct graft_outline *of, const struct graft_module **child, const char *name,
                        const char *class_name, int64_t width, double eps);

/* The same norm. `bias` 0: it has no bias; 1: its class decides, as above. */
void graft_outline_norm_biased(struct graft_outline *of, const struct graft_module **child, const char *name,
                               const char *class_name, int64_t width, double eps, int32_t bias);

/* Declares an attribute that is a number. */
void graft_outline_number(struct graft_outline *of, const char *name, int64_t value);

/* The activation that ACT2FN has for the argument hidden_act, or for config.json's. */
void graft_outline_activation(struct graft_outline *of, const struct graft_module **child, const char *name);

/* A child that a derived class may declare: the member stays NULL without it. */
void graft_outline_find_child(struct graft_outline *of, const struct graft_module **child, const char *name);

/* Declare a parameter: as graft_describe_parameter and graft_describe_vector do. */
void graft_outline_parameter(struct graft_outline *of, const struct graft_weight **weight, const char *name,
                             int32_t rank, const int64_t *shape);
void graft_outline_vector(struct graft_outline *of, const struct graft_weight **weight, const char *name,
                          int64_t length);

/* A parameter that may be absent: the member stays NULL without it. */
void graft_outline_find_weight(struct graft_outline *of, const struct graft_weight **weight, const char *name);

/* Declares a state of f32 numbers. */
void graft_outline_state(struct graft_outline *of, const struct graft_state **state, const char *name, int32_t rank,
                         const int64_t *shape);

/* The instance that was laid out, with its members found, for a `create` that does more and ends with
 * graft_instance_finish; NULL if memory ran out. */
void *graft_outline_make(const struct graft_build *build, struct graft_error *error);

/* A `create`, for classes whose `describe` makes an outline. */
int graft_outline_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                         struct graft_error *error);

#endif
