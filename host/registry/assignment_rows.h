/* SPDX-License-Identifier: Apache-2.0 */
/* The content of an assignment. Used in this folder only. */
#ifndef GRAFT_REGISTRY_ASSIGNMENT_ROWS_H
#define GRAFT_REGISTRY_ASSIGNMENT_ROWS_H

#include "registry/assignment.h"
#include "registry/snapshot.h"

/* What a rule does in the model; one for each rule, in the order of graft_snapshot_rule. */
struct assignment_row {
    int left_out; /* the rule is unasked, or its group or plugin is left out */
    int skipped;  /* its whole plugin is left out, not only its group */
    int counts;   /* the rule is for this model's type, and its conditions on the config hold */
    /* for a rule of this model's type: the unmet condition on the config; or NULL */
    const struct graft_condition *unmet;
    /* Modules that its key matches, and that it replaces, without those that are like an earlier one (model/alike.h):
     * so 0 means none. */
    size_t wanted;
    size_t won;
    size_t last_wanted;        /* number of the last module wanted */
    size_t last_won;           /* number of the last module replaced */
    const char *lost_to;       /* a plugin that got a module instead, if it is of another source */
    size_t declined;           /* modules that conditions on tensors, or a veto, keep from it */
    const char *declined_path; /* path of the first declined module; a string of the tree being built */
    const struct graft_condition *declined_for; /* condition that the first declined module does not meet; or NULL: */
    const char *declined_why;                   /* why that module cannot be replaced */
    /* The first class of a module that is derived from the class that the rule names; or NULL. */
    const struct graft_known_class *derived;
};

/* A module that a veto keeps from a rule. */
struct assignment_veto {
    size_t rule;
    char *path;
    char *why;
};

struct graft_assignment {
    struct graft_snapshot *snapshot;
    const char *model_type;
    int skip_bad;
    struct assignment_row *rows;
    size_t n;
    size_t *in_play; /* [n + 1]: for each index, the next rule from there on that takes part; `n`: none */
    int trial;
    size_t modules;                      /* modules so far, so the number of the current one */
    const struct graft_origin *taken_by; /* who replaces the current module, apart from wrappers; NULL: nobody */
    char **notes; /* notes on skipped plugins, then on groups left out and on classes that patterns leave alone */
    size_t n_notes;
    size_t n_skipped; /* how many of the notes are about skipped plugins */
    size_t note_capacity;
    struct assignment_veto *vetoes;
    size_t n_vetoes;
    size_t n_vetoes_known; /* how many of the vetoes the last tree was built with */
    size_t veto_capacity;
};

/* Adds a note, which is consumed; NULL means that memory ran out. */
int graft_assignment_note(struct graft_assignment *assignment, char *note_take, struct graft_error *error);

/* Whether rule `i` belongs to a plugin, and unusable plugins are left out instead of being errors. */
int graft_assignment_may_skip(const struct graft_assignment *assignment, size_t i);

/* Leaves out all rules of that plugin, with `cause` as a note. Groups have to be decided again. */
int graft_assignment_skip(struct graft_assignment *assignment, size_t i, const struct graft_error *cause,
                          struct graft_error *error);

/* The following functions accept NULL as an assignment and then do nothing. */

/* Adds the reason why the first module was declined. A condition's reason follows `before`; a reason about weights has
 * an introduction of its own, unless `before` is empty. */
void graft_declined_tell(const struct assignment_row *row, const char *before, struct graft_text *text);

/* Moves on to the next module. */
void graft_assignment_next(struct graft_assignment *assignment);

int graft_assignment_is_trial(const struct graft_assignment *assignment);
int graft_assignment_leaves_out(const struct graft_assignment *assignment, size_t i);

/* Whether rule `i` is for this model, by its type and its config. */
int graft_assignment_counts(const struct graft_assignment *assignment, size_t i);

/* The first rule from `i` on that takes part in this model, as it is for the model's type and config and not left out;
 * the number of rules if there is none. Without an assignment every rule takes part. */
size_t graft_assignment_in_play(const struct graft_assignment *assignment, size_t i);

/* Records that rule `i` wants the current module. */
void graft_assignment_claim(struct graft_assignment *assignment, size_t i);

/* Records that rule `i` would want the current module, at `path`, if a condition were met. If `unmet` is NULL, nothing
 * is recorded. */
void graft_assignment_decline(struct graft_assignment *assignment, size_t i, const struct graft_condition *unmet,
                              const char *path);

/* Records that rule `i` matches the module at `path` but cannot replace it; `why` is the reason. */
void graft_assignment_decline_for(struct graft_assignment *assignment, size_t i, const char *why, const char *path);

/* Whether rule `i` has wanted no module so far, nor passed a derived class. */
int graft_assignment_is_idle(const struct graft_assignment *assignment, size_t i);

/* Records that a module has a class which is derived from the one that rule `i` names, and so is left alone. */
void graft_assignment_pass_derived(struct graft_assignment *assignment, size_t i,
                                   const struct graft_known_class *derived);

/* Why a veto keeps rule `i` from the module at `path`; NULL if none does. */
const char *graft_assignment_vetoed(const struct graft_assignment *assignment, size_t i, const char *path);
int graft_assignment_has_vetoes(const struct graft_assignment *assignment);
void graft_assignment_free_vetoes(struct graft_assignment *assignment);

/* Records that the rule takes part in the current module. */
void graft_assignment_give(struct graft_assignment *assignment, const struct rule *rule);

/* Records that a rule or fusion family of `origin` replaces the current module's class. */
void graft_assignment_take(struct graft_assignment *assignment, const struct graft_origin *origin);

/* Ends the current module: rules that wanted it without taking part may have lost it to another one. */
void graft_assignment_end(struct graft_assignment *assignment);

#endif
