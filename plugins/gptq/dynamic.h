/* SPDX-License-Identifier: Apache-2.0 */
/* `quantization_config.dynamic`: bits and groups that single modules have of their own. */
#ifndef GPTQ_DYNAMIC_H
#define GPTQ_DYNAMIC_H

#include "graft/config.h"
#include "graft/regex.h"

/* Characters of a place, with the 0 behind it. */
enum { GPTQ_PLACE = 64 };

/*
 * [load] Where the config has the fields of the module at `path`: at the first of the regular expressions that matches
 * from its name's start, or at "quantization_config". One with "-:" before it takes modules out, which the tensors say
 * as well; "+:" means nothing.
 */
int gptq_find_place(const struct graft_config *config, const struct graft_regexes *regexes, const char *path,
                    char place[GPTQ_PLACE], struct graft_error *error);

#endif
