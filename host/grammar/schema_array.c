/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas of arrays. */
#include "base/alloc.h"
#include "grammar/schema_parts.h"

/* How many elements have a schema of their own: the longest prefixItems. */
static int64_t count_first(struct graft_schema_reader *reader, const struct graft_schema_list *list) {
    size_t most = 0;
    for (size_t i = 0; i < list->n; i++) {
        const graft_json *first = graft_schema_keyword(reader, &list->items[i], "prefixItems", GRAFT_JSON_ARRAY);
        most = graft_json_size(first) > most ? graft_json_size(first) : most;
    }
    return (int64_t)most;
}

/* The rule of element number `number`, from 0. */
static int32_t element_rule(struct graft_schema_reader *reader, const struct graft_schema_list *list, int64_t number) {
    struct graft_schema_list element = {0};
    for (size_t i = 0; i < list->n && reader->status == GRAFT_OK; i++) {
        const struct graft_schema_at *at = &list->items[i];
        if (number < (int64_t)graft_json_size(graft_json_get(at->schema, "prefixItems"))) {
            graft_schema_append(reader, &element, graft_schema_below(reader, at, "prefixItems", NULL, number));
        } else if (graft_json_get(at->schema, "items") != NULL) {
            graft_schema_append(reader, &element, graft_schema_below(reader, at, "items", NULL, -1));
        }
    }
    const int32_t rule = graft_schema_rule_of(reader, &element);
    graft_free(element.items);
    return rule;
}

void graft_schema_add_array(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                            int32_t to) {
    struct graft_rules *rules = reader->rules;
    const int64_t least = graft_schema_counts(reader, list, "minItems", 0);
    const int64_t most = graft_schema_counts(reader, list, "maxItems", 1);
    const int64_t first = count_first(reader, list);
    int32_t here = graft_rules_state(rules), rule = -1;
    /* This many elements get states of their own. The elements after them are all alike: they share a loop. */
    const int64_t counted = most >= 0 ? most : least > first + 1 ? least : first + 1;
    graft_rules_text(rules, from, here, "[", 1);
    for (int64_t i = 0; i < counted && reader->status == GRAFT_OK && rules->failed == 0; i++) {
        const int32_t next = graft_rules_state(rules);
        int32_t element = here;
        if (i >= least) {
            graft_rules_text(rules, here, to, "]", 1);
        }
        if (i > 0) {
            element = graft_rules_state(rules);
            graft_rules_text(rules, here, element, ",", 1);
        }
        rule = i <= first ? element_rule(reader, list, i) : rule;
        graft_rules_call(rules, element, next, rule);
        here = next;
    }
    if (counted >= least) {
        graft_rules_text(rules, here, to, "]", 1);
    }
    if (most < 0 && reader->status == GRAFT_OK) {
        const int32_t element = graft_rules_state(rules);
        graft_rules_text(rules, here, element, ",", 1);
        graft_rules_call(rules, element, here, rule);
    }
}
