/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grammar at work. Where a text stands is a *set*: all states it may be in, each with the stack of states to return
 * to. Sets are made as they are reached, and kept: which set a byte leads to is found once. What is kept is bounded;
 * beyond that everything goes that no text stands at.
 *
 * A machine serves any number of texts, one thread at a time.
 */
#ifndef GRAFT_GRAMMAR_MACHINE_H
#define GRAFT_GRAMMAR_MACHINE_H

#include "grammar/rules.h"

enum {
    GRAFT_SET_DEAD = 0,  /* nothing fits from here */
    GRAFT_SET_START = 1, /* of an empty text */
    GRAFT_SET_FAILED = -1
};

struct graft_machine_limits {
    size_t bytes;   /* that sets and stacks may take before those are dropped that no text stands at */
    size_t configs; /* states of a set: more are an error */
    int32_t depth;  /* of a stack: what would go deeper does not fit */
};

extern const struct graft_machine_limits graft_machine_usual_limits;

struct graft_machine;

/* Where one text stands. */
struct graft_place {
    int32_t set;
    struct graft_place *previous, *next; /* of the machine's places */
};

/* `rules`, which are finished, and `limits` outlive it; NULL if memory ran out. */
struct graft_machine *graft_machine_create(const struct graft_rules *rules, const struct graft_machine_limits *limits);
void graft_machine_destroy(struct graft_machine *machine);

/* A place begins at the start, or where another is; it is not moved until it ends. */
void graft_place_begin(struct graft_machine *machine, struct graft_place *place, const struct graft_place *from);
void graft_place_end(struct graft_machine *machine, struct graft_place *place);

/* Frees what no place needs, if much is kept: sets have other numbers then. 1 if they have; -1 if memory ran out, or
 * what places need is too much by itself. */
int graft_machine_tidy(struct graft_machine *machine);

/* The set behind a byte; GRAFT_SET_FAILED if memory ran out or it is too large. */
int32_t graft_machine_step(struct graft_machine *machine, int32_t set, unsigned char byte);

/* Whether a text may end here. */
int graft_machine_may_end(const struct graft_machine *machine, int32_t set);

/* Why GRAFT_SET_FAILED: GRAFT_ERROR_INTERNAL for memory, else GRAFT_ERROR_USAGE. */
int graft_machine_fault(const struct graft_machine *machine);

#endif
