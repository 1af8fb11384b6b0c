/* SPDX-License-Identifier: Apache-2.0 */
/* Patch files: read strictly, compiled, and used to rename names. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fuzz/target.h"
#include "library/library.h"
#include "library/patch_file.h"
#include "names/name.h"

static int known(void *data, const char *name) {
    (void)data;
    return strlen(name) % 3 == 0;
}

static void rename_with(const struct key_list *list) {
    static const char *const names[] = {"model.layers.0.self_attn.q_proj.weight",         "a",     "",
                                        "model.layers.11.mlp.experts.3.down_proj.weight", "x.x.x", "\xC3\xA9.1.norm0"};
    struct key_state *states = graft_alloc(list->n, sizeof *states);
    for (size_t i = 0; states != NULL && i < sizeof names / sizeof names[0]; i++) {
        struct graft_error error = graft_error_none();
        struct key_result result;
        char spelled[GRAFT_NAME_BYTES];
        int status = graft_key_list_rename(list, states, names[i], &result, NULL, &error);
        if (status != error.code || (status == GRAFT_OK) != (result.name != NULL)) {
            abort();
        }
        if (status == GRAFT_OK && result.converter >= 0) {
            (void)graft_key_transform_index(list->items[result.converter], result.source, result.before);
        }
        if (status == GRAFT_OK && graft_name_in_model("model", result.name, known, NULL, spelled) &&
            !known(NULL, spelled)) {
            abort();
        }
        graft_key_result_finish(&result);
    }
    graft_free(states);
}

static void use(const struct graft_load_patch *patch) {
    struct graft_error error = graft_error_none();
    struct key_list list;
    if (graft_key_list_init(&list, patch->conversions, patch->n_conversions, "patch", NULL, &error) != GRAFT_OK) {
        abort(); /* it was compiled before */
    }
    rename_with(&list);
    graft_key_list_finish(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_library *library = NULL;
    struct patch_file file = {0};
    if (graft_library_create(&library, NULL) != GRAFT_OK) {
        abort();
    }
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    int status = graft_patch_file_read(fuzz_file("patch.json", bytes, size), snapshot, &file, &error);
    if (status != error.code || (status != GRAFT_OK && error.message[0] == '\0')) {
        abort();
    }
    if (status == GRAFT_OK) {
        use(&file.patch);
    }
    graft_patch_file_finish(&file);
    graft_snapshot_release(snapshot);
    graft_library_free(library);
    return 0;
}
