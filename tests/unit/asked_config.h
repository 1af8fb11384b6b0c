/* SPDX-License-Identifier: Apache-2.0 */
/* A config of JSON text that records which fields are read, for tests of a file. */
#ifndef GRAFT_TEST_ASKED_CONFIG_H
#define GRAFT_TEST_ASKED_CONFIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "config/ledger.h"

static graft_json *document;
static struct graft_ledger *ledger;
static struct graft_config view;

/* `file` is the config's name in messages. */
static inline int asked_config_open(const char *text, size_t length, const char *file) {
    assert_int_equal(graft_json_parse(text, length, "text", &document, NULL), GRAFT_OK);
    ledger = graft_ledger_create(document);
    assert_non_null(ledger);
    view = graft_ledger_view(ledger, file);
    return 0;
}

static inline int asked_config_close(void **state) {
    (void)state;
    graft_ledger_free(ledger);
    graft_json_free(document);
    return 0;
}

#endif
