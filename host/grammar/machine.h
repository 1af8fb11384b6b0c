/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs texts through a grammar, byte by byte. The position of a text is a *set*: all states that the grammar may be in
 * after these bytes, each with the stack of states to return to from the rules that were called. Sets are created when
 * they are first reached and then cached, with the set that each byte leads to, as a lazily built DFA does. The cache
 * has a limit; when it is reached, all sets are dropped that are not the position of some text.
 *
 * A machine serves any number of texts, but one thread at a time.
 */
#ifndef GRAFT_GRAMMAR_MACHINE_H
#define GRAFT_GRAMMAR_MACHINE_H

#include "grammar/rules.h"

enum {
    GRAFT_SET_DEAD = 0,  /* the text does not fit, whatever follows */
    GRAFT_SET_START = 1, /* the position of an empty text */
    GRAFT_SET_FAILED = -1
};

struct graft_machine_limits {
    size_t bytes;   /* size of the cached sets and stacks at which graft_machine_tidy drops those that are not in use */
    size_t configs; /* states of a set; more are an error */
    int32_t depth;  /* calls within calls; a text that needs more does not fit */
};

extern const struct graft_machine_limits graft_machine_usual_limits;

struct graft_machine;

/* The position of one text. */
struct graft_place {
    int32_t set;
    struct graft_place *previous, *next; /* in the machine's list of places */
};

/* `rules`, which are finished, and `limits` outlive it; NULL if memory ran out. */
struct graft_machine *graft_machine_create(const struct graft_rules *rules, const struct graft_machine_limits *limits);
void graft_machine_destroy(struct graft_machine *machine);

/* Adds a place to the machine's list, at the start of a text or, with `from`, at the position of another place. The
 * struct must stay at its address until graft_place_end. */
void graft_place_begin(struct graft_machine *machine, struct graft_place *place, const struct graft_place *from);
void graft_place_end(struct graft_machine *machine, struct graft_place *place);

/* If the cache has reached its limit, drops the sets that no place is at. Returns 0 if nothing changed; 1 if sets were
 * dropped, and the others, those of places included, have new numbers; -1 if memory ran out, or if what the places need
 * exceeds the limit by itself. */
int graft_machine_tidy(struct graft_machine *machine);

/* The set that a byte leads to; GRAFT_SET_FAILED if memory ran out or the set has too many states. */
int32_t graft_machine_step(struct graft_machine *machine, int32_t set, unsigned char byte);

/* Whether a text may end here. */
int graft_machine_may_end(const struct graft_machine *machine, int32_t set);

/* Why the last call failed: GRAFT_ERROR_INTERNAL if memory ran out, GRAFT_ERROR_USAGE if a limit was met. */
int graft_machine_fault(const struct graft_machine *machine);

#endif
