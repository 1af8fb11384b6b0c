/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by plain and patched cases: compares a model with the numbers that the reference recorded. */
#ifndef GRAFT_GOLDENS_COMPARE_H
#define GRAFT_GOLDENS_COMPARE_H

#include "golden.h"
#include "runner.h"

/* The largest difference allowed between f32 numbers and the reference's, or our own computed in another order. */
#define F32_TOLERANCE 5e-5

/* The largest difference allowed for logits: the same, or three times that between the reference's runs in f64 and f32
 * if that is more, since a model may amplify rounding. */
double compare_tolerance(const struct golden *golden);

/* Compares the prompt's logits in f32. `what` is for messages. */
void compare_logits(const struct golden *golden, const struct runner *runner, const char *what);

/* Compares greedy ids and the logits of each step in f32. The reference ignored eos. */
void compare_greedy(const struct golden *golden, const struct runner *runner);

/* Compares many tokens, which other loops may multiply, with few: six copies of the prompt at once and in pieces. */
void compare_many(const struct golden *golden, const struct runner *runner, const char *what);

/* Compares modules and their classes, parameters and their shapes. */
void compare_structure(const struct golden *golden, const struct runner *runner);

/* Compares the states of layers after the prompt, if the model has states. */
void compare_states(const struct golden *golden, const struct runner *runner);

/* Checks that the run in the checkpoint's type is no farther from the reference's f32 run than the reference's own. */
void compare_spread(const struct golden *golden, const char *plugins);

#endif
