/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_CLI_REPORT_STACK_H
#define GRAFT_CLI_REPORT_STACK_H

#include "base/text.h"
#include "graft/host/modules.h"

/* Adds the classes that run in place of a replaced class, from the original to the outermost; each is called by the
 * next: "Linear -> GptqLinear by gptq -> LoraLinear by lora". With `with_files` also the plugins' files. */
void graft_report_stack(struct graft_text *text, const struct graft_named_module *module, int with_files);

#endif
