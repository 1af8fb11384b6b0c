/* SPDX-License-Identifier: Apache-2.0 */
/* A member of a family file that describes a part of a model by the choices of a table: "decoder", "vision". */
#ifndef GRAFT_PLUGIN_FAMILY_CHOICES_H
#define GRAFT_PLUGIN_FAMILY_CHOICES_H

#include "plugin/family_members.h"

struct graft_family_part {
    const char *member; /* "decoder" */
    const char *path;   /* of the file */
    const struct graft_choices *choices;
    struct graft_description *description; /* of these, which the file's choices are set in */
};

/* Sets the choices of an object, which are members or objects of them under the name of their section. Members in
 * `others`, NULL-terminated, are somebody else's. Errors name file and choice. */
int graft_family_read_choices(const struct graft_family_part *part, const graft_json *object, const char *const *others,
                              struct graft_error *error);

/* A value of JSON as one of a choice, or of a default, `name`. */
int graft_family_read_value(const struct graft_family_part *part, const graft_json *json, const char *name,
                            struct graft_value *value, struct graft_error *error);

/* Sets the defaults of the part's description from the object `defaults`; NULL: there are none. Values must be scalars;
 * with `skips_objects` objects are left alone. */
int graft_family_read_defaults(const struct graft_family_part *part, const graft_json *defaults, int skips_objects,
                               struct graft_error *error);

#endif
