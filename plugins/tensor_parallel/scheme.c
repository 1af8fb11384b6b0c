/* SPDX-License-Identifier: Apache-2.0 */
#include "scheme.h"

#include <string.h>

static const char *const styles[] = {
    [STYLE_COLWISE] = "colwise",
    [STYLE_ROWWISE] = "rowwise",
    [STYLE_COLWISE_GATHER_OUTPUT] = "colwise_gather_output",
};

struct rule {
    const char *glob;
    size_t length;
    enum style style; /* STYLE_NONE: not a known one */
};

/* The rule at `at`; behind it, NULL at the end. */
static const char *read_rule(const char *at, struct rule *rule) {
    size_t whole = strcspn(at, ","), glob = strcspn(at, "=,");
    *rule = (struct rule){at, glob, STYLE_NONE};
    for (int i = STYLE_COLWISE; i <= STYLE_COLWISE_GATHER_OUTPUT && glob < whole; i++) {
        size_t length = strlen(styles[i]);
        if (length == whole - glob - 1 && memcmp(at + glob + 1, styles[i], length) == 0) {
            rule->style = (enum style)i;
        }
    }
    return at[whole] == ',' ? at + whole + 1 : NULL;
}

int scheme_check(const struct scheme *scheme, struct graft_error *error) {
    for (const char *at = scheme->text; at != NULL;) {
        struct rule rule;
        at = read_rule(at, &rule);
        if (rule.style == STYLE_NONE || rule.length == 0 || rule.length >= SCHEME_NAME) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel.plan",
                                   "expected rules such as layers.*.mlp.up_proj=colwise, divided by commas, with the "
                                   "styles colwise, rowwise and colwise_gather_output, got \"%.*s\"",
                                   (int)strcspn(rule.glob, ","), rule.glob);
        }
    }
    return GRAFT_OK;
}

/* Whether the first parts of the glob are those of the path, as many as it has. Returns how much of the glob they are,
 * 0 for a path that is no match. */
static size_t match_here(const struct rule *rule, const char *path) {
    const char *glob = rule->glob, *end = rule->glob + rule->length;
    for (;;) {
        size_t part = strcspn(path, "."), wanted = 0;
        while (glob + wanted < end && glob[wanted] != '.') {
            wanted++;
        }
        int any = wanted == 1 && *glob == '*' && part > 0;
        if (!any && (part != wanted || memcmp(glob, path, part) != 0)) {
            return 0;
        }
        glob += wanted;
        if (path[part] == '\0') {
            return (size_t)(glob - rule->glob);
        }
        if (glob == end) {
            return 0;
        }
        glob++;
        path += part + 1;
    }
}

/* The same from any part of the path on. */
static size_t match(const struct rule *rule, const char *path) {
    size_t matched = match_here(rule, path);
    for (const char *dot = strchr(path, '.'); dot != NULL && matched == 0; dot = strchr(dot + 1, '.')) {
        matched = match_here(rule, dot + 1);
    }
    return matched;
}

enum style scheme_style(const struct scheme *scheme, const char *path) {
    for (const char *at = scheme->text; at != NULL;) {
        struct rule rule;
        at = read_rule(at, &rule);
        if (match(&rule, path) == rule.length) {
            return rule.style;
        }
    }
    return STYLE_NONE;
}

int scheme_below(const struct scheme *scheme, int i, const char *path, char name[SCHEME_NAME], enum style *style) {
    const char *at = scheme->text;
    struct rule rule = {0};
    for (; i >= 0 && at != NULL; i--) {
        at = read_rule(at, &rule);
    }
    if (i >= 0) {
        return -1;
    }
    size_t matched = match(&rule, path);
    if (matched == 0 || matched == rule.length || memchr(rule.glob + matched + 1, '.', rule.length - matched - 1)) {
        return 0;
    }
    memcpy(name, rule.glob + matched + 1, rule.length - matched - 1);
    name[rule.length - matched - 1] = '\0';
    *style = rule.style;
    return 1;
}
