/* SPDX-License-Identifier: Apache-2.0 */
#include "scheme.h"

#include <stdio.h>
#include <string.h>

#include "graft/glob.h"

/* Styles for which this plugin leaves modules whole: those of experts, which another plugin divides, and replicated
 * modules. */
static const struct {
    const char *name;
    enum style style;
} styles[] = {
    {"colwise", STYLE_COLWISE},
    {"packed_colwise", STYLE_PACKED_COLWISE},
    {"rowwise", STYLE_ROWWISE},
    {"rowwise_split_input", STYLE_ROWWISE_SPLIT_INPUT},
    {"colwise_gather_output", STYLE_COLWISE_GATHER_OUTPUT},
    {"colwise_rep", STYLE_COLWISE_GATHER_OUTPUT},
    {"rowwise_rep", STYLE_ROWWISE_SPLIT_INPUT},
    {"replicate", STYLE_NONE},
    {"replicated_with_grad_allreduce", STYLE_NONE},
    {"moe_tp_experts", STYLE_NONE},
};

struct rule {
    const char *glob;
    size_t length;
    enum style style;
};

static enum style find_style(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        if (strlen(styles[i].name) == length && memcmp(styles[i].name, name, length) == 0) {
            return styles[i].style;
        }
    }
    return STYLE_UNKNOWN;
}

/* The position of the next rule. */
struct cursor {
    const char *at; /* in the text; NULL after its last rule */
    int64_t i;      /* index in the config's object */
};

static struct cursor start(const struct scheme *scheme) {
    return (struct cursor){.at = scheme->text};
}

static int read_member(const struct scheme *scheme, struct cursor *cursor, struct rule *rule) {
    const struct graft_config *config = scheme->config;
    char path[64];
    const char *glob = config->key(config->data, SCHEME_FIELD, cursor->i);
    if (glob == NULL) {
        return 0;
    }
    (void)snprintf(path, sizeof path, SCHEME_FIELD ".#%lld", (long long)cursor->i);
    const char *style = config->string(config->data, path);
    *rule = (struct rule){glob, strlen(glob), style != NULL ? find_style(style, strlen(style)) : STYLE_UNKNOWN};
    cursor->i++;
    return 1;
}

/* Reads the rule at the cursor, and advances the cursor; 0 at the end. */
static int next_rule(const struct scheme *scheme, struct cursor *cursor, struct rule *rule) {
    if (scheme->text == NULL) {
        return read_member(scheme, cursor, rule);
    }
    const char *at = cursor->at;
    if (at == NULL) {
        return 0;
    }
    size_t whole = strcspn(at, ","), glob = strcspn(at, "=,");
    *rule = (struct rule){at, glob, glob < whole ? find_style(at + glob + 1, whole - glob - 1) : STYLE_UNKNOWN};
    cursor->at = at[whole] == ',' ? at + whole + 1 : NULL;
    return 1;
}

static int refuse(const struct scheme *scheme, const struct rule *rule, struct graft_error *error) {
    static const char expected[] =
        "expected layers.*.mlp.up_proj=colwise or another of colwise, packed_colwise, rowwise, rowwise_split_input, "
        "colwise_gather_output and replicate";
    return scheme->text != NULL ? graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel.plan", "%s, got \"%.*s\"",
                                                  expected, (int)strcspn(rule->glob, ","), rule->glob)
                                : graft_error_set(error, GRAFT_ERROR_MODEL, scheme->config->file,
                                                  SCHEME_FIELD ": %s, got another style for \"%.*s\"", expected,
                                                  (int)rule->length, rule->glob);
}

int scheme_check(const struct scheme *scheme, struct graft_error *error) {
    struct cursor cursor = start(scheme);
    struct rule rule;
    while (next_rule(scheme, &cursor, &rule)) {
        int is_of_experts = rule.length > 8 && scheme->text == NULL && strstr(rule.glob, ".experts") != NULL;
        if ((rule.style == STYLE_UNKNOWN && !is_of_experts) || rule.length == 0 || rule.length >= SCHEME_NAME) {
            return refuse(scheme, &rule, error);
        }
    }
    return GRAFT_OK;
}

enum style scheme_style(const struct scheme *scheme, const char *path) {
    struct cursor cursor = start(scheme);
    struct rule rule;
    while (next_rule(scheme, &cursor, &rule)) {
        if (rule.length > 0 && graft_glob_match(rule.glob, rule.length, path) == rule.length) {
            return rule.style != STYLE_UNKNOWN ? rule.style : STYLE_NONE;
        }
    }
    return STYLE_NONE;
}

int scheme_below(const struct scheme *scheme, int i, const char *path, char name[SCHEME_NAME], enum style *style) {
    struct cursor cursor = start(scheme);
    struct rule rule = {0};
    for (; i >= 0; i--) {
        if (!next_rule(scheme, &cursor, &rule)) {
            return -1;
        }
    }
    size_t matched = graft_glob_match(rule.glob, rule.length, path);
    if (matched == 0 || matched == rule.length || memchr(rule.glob + matched + 1, '.', rule.length - matched - 1)) {
        return 0;
    }
    memcpy(name, rule.glob + matched + 1, rule.length - matched - 1);
    name[rule.length - matched - 1] = '\0';
    *style = rule.style != STYLE_UNKNOWN ? rule.style : STYLE_NONE;
    return 1;
}
