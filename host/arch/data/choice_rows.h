/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table of choices, by kind, for the file with the table. `says` is a sentence for docs/family.md. */
#ifndef GRAFT_ARCH_DATA_CHOICE_ROWS_H
#define GRAFT_ARCH_DATA_CHOICE_ROWS_H

#include "arch/data/description.h"

enum { BY_LAYER = GRAFT_CHOICE_BY_LAYER, NULLABLE = GRAFT_CHOICE_NULLABLE, ABOVE = GRAFT_CHOICE_ABOVE };

#define NAME(key, flags_, fallback_, says_) \
    { .name = (key), .kind = GRAFT_CHOICE_NAME, .flags = (flags_), .fallback = (fallback_), .says = (says_) }
#define INT(key, flags_, minimum_, maximum_, fallback_, says_)                                                    \
    {                                                                                                             \
        .name = (key), .kind = GRAFT_CHOICE_INT, .flags = (flags_), .minimum = (minimum_), .maximum = (maximum_), \
        .fallback = (fallback_), .says = (says_)                                                                  \
    }
#define REAL(key, flags_, least_, fallback_, says_)                                                              \
    {                                                                                                            \
        .name = (key), .kind = GRAFT_CHOICE_REAL, .flags = (flags_), .least = (least_), .fallback = (fallback_), \
        .says = (says_)                                                                                          \
    }
#define BOOL(key, flags_, fallback_, says_) \
    { .name = (key), .kind = GRAFT_CHOICE_BOOL, .flags = (flags_), .fallback = (fallback_), .says = (says_) }
#define WORD(key, flags_, words_, fallback_, says_)                                                              \
    {                                                                                                            \
        .name = (key), .kind = GRAFT_CHOICE_WORD, .flags = (flags_), .words = (words_), .fallback = (fallback_), \
        .says = (says_)                                                                                          \
    }
#define TEXT(key, flags_, fallback_, says_) \
    { .name = (key), .kind = GRAFT_CHOICE_TEXT, .flags = (flags_), .fallback = (fallback_), .says = (says_) }

#endif
