/* SPDX-License-Identifier: Apache-2.0 */
/* What plain and patched cases have in common: a model held against what the reference recorded. */
#ifndef GRAFT_GOLDENS_COMPARE_H
#define GRAFT_GOLDENS_COMPARE_H

#include "golden.h"
#include "runner.h"

/* How far f32 numbers may be from the reference's, and from our own computed in another order. */
#define F32_TOLERANCE 5e-5

/* The same of logits: as far as that, or three times as far as the reference's run in f64 is from its own in f32, where
 * that is more. A model may amplify rounding. */
double compare_tolerance(const struct golden *golden);

/* Logits of the prompt, in f32. `what` is for messages. */
void compare_logits(const struct golden *golden, const struct runner *runner, const char *what);

/* Greedy ids, and the logits of each step, in f32. The reference ignored eos. */
void compare_greedy(const struct golden *golden, const struct runner *runner);

/* Many tokens may be multiplied in another way than few: the prompt six times over gives what it gives piece by piece.
 */
void compare_many(const struct golden *golden, const struct runner *runner, const char *what);

/* Modules and their classes, parameters and their shapes. */
void compare_structure(const struct golden *golden, const struct runner *runner);

/* States of layers after the prompt, where the model has any. */
void compare_states(const struct golden *golden, const struct runner *runner);

/* The run in the checkpoint's own type is no farther from the f32 reference than the reference's own. */
void compare_spread(const struct golden *golden, const char *plugins);

#endif
