/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an assignment: shared by the units of this folder only. */
#ifndef GRAFT_REGISTRY_ASSIGNMENT_ROWS_H
#define GRAFT_REGISTRY_ASSIGNMENT_ROWS_H

#include "registry/assignment.h"
#include "registry/snapshot.h"

/* One for each rule, in the order of graft_snapshot_rule. */
struct assignment_row {
    int left_out;                        /* it is unasked for, or its group or plugin is left out */
    int skipped;                         /* its plugin is, whatever becomes of groups */
    int counts;                          /* the rule is for this model's type and config */
    const struct graft_condition *unmet; /* of a rule for its type: what its config does not say; or NULL */
    size_t wanted;                       /* modules that its key hits */
    size_t won;                          /* those of them that it replaces */
    size_t last_wanted;                  /* number of the module wanted last */
    size_t last_won;                     /* and of the one won last */
    const char *lost_to;                 /* the plugin that got one of the others, if that was not its own source */
    size_t declined;                     /* modules that it would want if they had other tensors */
    const char *declined_path;           /* of the first of them: of the tree that is built */
    const struct graft_condition *declined_for; /* which of its conditions that one does not meet; or NULL: */
    const char *declined_why;                   /* why it cannot be replaced */
};

/* A module that a rule is kept from. */
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
    size_t *in_play; /* [n + 1]: the number of the first rule from each on that takes part; `n`: none does */
    int trial;
    size_t modules;                      /* that were asked for; the number of the present one */
    const struct graft_origin *taken_by; /* who replaces the present one, wrappers apart; NULL: nobody */
    char **notes; /* on plugins skipped; then on groups left out, and on classes that patterns leave alone */
    size_t n_notes;
    size_t n_skipped; /* of the notes: one for each plugin that is */
    size_t note_capacity;
    struct assignment_veto *vetoes;
    size_t n_vetoes;
    size_t n_vetoes_known; /* of them: those that trees were built with */
    size_t veto_capacity;
};

/* A note of the model's, which is consumed; NULL: memory ran out. */
int graft_assignment_note(struct graft_assignment *assignment, char *note_take, struct graft_error *error);

/* Whether rule `i` is a plugin's, and those that cannot be used are left out instead of being errors. */
int graft_assignment_may_skip(const struct graft_assignment *assignment, size_t i);

/* Leaves all of that plugin out, with `cause` as a note. All else is to be decided anew. */
int graft_assignment_skip(struct graft_assignment *assignment, size_t i, const struct graft_error *cause,
                          struct graft_error *error);

/* In these NULL stands for an assignment that nobody asks. */

/* Adds why the first module was declined: a condition's words come behind `before`, those on weights behind their own,
 * unless `before` is empty. */
void graft_declined_tell(const struct assignment_row *row, const char *before, struct graft_text *text);

/* Begins with the next module. */
void graft_assignment_next(struct graft_assignment *assignment);

int graft_assignment_is_trial(const struct graft_assignment *assignment);
int graft_assignment_leaves_out(const struct graft_assignment *assignment, size_t i);

/* Whether rule `i` is for models such as this one, as type and config tell. */
int graft_assignment_counts(const struct graft_assignment *assignment, size_t i);

/* The number of the first rule from `i` on that takes part in this model: it is for its type and config, and not left
 * out. The number of rules behind the last. Without an assignment each takes part. */
size_t graft_assignment_in_play(const struct graft_assignment *assignment, size_t i);

/* Rule `i` wants the present module. */
void graft_assignment_claim(struct graft_assignment *assignment, size_t i);

/* Rule `i` would want the present module, at `path`, but for a condition that is not met; NULL: it does not. */
void graft_assignment_decline(struct graft_assignment *assignment, size_t i, const struct graft_condition *unmet,
                              const char *path);

/* The same for one that it cannot replace, for the reason `why`. */
void graft_assignment_decline_for(struct graft_assignment *assignment, size_t i, const char *why, const char *path);

/* Why rule `i` is kept from the module at `path`; NULL: it is not. */
const char *graft_assignment_vetoed(const struct graft_assignment *assignment, size_t i, const char *path);
void graft_assignment_free_vetoes(struct graft_assignment *assignment);

/* The rule has a part in it. */
void graft_assignment_give(struct graft_assignment *assignment, const struct rule *rule);

/* A rule or fusion family of `origin` puts its class in the place of the original. */
void graft_assignment_take(struct graft_assignment *assignment, const struct graft_origin *origin);

/* Ends with the present module: of what wanted it without getting a part some have lost it. */
void graft_assignment_end(struct graft_assignment *assignment);

#endif
