/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/metaspace.h"

#include <string.h>

#include "base/fail.h"

int graft_metaspace_read(struct graft_metaspace *metaspace, const struct graft_field *spec, struct graft_error *error) {
    static const char *const schemes[] = {"never", "first", "always", NULL}; /* in the order of the enum */
    struct fields {
        struct graft_text mark;
        int split, scheme, adds;
    } fields = {.split = 1, .scheme = -1, .adds = 1};
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"str_rep", .kind = GRAFT_MEMBER_SKIPPED}, /* repeats the replacement */
        {"replacement", GRAFT_MEMBER_CHARACTER, .offset = offsetof(struct fields, mark)},
        {"split", GRAFT_MEMBER_FLAG, .offset = offsetof(struct fields, split), .is_optional = 1},
        {"prepend_scheme", GRAFT_MEMBER_CHOICE, .offset = offsetof(struct fields, scheme), .is_optional = 1,
         .names = schemes},
        {"add_prefix_space", GRAFT_MEMBER_FLAG, .offset = offsetof(struct fields, adds), .is_optional = 1},
        {0},
    };
    int status = graft_field_read(spec, members, &fields, error);
    if (status == GRAFT_OK && !fields.adds && fields.scheme > GRAFT_METASPACE_NEVER) {
        const struct graft_field older = graft_field_get(spec, "add_prefix_space");
        status = graft_field_error(&older, error, "false, but prepend_scheme is \"%s\"", schemes[fields.scheme]);
    }
    metaspace->mark = fields.mark;
    metaspace->split = fields.split;
    metaspace->scheme = fields.scheme >= 0 ? (enum graft_metaspace_scheme)fields.scheme
                        : fields.adds      ? GRAFT_METASPACE_ALWAYS
                                           : GRAFT_METASPACE_NEVER;
    return status;
}
