/* SPDX-License-Identifier: Apache-2.0 */
/* The choices that a family file can make for a decoder and a vision tower (docs/family.md), and the files of the
 * library's own families as examples.
 *
 *     struct graft_family_choice choice = {.struct_size = sizeof choice};
 *     for (size_t i = 0; graft_family_choice_at(i, &choice); i++) {
 *         printf("%s: %s\n", choice.name, choice.says);
 *     } */
#ifndef GRAFT_HOST_CHOICES_H
#define GRAFT_HOST_CHOICES_H

#include <stddef.h>
#include <stdint.h>

#include "graft/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The values that a choice can have. */
enum {
    GRAFT_FAMILY_CHOICE_NAME = 0, /* the name of a class or module, never an expression */
    GRAFT_FAMILY_CHOICE_WORD = 1, /* one of `words`, or an expression whose value is one of them */
    GRAFT_FAMILY_CHOICE_TEXT = 2, /* any text, or an expression */
    GRAFT_FAMILY_CHOICE_INT = 3,  /* an integer from `minimum` to `maximum`, or an expression */
    GRAFT_FAMILY_CHOICE_REAL = 4, /* a number of at least `least`, or greater than it, or an expression */
    GRAFT_FAMILY_CHOICE_BOOL = 5  /* true or false, or an expression */
};

struct graft_family_choice {
    uint32_t struct_size;
    int32_t kind;         /* GRAFT_FAMILY_CHOICE_... */
    const char *name;     /* "attention.head_dim": `head_dim` of the section `attention` of `member` */
    const char *says;     /* its meaning, on one line */
    const char *fallback; /* the default, in the syntax of a file; NULL: null */
    const char *words;    /* for GRAFT_FAMILY_CHOICE_WORD the words, separated by spaces; else NULL */
    int64_t minimum;      /* of GRAFT_FAMILY_CHOICE_INT */
    int64_t maximum;      /* likewise */
    double least;         /* of GRAFT_FAMILY_CHOICE_REAL */
    int32_t is_above;     /* 1: the value must be greater than `least` */
    int32_t is_by_layer;  /* 1: it may differ by layer, so expressions may use `layer` */
    int32_t is_nullable;  /* 1: null is allowed and means none */
    int32_t reserved;     /* 0 */
    const char *member;   /* member of a family file: "decoder", "vision" */
};

#define GRAFT_FAMILY_CHOICE_SIZE_1_0 GRAFT_END_OF(struct graft_family_choice, reserved)

/* [any] Fills in `choice`, whose struct_size is set, with choice `i` and returns 1; 0 after the last. Its strings live
 * as long as the library is loaded. Choices are grouped by member, and within a member by section. */
int graft_family_choice_at(size_t i, struct graft_family_choice *choice);

/* [any] The family file of one of the library's own model types: `*length` bytes of JSON without a NUL, as it could be
 * put among plugins. NULL if there is no such type, or no file describes it. Lives as long as the library is loaded. */
const char *graft_family_text(const char *model_type, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
