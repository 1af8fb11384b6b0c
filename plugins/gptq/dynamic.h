/* SPDX-License-Identifier: Apache-2.0 */
/* `quantization_config.dynamic`: bits and group sizes of single modules. */
#ifndef GPTQ_DYNAMIC_H
#define GPTQ_DYNAMIC_H

#include "graft/config.h"
#include "graft/regex.h"

/* Size of a path in config.json, with its NUL. */
enum { GPTQ_PLACE = 64 };

/* [load] Finds the object in config.json with the quantization fields of the module `path`: that of the first regular
 * expression that matches the beginning of its name, or "quantization_config". A prefix "-:" excludes modules, which
 * the tensors show as well; a prefix "+:" has no meaning. */
int gptq_find_place(const struct graft_config *config, const struct graft_regexes *regexes, const char *path,
                    char place[GPTQ_PLACE], struct graft_error *error);

#endif
