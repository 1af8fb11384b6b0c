/* SPDX-License-Identifier: Apache-2.0 */
/* Replace: replaces a pattern's matches by a fixed text. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/substitution.h"

struct replace {
    struct graft_normalizer base;
    struct graft_substitution substitution;
};

static int run(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error) {
    return graft_substitution_run(&((const struct replace *)self)->substitution, text, length, out, error);
}

static void destroy(struct graft_normalizer *self) {
    struct replace *replace = (struct replace *)self;
    graft_substitution_finish(&replace->substitution);
    graft_free(replace);
}

int graft_normalizer_create_replace(const struct graft_spec *spec, const char *type, struct graft_normalizer **made,
                                    struct graft_error *error) {
    struct replace *replace = graft_alloc(1, sizeof *replace);
    (void)type;
    if (replace == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    replace->base.run = run;
    replace->base.destroy = destroy;
    int status = graft_substitution_init(&replace->substitution, spec, error);
    if (status != GRAFT_OK) {
        destroy(&replace->base);
        return status;
    }
    *made = &replace->base;
    return GRAFT_OK;
}
