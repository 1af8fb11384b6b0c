/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records which fields of a JSON document of a model directory were asked for, so that unused fields can be reported. A
 * ledger records while a model is opened, on the thread that opens it. Once closed it records nothing, so that a
 * forward may read the config from any thread without extra cost.
 *
 * Asking for a value, or whether it exists, asks for its field (config/path.h). Asking for the kind, size or keys of an
 * object does not ask for its members, and asking for the kind of an array does not ask for its elements.
 */
#ifndef GRAFT_CONFIG_LEDGER_H
#define GRAFT_CONFIG_LEDGER_H

#include "base/json.h"
#include "graft/config.h"

struct graft_ledger;

/* [load] A ledger of a document; the document outlives the ledger. NULL if memory ran out. */
struct graft_ledger *graft_ledger_create(const graft_json *document);

/* [any] Accepts NULL. */
void graft_ledger_free(struct graft_ledger *ledger);

/* [any] The document as a config for classes, which records in the ledger; `file` is named in errors. */
struct graft_config graft_ledger_view(struct graft_ledger *ledger, const char *file);

/* [load] Stops recording. Returns 0, or -1 if memory ran out earlier, so that the ledger has gaps. */
int graft_ledger_close(struct graft_ledger *ledger);

/* [any] Whether a field was asked for, by its path in the file. */
int graft_ledger_has(const struct graft_ledger *ledger, const char *field);

/* [any] How many fields were asked for. */
size_t graft_ledger_count(const struct graft_ledger *ledger);

/* [any] The field at index `i` of those that were asked for, in the order of asking, whether the file has it or not;
 * NULL past the last. */
const char *graft_ledger_at(const struct graft_ledger *ledger, size_t i);

#endif
