/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of methods, filters, tests and functions; each is defined in the file of its functions. */
#ifndef GRAFT_JINJA_METHODS_H
#define GRAFT_JINJA_METHODS_H

#include "jinja/run.h"

struct graft_jinja_table {
    const struct graft_jinja_built_in *entries; /* [n] */
    size_t n;
};

extern const struct graft_jinja_table graft_jinja_string_methods;
extern const struct graft_jinja_table graft_jinja_string_split_methods;
extern const struct graft_jinja_table graft_jinja_string_question_methods;
extern const struct graft_jinja_table graft_jinja_dict_methods;
extern const struct graft_jinja_table graft_jinja_list_methods;
extern const struct graft_jinja_table graft_jinja_loop_methods;

extern const struct graft_jinja_table graft_jinja_text_filters;
extern const struct graft_jinja_table graft_jinja_number_filters;
extern const struct graft_jinja_table graft_jinja_list_filters;
extern const struct graft_jinja_table graft_jinja_choice_filters;
extern const struct graft_jinja_table graft_jinja_order_filters;

/* Appends the tuple (first, second) to a list. */
int graft_jinja_push_pair(struct graft_jinja_run *run, struct graft_jinja_list *list,
                          const struct graft_jinja_value *first, const struct graft_jinja_value *second);

#define GRAFT_JINJA_TABLE(entries) \
    { entries, sizeof(entries) / sizeof((entries)[0]) }

#endif
