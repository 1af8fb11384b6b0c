/* SPDX-License-Identifier: Apache-2.0 */
/* config.json, up to the meta tree that the built-in classes describe from it. */
#include <stdlib.h>

#include "fuzz/target.h"
#include "library/library.h"

static void build(struct graft_library *library, struct graft_model_config *config, struct graft_error *error) {
    const struct graft_family *family = graft_family_find(config->model_type);
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    struct graft_tree *tree = NULL;
    if (family != NULL) {
        struct graft_tree_options options = {
            .config = config,
            .snapshot = snapshot,
            .class_name = config->architecture != NULL ? config->architecture : family->architecture,
        };
        if (graft_tree_build(&options, &tree, error) != GRAFT_OK && error->message[0] == '\0') {
            abort();
        }
    }
    graft_tree_free(tree);
    graft_snapshot_release(snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_library *library = NULL;
    struct graft_model_config *config = NULL;
    (void)fuzz_file("config.json", bytes, size);
    if (graft_library_create(&library, NULL) != GRAFT_OK) {
        abort();
    }
    if (graft_model_config_read(fuzz_folder(), &config, &error) == GRAFT_OK) {
        build(library, config, &error);
    } else if (error.message[0] == '\0') {
        abort();
    }
    graft_model_config_free(config);
    graft_library_free(library);
    return 0;
}
