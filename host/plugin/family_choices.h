/* SPDX-License-Identifier: Apache-2.0 */
/* Reads members of a family file that describe a part of a model by choices of a table: "decoder", "encoder",
 * "vision". */
#ifndef GRAFT_PLUGIN_FAMILY_CHOICES_H
#define GRAFT_PLUGIN_FAMILY_CHOICES_H

#include "plugin/family_members.h"

struct graft_family_part {
    const char *member; /* name of the member: "decoder" */
    const char *path;   /* path of the file */
    const struct graft_choices *choices;
    struct graft_description *description; /* where the file's choices are set */
};

/* Sets the choices of an object, whose members are choices, or sections that contain choices. Members in `others`
 * (NULL-terminated) are skipped, as other functions read them. Errors name the file and the choice. */
int graft_family_read_choices(const struct graft_family_part *part, const graft_json *object, const char *const *others,
                              struct graft_error *error);

/* Sets the defaults of the part's description from the object `defaults`; NULL: there are none. Values must be scalars;
 * with `skips_objects` objects are left alone. */
int graft_family_read_defaults(const struct graft_family_part *part, const graft_json *defaults, int skips_objects,
                               struct graft_error *error);

#endif
