/* SPDX-License-Identifier: Apache-2.0 */
/* A part of config.json ("text_config") read as if it were all of it, and values of fields that the file lacks. */
#ifndef GRAFT_ARCH_SECTION_H
#define GRAFT_ARCH_SECTION_H

#include "graft/config.h"

enum { GRAFT_SECTION_FILE = 512 };

/* Prefix of paths in expressions that refer to all of config.json instead of the section. */
#define GRAFT_SECTION_OUTER "config."

struct graft_value;

struct graft_config_section {
    struct graft_config view; /* the section's config; its `file` also names the section */
    const struct graft_config *whole;
    const char *name;  /* NULL: all of `whole` */
    const char *outer; /* paths that begin with it are of `whole`: GRAFT_SECTION_OUTER; NULL: none are */
    /* Returns the default of a field that the file lacks, or NULL if it has none; may be NULL. */
    const struct graft_value *(*fallback)(const void *data, const char *path);
    const void *fallback_data;
    char file[GRAFT_SECTION_FILE];
};

/* [load] Fills in `section`, which `view` points into: do not move it. The field `name` must be absent (then so are
 * those below it) or an object; NULL: all of `whole`. The caller may set `outer` and `fallback`. */
int graft_config_section(const struct graft_config *whole, const char *name, struct graft_config_section *section,
                         struct graft_error *error);

#endif
