/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/built_in.h"

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/json.h"
#include "plugin/family_file.h"

struct graft_built_in {
    struct graft_family_file **files; /* [n_files] */
    size_t n_files;
    const struct graft_family **families; /* NULL-terminated */
    size_t n_families;
};

static size_t count(void) {
    size_t n = 0;
    for (const struct graft_family *const *at = graft_native_families(); *at != NULL; at++) {
        n++;
    }
    for (const struct graft_family_text *text = graft_built_in_texts(); text->name != NULL; text++) {
        n++;
    }
    return n;
}

static int add(struct graft_built_in *all, const struct graft_family_text *text, struct graft_error *error) {
    graft_json *document = NULL;
    int status = graft_json_parse(text->text, text->size, text->name, &document, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const char *model_type = graft_json_string(graft_json_get(document, "model_type"), NULL);
    status = graft_family_file_take(document, text->name, all->families,
                                    model_type != NULL ? graft_native_family(model_type) : NULL,
                                    &all->files[all->n_files], error);
    if (status == GRAFT_OK) {
        all->families[all->n_families++] = graft_family_file_plugin(all->files[all->n_files++])->families;
    }
    return status;
}

int graft_built_in_create(struct graft_built_in **built_in, struct graft_error *error) {
    const size_t n = count();
    struct graft_built_in *made = graft_alloc(1, sizeof *made);
    int status = GRAFT_OK;
    if (made == NULL || (made->files = graft_alloc(n, sizeof(void *))) == NULL ||
        (made->families = graft_alloc(n + 1, sizeof(void *))) == NULL) {
        graft_built_in_free(made);
        return graft_fail_memory(error, "library");
    }
    for (const struct graft_family *const *at = graft_native_families(); *at != NULL; at++) {
        made->families[made->n_families++] = *at;
    }
    for (const struct graft_family_text *text = graft_built_in_texts(); text->name != NULL && status == GRAFT_OK;
         text++) {
        status = add(made, text, error);
    }
    if (status != GRAFT_OK) {
        graft_built_in_free(made);
        return status;
    }
    *built_in = made;
    return GRAFT_OK;
}

void graft_built_in_free(struct graft_built_in *built_in) {
    if (built_in != NULL) {
        while (built_in->n_files > 0) {
            graft_family_file_free(built_in->files[--built_in->n_files]);
        }
        graft_free(built_in->files);
        graft_free((void *)built_in->families);
        graft_free(built_in);
    }
}

const struct graft_family *const *graft_built_in_families(const struct graft_built_in *built_in) {
    return built_in->families;
}
