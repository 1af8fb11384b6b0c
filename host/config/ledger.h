/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was asked for of one JSON document of a model directory, so that what nobody asked for can be told. A ledger
 * records while a model is opened, on the thread that opens it; once closed it only answers, so a forward that reads
 * the config costs what it always did, and any thread may.
 *
 * Asking for a value, or whether it is there, asks for its field (config/path.h). Asking for the kind, the size or the
 * keys of an object asks for none of what is in it, and asking for the kind of an array for none of its elements.
 */
#ifndef GRAFT_CONFIG_LEDGER_H
#define GRAFT_CONFIG_LEDGER_H

#include "base/json.h"
#include "graft/config.h"

struct graft_ledger;

/* [load] A ledger of a document, which outlives it; NULL if memory ran out. */
struct graft_ledger *graft_ledger_create(const graft_json *document);

/* [any] Accepts NULL. */
void graft_ledger_free(struct graft_ledger *ledger);

/* [any] The document as classes are given a config, recorded in the ledger; `file` is named in errors. */
struct graft_config graft_ledger_view(struct graft_ledger *ledger, const char *file);

/* [load] From now on nothing is recorded. -1: memory ran out before, and the ledger has gaps. */
int graft_ledger_close(struct graft_ledger *ledger);

/* [any] Whether a field was asked for, by its path in the file. */
int graft_ledger_has(const struct graft_ledger *ledger, const char *field);

/* [any] How many fields were asked for. */
size_t graft_ledger_count(const struct graft_ledger *ledger);

/* [any] Field number `i` of those asked for, in the order of asking, present or absent; NULL behind the last. */
const char *graft_ledger_at(const struct graft_ledger *ledger, size_t i);

#endif
