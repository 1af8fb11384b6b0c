/* SPDX-License-Identifier: Apache-2.0 */
/* libgraft: loads a Hugging Face model directory with module classes replaced by plugins' classes, and runs the model.
 * This header includes all others.
 *
 *     struct graft_error error = graft_error_none();
 *     struct graft_library *library;
 *     struct graft_model *model;
 *     graft_library_create(&library, &error);
 *     graft_library_load_plugins(library, directories, 1, NULL, &error);
 *     graft_model_open(library, "model", NULL, &model, &error); // plans everything, reads no weights
 *     graft_model_load(model, &error);                          // binds the weights, creates the modules
 *     graft_model_generate(model, prompts, 1, NULL, on_token, data, &error);
 *
 * Functions return GRAFT_OK or a code of error.h, with the reason in `error`. The library never prints and never exits.
 * Get elements of arrays, both of those that are passed and of those that are returned, with graft_struct_at (abi.h).
 */
#ifndef GRAFT_HOST_GRAFT_H
#define GRAFT_HOST_GRAFT_H

#include "graft/host/chat.h"
#include "graft/host/choices.h"
#include "graft/host/encode.h"
#include "graft/host/generate.h"
#include "graft/host/grammar.h"
#include "graft/host/image.h"
#include "graft/host/library.h"
#include "graft/host/model.h"
#include "graft/host/modules.h"
#include "graft/host/observe.h"
#include "graft/host/plan.h"
#include "graft/host/process.h"
#include "graft/host/registry.h"
#include "graft/host/sequences.h"
#include "graft/host/serve.h"
#include "graft/host/tokenizer.h"
#include "graft/host/validate.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif
