/* SPDX-License-Identifier: Apache-2.0 */
/* Options that users can set for a plugin: `--plugin-option acme_linear.scale=mse`. A plugin lists its options in its
 * descriptor; the host checks the values, and gives them to the plugin:
 *
 *   const char *scale = graft_args_string(host->options(&plugin), "scale", NULL); */
#ifndef GRAFT_OPTION_H
#define GRAFT_OPTION_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GRAFT_OPTION_INT = 0,
    GRAFT_OPTION_REAL = 1,
    GRAFT_OPTION_STRING = 2, /* one line of UTF-8; it may be empty */
    GRAFT_OPTION_BOOL = 3    /* "true" or "false"; read as the integer 1 or 0 */
};

/* Must not change until the plugin's `deinit`; neither may its strings. */
struct graft_option {
    uint32_t struct_size;
    int32_t kind;              /* GRAFT_OPTION_... */
    const char *name;          /* "scale": a-z, 0-9 and '_' */
    const char *help;          /* one line */
    const char *default_value; /* the default as a user would write it: "max", "64", "true" */
    /* NULL-terminated list of the allowed values, including the default; NULL: every value of its kind. */
    const char *const *choices;
};

#define GRAFT_OPTION_SIZE_1_0 GRAFT_END_OF(struct graft_option, choices)

GRAFT_ASSERT_SIZE(struct graft_option, 40);

#ifdef __cplusplus
}
#endif

#endif
