/* SPDX-License-Identifier: Apache-2.0 */
#include "model/alike.h"

#include <string.h>

#include "base/alloc.h"
#include "base/args.h"
#include "base/fail.h"
#include "base/text.h"
#include "model/describe.h"
#include "names/name.h"

/* A described module that others may be like, with what decides whether they are. */
struct alike {
    struct alike *next; /* in the same bucket */
    uint64_t hash;
    const struct graft_node *node;
    struct graft_args args; /* the node's own arguments, which modules like it share */
    size_t n_nodes;         /* number of modules that its description adds to the tree, itself included */
    size_t n_parameters;
    size_t first_answer; /* index of its first answer about tensors, and their number */
    size_t n_answers;
    int32_t depth; /* levels of modules below it, for the limit on nesting */
};

/* --- Finding --- */

static uint64_t hash_arg(uint64_t hash, const struct graft_arg *arg) {
    hash = graft_text_hash(hash, arg->name);
    hash = arg->kind == GRAFT_ARG_STRING ? graft_text_hash(hash, arg->string) : hash;
    return arg->kind == GRAFT_ARG_INT ? hash * 31 + (uint64_t)arg->integer : hash;
}

static uint64_t hash_node(const struct graft_node *node) {
    uint64_t hash = graft_text_hash(0, node->class_name);
    for (int32_t i = 0; i < node->args.count; i++) {
        hash = hash_arg(hash, graft_args_at(&node->args, i));
    }
    return hash;
}

/* Whether two reals have the same bits: 0 and -0 are not alike. */
static int is_same_real(double a, double b) {
    uint64_t bits_a = 0, bits_b = 0;
    memcpy(&bits_a, &a, sizeof a);
    memcpy(&bits_b, &b, sizeof b);
    return bits_a == bits_b;
}

static int is_same_arg(const struct graft_arg *a, const struct graft_arg *b) {
    if (a->kind != b->kind || strcmp(a->name, b->name) != 0) {
        return 0;
    }
    switch (a->kind) {
    case GRAFT_ARG_STRING:
        return strcmp(a->string, b->string) == 0;
    case GRAFT_ARG_INTS:
        return a->count == b->count &&
               (a->count == 0 || memcmp(a->integers, b->integers, (size_t)a->count * sizeof *a->integers) == 0);
    case GRAFT_ARG_REAL:
        return is_same_real(a->real, b->real);
    default:
        return a->integer == b->integer;
    }
}

int graft_alike_same_args(const struct graft_args *a, const struct graft_args *b) {
    int same = a->count == b->count;
    for (int32_t i = 0; same && i < a->count; i++) {
        same = is_same_arg(graft_args_at(a, i), graft_args_at(b, i));
    }
    return same;
}

/* Whether both modules are described and made by the same functions with the same arguments. */
static int is_same(const struct graft_node *a, const struct graft_node *b) {
    return a->known == b->known && a->original == b->original && a->kernel_on == b->kernel_on &&
           a->described_by == b->described_by && a->made_by == b->made_by && graft_alike_same_args(&a->args, &b->args);
}

static int has_room(const struct builder *builder, const struct alike *alike) {
    const size_t n_nodes = builder->tree->n_nodes + alike->n_nodes;
    return n_nodes <= graft_builder_max_nodes(builder) &&
           builder->tree->n_parameters + alike->n_parameters <= GRAFT_MAX_PARAMETERS && builder->depth <= alike->depth;
}

/* Writes the path below `node` that corresponds to `path` below the other module. Returns 0 if it is too long. */
static int move_path(const struct graft_node *node, const struct alike *alike, const char *path,
                     char moved[GRAFT_NAME_BYTES]) {
    return graft_name_below(node->path, path + strlen(alike->node->path) + 1, moved);
}

/* Whether the checkpoint has the same tensors below the node as it had below the other module, where a description
 * asked. */
static int are_same_answers(const struct builder *builder, const struct graft_node *node, const struct alike *alike) {
    const struct graft_model_facts *facts = builder->options->facts;
    char path[GRAFT_NAME_BYTES];
    for (size_t i = 0; i < alike->n_answers; i++) {
        const struct alike_answer *answer = &builder->alikes.answers[alike->first_answer + i];
        if (!move_path(node, alike, answer->path, path) || facts->has_below(facts->data, path) != answer->has) {
            return 0;
        }
    }
    return 1;
}

const struct alike *graft_alike_find(const struct builder *builder, const struct graft_node *node) {
    const uint64_t hash = hash_node(node);
    for (const struct alike *alike = builder->alikes.buckets[hash % GRAFT_ALIKE_BUCKETS]; alike != NULL;
         alike = alike->next) {
        if (alike->hash == hash && is_same(alike->node, node) && has_room(builder, alike) &&
            are_same_answers(builder, node, alike)) {
            return alike;
        }
    }
    return NULL;
}

const struct graft_node *graft_alike_node(const struct alike *alike) {
    return alike->node;
}

/* --- Repeating --- */

/* Writes `path`, followed by a dot unless it is empty, and `name`. Returns where the name begins. */
static char *write_below(char *at, const char *path, size_t path_length, const char *name, size_t name_length) {
    if (path_length > 0) {
        memcpy(at, path, path_length);
        at += path_length;
        *at++ = '.';
    }
    memcpy(at, name, name_length + 1);
    return at;
}

