/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and runs small models with the shipped plugins, for targets that fuzz a file beside valid weights. */
#ifndef GRAFT_TESTS_FUZZ_MODEL_H
#define GRAFT_TESTS_FUZZ_MODEL_H

#include "graft/host/graft.h"

/* Opens, loads and runs the model in `directory` on two tokens, with an adapter (NULL: none). Aborts on failures that
 * no content of a file may cause: one without a message, one that blames a plugin, and one of the program itself. */
void fuzz_model(const char *directory, const char *adapter);

/* Puts a link to `file` into the folder of fuzz_folder, in the place of the one with that name. */
void fuzz_link(const char *file, const char *name);

#endif
