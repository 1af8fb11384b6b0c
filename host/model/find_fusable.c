/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a fusion family about every module of a model before replacements. */
#include "base/alloc.h"
#include "base/crash_context.h"
#include "base/fail.h"
#include "model/describe.h"

struct search {
    const struct graft_tree_options *options;
    const struct graft_fusion_family *family;
    struct graft_config family_options;
    struct graft_fused_modules *fused;
};

/* Passes on the error of a family's function, or sets one if the function set none. */
static int family_failed(const struct search *search, const struct graft_node *node, const char *function,
                         struct graft_error *error) {
    return graft_error_complete(error, GRAFT_ERROR_PLUGIN, node->path,
                                "fusion family %s: %s failed without recording an error", search->family->name,
                                function);
}

static int add_arguments(void *data, const struct graft_args *args, struct graft_error *error) {
    return graft_candidate_add_arguments(data, args, error);
}

static int add_conversion(void *data, const struct graft_conversion *conversion, struct graft_error *error) {
    return graft_candidate_add_conversion(data, conversion, error);
}

/* The call to record while a function of the family runs. */
static struct graft_plugin_call task_of(const struct search *search, const struct graft_node *node,
                                        const char *function) {
    const struct graft_origin *origin = graft_fusion_origin(search->fused->known);
    return (struct graft_plugin_call){function, node->path, search->family->name, origin->plugin, NULL};
}

/* Makes the class, with conversions, for a module that can be fused. */
static int make_class(const struct search *search, const struct graft_node *node, struct graft_candidate *candidate,
                      struct graft_error *error) {
    const struct graft_fusion_family *family = search->family;
    const struct graft_module_info info = graft_module_info_of(node);
    const struct graft_fusion_sink sink = {sizeof sink, 0, candidate, add_arguments, add_conversion};
    const struct graft_plugin_call making = task_of(search, node, "make_fused_class");
    struct graft_crash_context before = graft_crash_context_begin(&making);
    const struct graft_class *cls = family->make_fused_class(family, &info, &search->family_options, &sink, error);
    graft_crash_context_end(before);
    if (cls == NULL) {
        return family_failed(search, node, "make_fused_class", error);
    }
    int status = graft_candidate_set_class(candidate, cls, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_plugin_call transforming = task_of(search, node, "make_transforms");
    before = graft_crash_context_begin(&transforming);
    status =
        family->make_transforms(family, &search->options->config->view, &info, &search->family_options, &sink, error);
    graft_crash_context_end(before);
    return status == GRAFT_OK ? graft_candidate_check(candidate, error)
                              : family_failed(search, node, "make_transforms", error);
}

/* Records that a module could be fused, but its path does not match the family's targets. */
static int refuse_path(const struct search *search, struct graft_fusion_verdict *verdict, struct graft_error *error) {
    struct graft_text reason = {0};
    graft_text_add_string(&reason, "its path is not one of ");
    graft_fusion_add_patterns(search->fused->known, &reason);
    if (reason.failed) {
        return graft_fail_memory(error, search->family->name);
    }
    (void)graft_fusion_decide(verdict, 0, reason.bytes);
    graft_text_free(&reason);
    return GRAFT_OK;
}

static int ask(void *data, struct graft_node *node, struct graft_error *error) {
    struct search *search = data;
    const struct graft_module_info info = graft_module_info_of(node);
    struct graft_fusion_verdict verdict = {.struct_size = sizeof verdict};
    if (node->known == NULL) {
        return GRAFT_OK;
    }
    const struct graft_plugin_call task = task_of(search, node, "is_fusable");
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int asked = search->family->is_fusable(search->family, &info, &search->family_options, &verdict, error);
    graft_crash_context_end(before);
    if (asked != GRAFT_OK) {
        return family_failed(search, node, "is_fusable", error);
    }
    int targeted = graft_fusion_targets(search->fused->known, node->path, error);
    if (targeted < 0) {
        return GRAFT_ERROR_PLUGIN;
    }
    if (!targeted && !verdict.fusable) {
        return GRAFT_OK;
    }
    verdict.reason[sizeof verdict.reason - 1] = '\0';
    int status = targeted ? GRAFT_OK : refuse_path(search, &verdict, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_candidate *candidate =
        graft_fused_modules_add(search->fused, node->path, node->known->cls, &verdict, error);
    if (candidate == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    return candidate->fusable ? make_class(search, node, candidate, error) : GRAFT_OK;
}

static int discover(const struct graft_tree_options *options, const struct graft_fusion_choice *choice,
                    const graft_json *family_options, struct graft_fused_modules *fused, struct graft_error *error) {
    struct search search = {
        .options = options,
        .family = graft_fusion_family_of(choice->known),
        .family_options = graft_config_view(family_options, options->config->file),
        .fused = fused,
    };
    struct graft_tree *tree = NULL;
    int status = graft_builder_build_plain(options, &tree, error);
    if (status == GRAFT_OK) {
        status = graft_tree_walk(tree, ask, &search, error);
    }
    graft_tree_free(tree);
    return status;
}

/* Asks the family, and remembers the answer. */
static int find(const struct graft_tree_options *options, const struct graft_fusion_choice *choice,
                const graft_json *family_options, const struct graft_fused_modules_key *key,
                const struct graft_fused_modules **fused, struct graft_error *error) {
    *fused = graft_fusion_recall(choice->known, key);
    if (*fused != NULL) {
        return GRAFT_OK;
    }
    struct graft_fused_modules *made = graft_fused_modules_create(choice->known);
    int status = made != NULL ? discover(options, choice, family_options, made, error)
                              : graft_fail_memory(error, options->class_name);
    if (status != GRAFT_OK) {
        graft_fused_modules_release(made);
        return status;
    }
    graft_fusion_remember(choice->known, key, made);
    *fused = made;
    return GRAFT_OK;
}

int graft_fusion_find_modules(const struct graft_tree_options *options, const struct graft_fusion_choice *choice,
                              const struct graft_fused_modules **fused, struct graft_error *error) {
    const struct graft_known_class *root = graft_snapshot_class(options->snapshot, options->class_name, NULL);
    graft_json *none = graft_json_new_object();
    const graft_json *given = choice->options != NULL ? choice->options : none;
    char *config = graft_json_dump(options->config->document, 0);
    char *family_options = none != NULL ? graft_json_dump(given, 0) : NULL;
    const struct graft_fused_modules_key key = {root != NULL ? root->cls : NULL, config, family_options};
    int status = config != NULL && family_options != NULL ? GRAFT_OK : graft_fail_memory(error, options->class_name);
    *fused = NULL;
    if (status == GRAFT_OK) {
        status = find(options, choice, given, &key, fused, error);
    }
    graft_free(config);
    graft_free(family_options);
    graft_json_free(none);
    return status;
}
