/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/data/choice.h"

#include <float.h>
#include <math.h>
#include <string.h>

int32_t graft_choice_find(const struct graft_choices *choices, const char *name) {
    for (int32_t i = 0; i < choices->count; i++) {
        if (strcmp(choices->infos[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int32_t graft_choice_word(const char *words, const char *text) {
    size_t length = strlen(text);
    for (int32_t i = 0; *words != '\0'; i++) {
        size_t word = strcspn(words, " ");
        if (word == length && memcmp(words, text, length) == 0) {
            return i;
        }
        words += word + strspn(words + word, " ");
    }
    return -1;
}

void graft_choice_list(const char *words, char *list, size_t size) {
    size_t length = 0;
    list[0] = '\0';
    while (*words != '\0' && length < size) {
        size_t word = strcspn(words, " ");
        const char *next = words + word + strspn(words + word, " ");
        const char *join = *next == '\0' ? "" : strchr(next, ' ') == NULL ? " or " : ", ";
        length += (size_t)snprintf(list + length, size - length, "\"%.*s\"%s", (int)word, words, join);
        words = next;
    }
}

void graft_choice_expects(const struct graft_choice_info *info, struct graft_label *expected) {
    static const char *const kinds[] = {
        [GRAFT_CHOICE_NAME] = "a name",    [GRAFT_CHOICE_WORD] = "a word",   [GRAFT_CHOICE_TEXT] = "a string",
        [GRAFT_CHOICE_INT] = "an integer", [GRAFT_CHOICE_REAL] = "a number", [GRAFT_CHOICE_BOOL] = "a boolean"};
    if (info->kind == GRAFT_CHOICE_WORD) {
        graft_choice_list(info->words, expected->text, sizeof expected->text);
    } else {
        (void)snprintf(expected->text, sizeof expected->text, "%s", kinds[info->kind]);
    }
}

static int is_of_kind(const struct graft_choice_info *info, const struct graft_value *value, int is_own) {
    switch (info->kind) {
    case GRAFT_CHOICE_BOOL:
        return value->kind == GRAFT_VALUE_BOOL;
    case GRAFT_CHOICE_INT:
        return value->kind == GRAFT_VALUE_INT ||
               (value->kind == GRAFT_VALUE_REAL && !is_own && graft_real_is_within(value->real) &&
                floor(value->real) == value->real);
    case GRAFT_CHOICE_REAL:
        return graft_value_is_number(value);
    default:
        return value->kind == GRAFT_VALUE_TEXT;
    }
}

static int integer_fault(const struct graft_choice_info *info, const struct graft_value *value,
                         struct graft_label *fault) {
    int64_t integer = value->kind == GRAFT_VALUE_INT ? value->integer : (int64_t)value->real;
    if (integer >= info->minimum && integer <= info->maximum) {
        return 0;
    }
    (void)snprintf(fault->text, sizeof fault->text, "expected %lld to %lld, got %lld", (long long)info->minimum,
                   (long long)info->maximum, (long long)integer);
    return 1;
}

static int real_fault(const struct graft_choice_info *info, double real, struct graft_label *fault) {
    int is_above = (info->flags & GRAFT_CHOICE_ABOVE) != 0;
    if (!(real <= DBL_MAX && real >= -DBL_MAX)) {
        (void)snprintf(fault->text, sizeof fault->text, "expected a finite number, got %s",
                       real > 0.0   ? "Infinity"
                       : real < 0.0 ? "-Infinity"
                                    : "NaN");
        return 1;
    }
    if (is_above ? real > info->least : real >= info->least) {
        return 0;
    }
    (void)snprintf(fault->text, sizeof fault->text, "expected %s %g, got %g", is_above ? "more than" : "at least",
                   info->least, real);
    return 1;
}

int graft_choice_fault(const struct graft_choice_info *info, const struct graft_value *value, int is_own,
                       struct graft_label *fault) {
    struct graft_label expected, got;
    if (!is_of_kind(info, value, is_own)) {
        graft_choice_expects(info, &expected);
        graft_value_describe(value, &got);
        (void)snprintf(fault->text, sizeof fault->text, "expected %.500s, got %.500s", expected.text, got.text);
        return 1;
    }
    switch (info->kind) {
    case GRAFT_CHOICE_INT:
        return integer_fault(info, value, fault);
    case GRAFT_CHOICE_REAL:
        return real_fault(info, value->real, fault);
    case GRAFT_CHOICE_WORD:
        if (graft_choice_word(info->words, value->text) >= 0) {
            return 0;
        }
        graft_choice_expects(info, &expected);
        (void)snprintf(fault->text, sizeof fault->text, "expected %.500s, got \"%.500s\"", expected.text, value->text);
        return 1;
    default:
        return 0;
    }
}
