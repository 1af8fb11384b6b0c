/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a family file says of a model: for each choice of a table (decoder/choices.h) an expression. Roles read values
 * of choices from it, checked against the table, so there is one reader of configs for all of them.
 */
#ifndef GRAFT_ARCH_DATA_DESCRIPTION_H
#define GRAFT_ARCH_DATA_DESCRIPTION_H

#include "arch/data/expression.h"
#include "arch/section.h"

enum {
    GRAFT_CHOICE_NAME = 0, /* a name of a class or module, written as it is: never an expression; null: none */
    GRAFT_CHOICE_WORD = 1, /* one of `words`, written as it is, or an expression whose value is one of them */
    GRAFT_CHOICE_TEXT = 2, /* any text: an expression */
    GRAFT_CHOICE_INT = 3,
    GRAFT_CHOICE_REAL = 4,
    GRAFT_CHOICE_BOOL = 5
};

enum {
    GRAFT_CHOICE_BY_LAYER = 1, /* expressions may use `layer` */
    GRAFT_CHOICE_NULLABLE = 2, /* null says "none"; without it null in config.json is an error */
    GRAFT_CHOICE_ABOVE = 4     /* of GRAFT_CHOICE_REAL: `least` itself is not allowed */
};

struct graft_choice_info {
    const char *name;     /* "attention.head_dim" */
    int32_t kind;         /* GRAFT_CHOICE_... */
    uint32_t flags;       /* GRAFT_CHOICE_BY_LAYER, ... */
    int64_t minimum;      /* of GRAFT_CHOICE_INT */
    int64_t maximum;      /* likewise */
    double least;         /* of GRAFT_CHOICE_REAL */
    const char *words;    /* of GRAFT_CHOICE_WORD: "rms layer" */
    const char *fallback; /* where a family says nothing, in the form of a family file; NULL: null */
    const char *says;     /* one line for docs and editors */
};

/* Choices of one kind of model, by number. */
struct graft_choices {
    const struct graft_choice_info *infos; /* [count] */
    int32_t count;
};

struct graft_description; /* mutable until a model is made by it */

/* [load] One in which each choice has its fallback. NULL with the reason in `error`. */
struct graft_description *graft_description_create(const struct graft_choices *choices, struct graft_error *error);

/* [load] A copy, for a family that is like another. */
struct graft_description *graft_description_copy(const struct graft_description *from, struct graft_error *error);

/* [load] Frees it; NULL is allowed. */
void graft_description_destroy(struct graft_description *description);

/* [any] The number of a choice, -1 for a name that there is not. */
int32_t graft_choice_find(const struct graft_choices *choices, const char *name);

/* [load] Sets a choice to what a family file writes: a string is a name, one of the choice's words, or an expression;
 * else a constant. Errors (GRAFT_ERROR_PLUGIN) begin with the choice's name and say what was expected of it. `source`
 * names the file. */
int graft_description_set(struct graft_description *description, int32_t choice, const struct graft_value *value,
                          const char *source, struct graft_error *error);

/* [load] Where the fields are if config.json has it: "text_config"; NULL: never. Copied. */
int graft_description_set_section(struct graft_description *description, const char *name, struct graft_error *error);

/* [load] What a field is where config.json, or the section, lacks it. Of two for one path the last counts. Copied. */
int graft_description_set_default(struct graft_description *description, const char *path,
                                  const struct graft_value *value, struct graft_error *error);

/* [load] Sets the description of the encoder of a model that has one beside its decoder; both are of the same choices.
 * NULL: there is no encoder. */
void graft_description_set_encoder(struct graft_description *description, struct graft_description *encoder_take);

/* [any] The description of the encoder; NULL: none. It lives as long as `description`. */
struct graft_description *graft_description_encoder(const struct graft_description *description);

/* [any] The text of a GRAFT_CHOICE_NAME; NULL for null. */
const char *graft_description_name(const struct graft_description *description, int32_t choice);

/* [any] The place in `words` of a GRAFT_CHOICE_WORD that is written as one of them; -1 of an expression. */
int32_t graft_description_word(const struct graft_description *description, int32_t choice);

/* [any] Whether a choice is written as null, so that no config.json can make it anything else. */
int graft_description_never(const struct graft_description *description, int32_t choice);

/*
 * Reads values for one config. The first error is kept in `status` and `error`, and whatever is read behind it is 0 or
 * NULL: read all, then look at `status` once. Do not move it: it points into itself.
 */
struct graft_reader {
    const struct graft_description *description;
    const struct graft_config *config; /* the section, or all; with the defaults */
    const struct graft_config *whole;
    int64_t layer; /* -1: none; may be changed between reads */
    int status;
    struct graft_error *error;
    struct graft_config_section section;
    const struct graft_config *file; /* without the defaults */
    struct graft_config defaulted;
};

/* [load] Begins to read. */
void graft_reader_start(struct graft_reader *reader, const struct graft_description *description,
                        const struct graft_config *config, int64_t layer, struct graft_error *error);

/* [load] Whether the value of a choice is null. */
int graft_read_is_null(struct graft_reader *reader, int32_t choice);

/* [load] Values, within the bounds of the table; 0 or NULL of a nullable choice that is null. */
int64_t graft_read_int(struct graft_reader *reader, int32_t choice);
double graft_read_real(struct graft_reader *reader, int32_t choice); /* integers included, finite */
int32_t graft_read_bool(struct graft_reader *reader, int32_t choice);
const char *graft_read_text(struct graft_reader *reader, int32_t choice);
int32_t graft_read_word(struct graft_reader *reader, int32_t choice); /* its place in `words`, from 0 on; -1: null */

/* [load] Records an error about the field that decides a choice, "FIELD: MESSAGE", unless there is one already. */
void graft_reader_fail(struct graft_reader *reader, int32_t choice, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#endif