static int repeat_parameters(struct graft_tree *tree, struct graft_node *node, const struct graft_node *like,
                             size_t path_length) {
    node->parameters = graft_arena_take(&tree->arena, like->n_parameters, sizeof(struct graft_parameter *));
    for (size_t i = 0; node->parameters != NULL && i < like->n_parameters; i++) {
        const struct graft_parameter *of = like->parameters[i];
        const size_t length = strlen(of->own_name);
        struct graft_parameter *parameter =
            graft_arena_take(&tree->arena, 1, sizeof *parameter + path_length + length + 2);
        if (parameter == NULL) {
            return -1;
        }
        *parameter = *of;
        parameter->name = (char *)(parameter + 1);
        parameter->own_name = write_below((char *)(parameter + 1), node->path, path_length, of->own_name, length);
        parameter->node = node;
        node->parameters[i] = parameter;
    }
    node->n_parameters = like->n_parameters;
    return node->parameters != NULL ? 0 : -1;
}

static int repeat_below(struct graft_tree *tree, struct graft_node *node, const struct graft_node *like,
                        size_t path_length);

/* Adds a child with a path of its own, as the other module has one; NULL if memory ran out. */
static struct graft_node *repeat_child(struct graft_tree *tree, struct graft_node *node, const struct graft_node *like,
                                       size_t path_length) {
    const size_t length = strlen(like->name), all = path_length + (path_length > 0) + length;
    struct graft_node *child = graft_arena_take(&tree->arena, 1, sizeof *child + all + 1);
    if (child == NULL) {
        return NULL;
    }
    *child = *like;
    child->path = (char *)(child + 1);
    child->name = write_below((char *)(child + 1), node->path, path_length, like->name, length);
    child->parent = node;
    child->like = like;
    child->join = NULL; /* only descriptions below a renamed module need it */
    child->below_super = node->below_super;
    return repeat_below(tree, child, like, all) == 0 ? child : NULL;
}

static int repeat_below(struct graft_tree *tree, struct graft_node *node, const struct graft_node *like,
                        size_t path_length) {
    node->children = graft_arena_take(&tree->arena, like->n_children, sizeof(struct graft_node *));
    node->n_children = 0;
    for (size_t i = 0; node->children != NULL && i < like->n_children; i++) {
        node->children[i] = repeat_child(tree, node, like->children[i], path_length);
        if (node->children[i] == NULL) {
            return -1;
        }
        node->n_children++;
    }
    return node->children != NULL ? repeat_parameters(tree, node, like, path_length) : -1;
}

int graft_alike_repeat(struct builder *builder, struct graft_node *node, const struct alike *alike,
                       struct graft_error *error) {
    const struct graft_node *like = alike->node;
    node->like = like;
    graft_args_finish(&node->args);
    node->args = alike->args;
    node->is_numbered = like->is_numbered;
    node->attributes = like->attributes;
    node->n_attributes = like->n_attributes;
    node->kept = like->kept;
    node->kept_bytes = like->kept_bytes;
    builder->tree->n_nodes += alike->n_nodes;
    builder->tree->n_parameters += alike->n_parameters;
    int status = GRAFT_OK;
    for (size_t i = 0; i < alike->n_answers && status == GRAFT_OK; i++) {
        const struct alike_answer answer = builder->alikes.answers[alike->first_answer + i];
        char path[GRAFT_NAME_BYTES];
        (void)move_path(node, alike, answer.path, path); /* graft_alike_find checked that it fits */
        status = graft_alike_told(builder, path, answer.has, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    return repeat_below(builder->tree, node, like, strlen(node->path)) == 0 ? GRAFT_OK
                                                                            : graft_fail_memory(error, node->path);
}

/* --- Keeping --- */

struct alike_mark graft_alike_mark(const struct builder *builder) {
    return (struct alike_mark){builder->n_by_place, builder->tree->n_nodes, builder->tree->n_parameters,
                               builder->alikes.n_answers};
}

int graft_alike_told(struct builder *builder, const char *path, int has, struct graft_error *error) {
    struct alikes *alikes = &builder->alikes;
    const char *copy = graft_arena_strdup(&builder->tree->arena, path);
    if (copy == NULL ||
        graft_grow(&alikes->answers, &alikes->answers_capacity, alikes->n_answers, sizeof *alikes->answers) != 0) {
        return graft_fail_memory(error, path);
    }
    alikes->answers[alikes->n_answers++] = (struct alike_answer){copy, has};
    return GRAFT_OK;
}

int graft_alike_keep(struct builder *builder, struct graft_node *node, const struct alike_mark *before,
                     struct graft_error *error) {
    if (builder->n_by_place != before->n_by_place || builder->n_shares > 0) {
        return GRAFT_OK;
    }
    struct alike *alike = graft_arena_alloc(&builder->tree->arena, 1, sizeof *alike);
    if (alike == NULL) {
        return graft_fail_memory(error, node->path);
    }
    *alike = (struct alike){
        .hash = hash_node(node),
        .node = node,
        .args = node->args,
        .n_nodes = builder->tree->n_nodes - before->n_nodes,
        .n_parameters = builder->tree->n_parameters - before->n_parameters,
        .first_answer = before->n_answers,
        .n_answers = builder->alikes.n_answers - before->n_answers,
        .depth = builder->depth,
    };
    struct alike **bucket = &builder->alikes.buckets[alike->hash % GRAFT_ALIKE_BUCKETS];
    alike->next = *bucket;
    *bucket = alike;
    return GRAFT_OK;
}
