/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/metaspace.h"

#include <string.h>

#include "base/fail.h"

/* Reads `prepend_scheme` or, in older files, `add_prefix_space`. */
static int read_scheme(struct graft_metaspace *metaspace, const struct graft_spec *spec, struct graft_error *error) {
    static const char *const names[] = {"never", "first", "always"}; /* in the order of the enum */
    struct graft_spec field = graft_spec_get(spec, "prepend_scheme");
    struct graft_spec older = graft_spec_get(spec, "add_prefix_space");
    const char *name;
    int adds = 1;
    int status = graft_spec_optional_string(spec, "prepend_scheme", &name, NULL, error);
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "add_prefix_space", 1, &adds, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (name == NULL) {
        metaspace->scheme = adds ? GRAFT_METASPACE_ALWAYS : GRAFT_METASPACE_NEVER;
        return GRAFT_OK;
    }
    int scheme = GRAFT_METASPACE_ALWAYS;
    while (scheme >= 0 && strcmp(names[scheme], name) != 0) {
        scheme--;
    }
    if (scheme < 0) {
        return graft_spec_error(&field, error, "\"%s\" is not supported", name);
    }
    if (!adds && scheme != GRAFT_METASPACE_NEVER) {
        return graft_spec_error(&older, error, "false, but prepend_scheme is \"%s\"", name);
    }
    metaspace->scheme = (enum graft_metaspace_scheme)scheme;
    return GRAFT_OK;
}

int graft_metaspace_read(struct graft_metaspace *metaspace, const struct graft_spec *spec, struct graft_error *error) {
    /* `str_rep` is accepted: it repeats the replacement. */
    static const char *const keys[] = {"type",  "replacement", "prepend_scheme", "add_prefix_space", "str_rep",
                                       "split", NULL};
    const char *mark;
    size_t length = 0;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_character(spec, "replacement", &mark, &length, error);
    }
    if (status == GRAFT_OK) {
        graft_text_add(&metaspace->mark, mark, length);
        status = metaspace->mark.failed ? graft_fail_memory(error, spec->file) : GRAFT_OK;
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "split", 1, &metaspace->split, error);
    }
    return status == GRAFT_OK ? read_scheme(metaspace, spec, error) : status;
}
