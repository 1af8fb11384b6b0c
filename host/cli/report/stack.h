/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_CLI_REPORT_STACK_H
#define GRAFT_CLI_REPORT_STACK_H

#include "base/text.h"
#include "graft/host/modules.h"

/* What stands in the place of a replaced module's original: "Linear -> GptqLinear by gptq -> LoraLinear by
 * lora", each called by the next one; `with_files`: and where the plugins are. */
void graft_report_stack(struct graft_text *text, const struct graft_named_module *module, int with_files);

#endif
