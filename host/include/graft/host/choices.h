/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a family file may say of a decoder and of a vision tower (docs/family.md): a table of choices, and the files of
 * the library's own families as examples.
 *
 *     struct graft_family_choice choice = {.struct_size = sizeof choice};
 *     for (size_t i = 0; graft_family_choice_at(i, &choice); i++) {
 *         printf("%s: %s\n", choice.name, choice.says);
 *     }
 */
#ifndef GRAFT_HOST_CHOICES_H
#define GRAFT_HOST_CHOICES_H

#include <stddef.h>
#include <stdint.h>

#include "graft/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What values a choice has. */
enum {
    GRAFT_FAMILY_CHOICE_NAME = 0, /* a name of a class or module as it is, never an expression */
    GRAFT_FAMILY_CHOICE_WORD = 1, /* one of `words`, or an expression whose value is one of them */
    GRAFT_FAMILY_CHOICE_TEXT = 2, /* an expression whose value is any text */
    GRAFT_FAMILY_CHOICE_INT = 3,  /* `minimum` to `maximum`, or an expression; likewise: */
    GRAFT_FAMILY_CHOICE_REAL = 4, /* at least `least`, or more than that */
    GRAFT_FAMILY_CHOICE_BOOL = 5  /* true or false */
};

struct graft_family_choice {
    uint32_t struct_size;
    int32_t kind;         /* GRAFT_FAMILY_CHOICE_... */
    const char *name;     /* "attention.head_dim": the member `head_dim` of `attention`, in `member` */
    const char *says;     /* one line: what it means */
    const char *fallback; /* where a file says nothing, in the form of a file; NULL: null */
    const char *words;    /* of GRAFT_FAMILY_CHOICE_WORD, with spaces between them; else NULL */
    int64_t minimum;      /* of GRAFT_FAMILY_CHOICE_INT */
    int64_t maximum;      /* likewise */
    double least;         /* of GRAFT_FAMILY_CHOICE_REAL */
    int32_t is_above;     /* likewise; 1: `least` itself is not allowed */
    int32_t is_by_layer;  /* 1: it may be another one in each layer, so expressions may use `layer` */
    int32_t is_nullable;  /* 1: null says that there is none */
    int32_t reserved;     /* 0 */
    const char *member;   /* of a family file: "decoder", "vision" */
};

#define GRAFT_FAMILY_CHOICE_SIZE_1_0 GRAFT_END_OF(struct graft_family_choice, reserved)

/* [any] Fills `choice`, whose struct_size is set, with choice number `i` and returns 1; 0 behind the last. Its strings
 * live as long as the library is loaded. Choices are grouped by member, and within a member by section. */
int graft_family_choice_at(size_t i, struct graft_family_choice *choice);

/* [any] The family file of one of the library's own model types: `*length` bytes of JSON, without a NUL behind them, as
 * it could lie among plugins. NULL: there is no such type, or it is not described by a file. Lives as long as the
 * library is loaded. */
const char *graft_family_text(const char *model_type, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
