/* SPDX-License-Identifier: Apache-2.0 */
/* Translates classes in brackets to PCRE2. Classes of Oniguruma may contain classes, and be intersected, which PCRE2
 * does not allow. A class within a class becomes an alternative, and an intersection becomes a lookahead at the same
 * character:
 *
 *   [a[^b]]      (?:[a]|[^b])
 *   [a-z&&[^b]]  (?:(?=[a-z])[^b])
 *   [^a[^b]]     (?:(?!(?:[a]|[^b]))(?s:.)) */
#include <string.h>

#include "base/alloc.h"
#include "tokenizer/dialect_rewrite.h"

/* A class that is being read. */
struct class {
    int negated;
    struct graft_text members; /* members of the current operand, in the syntax of a class */
    struct graft_text others;  /* alternatives of the current operand that a class cannot hold: "|[^b]|…" */
    struct graft_text before;  /* the operands before it, each as "(?=…)" */
};

static void free_class(struct class *class) {
    graft_text_free(&class->members);
    graft_text_free(&class->others);
    graft_text_free(&class->before);
}

/* Adds an expression that matches one character of the current operand. */
static void add_operand(struct graft_rewrite *r, const struct class *class, struct graft_text *out) {
    int has_members = class->members.length > 0, has_others = class->others.length > 0;
    if (!has_members && !has_others) {
        r->refused = "a class without members";
        return;
    }
    graft_text_add_string(out, has_others ? "(?:" : "");
    if (has_members) {
        graft_text_add_string(out, "[");
        graft_text_add(out, class->members.bytes, class->members.length);
        graft_text_add_string(out, "]");
    }
    if (has_others) { /* without members the first bar is not needed */
        graft_text_add(out, class->others.bytes + !has_members, class->others.length - (size_t)!has_members);
        graft_text_add_string(out, ")");
    }
}

/* Adds an expression that matches one character of the class. */
static void add_class(struct graft_rewrite *r, const struct class *class, struct graft_text *out) {
    if (class->others.length == 0 && class->before.length == 0 && class->members.length > 0) {
        graft_text_add_string(out, class->negated ? "[^" : "[");
        graft_text_add(out, class->members.bytes, class->members.length);
        graft_text_add_string(out, "]");
        return;
    }
    if (!class->negated && class->before.length == 0) {
        add_operand(r, class, out);
        return;
    }
    graft_text_add_string(out, class->negated ? "(?:(?!" : "(?:");
    graft_text_add(out, class->before.bytes, class->before.length);
    add_operand(r, class, out);
    graft_text_add_string(out, class->negated ? ")(?s:.))" : ")");
}

static void add_set(struct class *class, struct graft_rewrite_set set) {
    if (graft_rewrite_is_property(set)) {
        graft_rewrite_add_set(&class->members, set);
    } else if (set.negated) {
        graft_text_add_string(&class->others, "|");
        graft_rewrite_add_set(&class->others, set);
    } else {
        graft_text_add_string(&class->members, set.members);
    }
}

static void read_class(struct graft_rewrite *r, struct graft_text *out, int depth);

/* Reads one member of a class. */
static void read_member(struct graft_rewrite *r, struct class *class, int depth) {
    struct graft_rewrite_set set = {NULL, 0};
    if (r->from[r->at] == '\\') {
        set = graft_rewrite_read_set(r, 1);
    } else if (graft_rewrite_ahead(r, "[:")) {
        set = graft_rewrite_read_bracket(r);
    } else if (r->from[r->at] == '[') {
        graft_text_add_string(&class->others, "|");
        read_class(r, &class->others, depth + 1);
        return;
    }
    if (set.members != NULL) {
        add_set(class, set);
        return;
    }
    struct graft_text *out = r->out;
    r->out = &class->members;
    if (r->from[r->at] == '\\') {
        graft_rewrite_character_escape(r, 1);
    } else {
        graft_text_add_string(r->out, r->from[r->at] == '^' ? "\\" : "");
        graft_rewrite_copy(r, 1);
    }
    r->out = out;
}

/* Ends an operand, at "&&". */
static void end_operand(struct graft_rewrite *r, struct class *class) {
    graft_text_add_string(&class->before, "(?=");
    add_operand(r, class, &class->before);
    graft_text_add_string(&class->before, ")");
    class->members.length = 0;
    class->others.length = 0;
    r->at += 2;
}

static void read_class(struct graft_rewrite *r, struct graft_text *out, int depth) {
    struct class class = {0};
    r->at++;
    if (depth == GRAFT_DIALECT_MAX_NESTING) {
        r->refused = "a class nested so deep";
    }
    if (graft_rewrite_ahead(r, "^")) {
        class.negated = 1;
        r->at++;
    }
    if (graft_rewrite_ahead(r, "]")) { /* "]" at the start is literal */
        graft_text_add_string(&class.members, "\\]");
        r->at++;
    }
    while (r->refused == NULL && r->at < r->length && r->from[r->at] != ']') {
        if (graft_rewrite_ahead(r, "&&")) {
            end_operand(r, &class);
        } else {
            read_member(r, &class, depth);
        }
    }
    if (r->refused == NULL && r->at == r->length) {
        r->refused = "a class without an end";
    }
    if (r->refused == NULL) {
        add_class(r, &class, out);
        r->at++;
    }
    out->failed |= class.members.failed | class.others.failed | class.before.failed;
    free_class(&class);
}

void graft_rewrite_class(struct graft_rewrite *r) {
    read_class(r, r->out, 0);
}
