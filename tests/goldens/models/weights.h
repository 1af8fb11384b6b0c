/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GOLDENS_MODELS_WEIGHTS_H
#define TESTS_GOLDENS_MODELS_WEIGHTS_H

/* Writes the safetensors files of the recipe into an existing folder. Any fault ends the program, with a line on
 * stderr. */
void weights_write(const char *recipe, const char *folder);

/* Ends the program with "make_models: PATH: WHAT". */
_Noreturn void weights_fail(const char *path, const char *what);

#endif
