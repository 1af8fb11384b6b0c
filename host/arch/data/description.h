/* SPDX-License-Identifier: Apache-2.0 */
/* What a family file says about a model: an expression for each choice of a choice_list.h. Classes read the
 * values of choices from it, checked against the table, so all of them share one reader of configs. */
#ifndef GRAFT_ARCH_DATA_DESCRIPTION_H
#define GRAFT_ARCH_DATA_DESCRIPTION_H

#include "arch/data/expression.h"
#include "arch/section.h"

enum {
    GRAFT_CHOICE_NAME = 0, /* a name of a class or module, never an expression */
    GRAFT_CHOICE_WORD = 1, /* one of `words`, or an expression whose value is one of them */
    GRAFT_CHOICE_TEXT = 2, /* any text, or an expression */
    GRAFT_CHOICE_INT = 3,
    GRAFT_CHOICE_REAL = 4,
    GRAFT_CHOICE_BOOL = 5
};

enum {
    GRAFT_CHOICE_BY_LAYER = 1, /* expressions may use `layer` */
    GRAFT_CHOICE_NULLABLE = 2, /* null means "none"; without this flag null is an error */
    GRAFT_CHOICE_ABOVE = 4     /* for GRAFT_CHOICE_REAL: `least` itself is not allowed */
};

struct graft_choice_info {
    const char *name;     /* "attention.head_dim" */
    int32_t kind;         /* GRAFT_CHOICE_... */
    uint32_t flags;       /* GRAFT_CHOICE_BY_LAYER, ... */
    int64_t minimum;      /* of GRAFT_CHOICE_INT */
    int64_t maximum;      /* likewise */
    double least;         /* of GRAFT_CHOICE_REAL */
    const char *words;    /* for GRAFT_CHOICE_WORD, separated by spaces: "rms layer" */
    const char *fallback; /* the default, in the syntax of a family file; NULL: null */
    const char *says;     /* its meaning on one line, for docs and editors */
};

/* The table of choices that families of one kind (decoders, encoders, towers) can make, indexed by the number of a
 * choice. */
struct graft_choices {
    const struct graft_choice_info *infos; /* [count] */
    int32_t count;
};

struct graft_description; /* may be changed until a model is built from it */

/* [load] Creates a description in which each choice has its default. NULL with the reason in `error` on failure. */
struct graft_description *graft_description_create(const struct graft_choices *choices, struct graft_error *error);

/* [load] A copy, for a family that is like another. */
struct graft_description *graft_description_copy(const struct graft_description *from, struct graft_error *error);

/* [load] Accepts NULL. */
void graft_description_destroy(struct graft_description *description);

/* [any] The number of a choice; -1 if there is none of that name. */
int32_t graft_choice_find(const struct graft_choices *choices, const char *name);

/* [any] The index of a text among words that are separated by spaces; -1: it is not one of them. */
int32_t graft_choice_word(const char *words, const char *text);

/* [any] Lists such words for a message: '"a", "b" or "c"'. */
void graft_choice_list(const char *words, char *list, size_t size);

/* [load] Sets a choice to a family file's value: a string is a name, one of the choice's words, or an expression; any
 * other value is a constant. Errors (GRAFT_ERROR_PLUGIN) begin with the choice's name and say what was expected.
 * `source` names the file. */
int graft_description_set(struct graft_description *description, int32_t choice, const struct graft_value *value,
                          const char *source, struct graft_error *error);

/* [load] Sets the section that has the fields, if config.json has it: "text_config"; NULL: none. Copied. */
int graft_description_set_section(struct graft_description *description, const char *name, struct graft_error *error);

/* [load] Sets the default of a field that config.json, or the section, lacks. Of several for one path the last counts.
 * Copied. */
int graft_description_set_default(struct graft_description *description, const char *path,
                                  const struct graft_value *value, struct graft_error *error);

/* [load] Sets the description of the encoder of a model that has an encoder and a decoder; both have the same choices.
 * NULL: there is no encoder. */
void graft_description_set_encoder(struct graft_description *description, struct graft_description *encoder_take);

/* [any] The description of the encoder; NULL: none. It lives as long as `description`. */
struct graft_description *graft_description_encoder(const struct graft_description *description);

/* [any] The text of a GRAFT_CHOICE_NAME; NULL for null. */
const char *graft_description_name(const struct graft_description *description, int32_t choice);

/* [any] The index in `words` of a GRAFT_CHOICE_WORD that is a constant; -1 for an expression. */
int32_t graft_description_word(const struct graft_description *description, int32_t choice);

/* [any] Whether a choice is the constant null, so that no config.json can change it. */
int graft_description_never(const struct graft_description *description, int32_t choice);

/* Reads values for one config. The first error is kept in `status` and `error`, and later reads return 0 or NULL: read
 * everything, then check `status` once. Must not be moved, as it points into itself. */
struct graft_reader {
    const struct graft_description *description;
    const struct graft_config *config; /* the section's view or the whole config */
    const struct graft_config *whole;
    int64_t layer; /* -1: no layer; may be changed between reads */
    int status;
    struct graft_error *error;
    struct graft_config_section section; /* `config` is its view if the family has a section or defaults */
};

/* [load] Start reading: in the description's section, if the config has it, or in the section `name`; NULL: none. */
void graft_reader_start_in(struct graft_reader *reader, const struct graft_description *description,
                           const struct graft_config *config, const char *name, int64_t layer,
                           struct graft_error *error);
void graft_reader_start(struct graft_reader *reader, const struct graft_description *description,
                        const struct graft_config *config, int64_t layer, struct graft_error *error);

/* [load] Whether the value of a choice is null. */
int graft_read_is_null(struct graft_reader *reader, int32_t choice);

/* [load] Read values, within the bounds of the table; 0 or NULL if a nullable choice is null. */
int64_t graft_read_int(struct graft_reader *reader, int32_t choice);
double graft_read_real(struct graft_reader *reader, int32_t choice); /* integers included, finite */
int32_t graft_read_bool(struct graft_reader *reader, int32_t choice);
const char *graft_read_text(struct graft_reader *reader, int32_t choice);
int32_t graft_read_word(struct graft_reader *reader, int32_t choice); /* its index in `words`; -1: null */

/* [load] Sets an error about the field that determines a choice, "FIELD: MESSAGE", unless there already is one. */
void graft_reader_fail(struct graft_reader *reader, int32_t choice, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#endif
