/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the processes were started alike: a difference would otherwise show as a hang, or as different text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graft/host/process.h"
#include "parallel/ranks.h"

enum { MAX_DIFFERENCE = 320 };

/* Lines "KEY\tVALUE", separated and sorted. */
struct facts {
    char *text; /* [bytes] the lines, each ended by a NUL */
    int64_t bytes;
    const char **lines; /* [n] */
    size_t n;
};

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void facts_finish(struct facts *facts) {
    graft_free(facts->lines);
    graft_free(facts->text);
}

/* Splits `facts->text` into lines, and sorts them. */
static int sort(struct facts *facts, struct graft_error *error) {
    size_t n = 0;
    for (int64_t i = 0; i < facts->bytes; i++) {
        n += facts->text[i] == '\n';
    }
    facts->lines = graft_alloc(n + 1, sizeof *facts->lines);
    if (facts->lines == NULL) {
        return graft_fail_memory(error, "parallel");
    }
    for (char *at = facts->text; facts->n < n; facts->n++) {
        char *end = strchr(at, '\n');
        facts->lines[facts->n] = at;
        *end = '\0';
        at = end + 1;
    }
    qsort(facts->lines, facts->n, sizeof *facts->lines, compare_lines);
    return GRAFT_OK;
}

static int facts_init(struct facts *facts, const char *lines, struct graft_error *error) {
    *facts = (struct facts){.text = graft_strdup(lines), .bytes = (int64_t)strlen(lines)};
    return facts->text != NULL ? sort(facts, error) : graft_fail_memory(error, "parallel");
}

/* Receives the lines of rank 0, which passes its own as `lines`. */
static int facts_receive(struct facts *facts, const char *lines, struct graft_error *error) {
    const struct graft_parallel *ranks = graft_ranks_get();
    *facts = (struct facts){.bytes = (int64_t)strlen(lines)};
    int status = ranks->broadcast(&facts->bytes, sizeof facts->bytes, 0, error);
    if (status != GRAFT_OK) {
        return status;
    }
    facts->text = graft_alloc((size_t)facts->bytes + 1, 1);
    if (facts->text == NULL) {
        return graft_fail_memory(error, "parallel");
    }
    if (ranks->rank == 0) {
        memcpy(facts->text, lines, (size_t)facts->bytes);
    }
    status = ranks->broadcast(facts->text, facts->bytes, 0, error);
    return status == GRAFT_OK ? sort(facts, error) : status;
}

/* --- Differences --- */

static size_t key_length(const char *line) {
    return strcspn(line, "\t");
}

static const char *value_of(const char *line) {
    size_t length = key_length(line);
    return line + length + (line[length] != '\0');
}

/* Compares the keys of two lines, like strcmp. */
static int compare_keys(const char *a, const char *b) {
    size_t length = key_length(a);
    size_t other = key_length(b);
    int order = strncmp(a, b, length < other ? length : other);
    return order != 0 ? order : (length > other) - (length < other);
}

/* Describes the first key whose value differs from rank 0's; "" if there is none. */
static void find_difference(const struct facts *own, const struct facts *first, int32_t partial,
                            char words[MAX_DIFFERENCE]) {
    size_t i = 0, k = 0;
    words[0] = '\0';
    while ((i < own->n || k < first->n) && words[0] == '\0') {
        const char *mine = i < own->n ? own->lines[i] : NULL;
        const char *theirs = k < first->n ? first->lines[k] : NULL;
        int order = mine == NULL ? 1 : theirs == NULL ? -1 : compare_keys(mine, theirs);
        if (order < 0 && !partial) {
            (void)snprintf(words, MAX_DIFFERENCE, "%.*s is not on rank 0", (int)key_length(mine), mine);
        } else if (order > 0 && !partial) {
            (void)snprintf(words, MAX_DIFFERENCE, "%.*s is only on rank 0", (int)key_length(theirs), theirs);
        } else if (order == 0 && strcmp(mine, theirs) != 0) {
            (void)snprintf(words, MAX_DIFFERENCE, "%.*s is %.80s, on rank 0 %.80s", (int)key_length(mine), mine,
                           value_of(mine), value_of(theirs));
        }
        i += order <= 0;
        k += order >= 0;
    }
}

/* Broadcasts the difference, so that the reporting rank can print it. */
static int report(const char *what, const char words[MAX_DIFFERENCE], struct graft_error *error) {
    const struct graft_parallel *ranks = graft_ranks_get();
    char *all = graft_alloc((size_t)ranks->size, MAX_DIFFERENCE);
    if (all == NULL) {
        return graft_fail_memory(error, "parallel");
    }
    int status = ranks->allgather(words, MAX_DIFFERENCE, all, error);
    for (int32_t rank = 1; rank < ranks->size && status == GRAFT_OK; rank++) {
        const char *found = all + (size_t)rank * MAX_DIFFERENCE;
        if (found[0] != '\0') {
            status = graft_error_set(error, GRAFT_ERROR_USAGE, "parallel", "%s of rank %ld are not those of rank 0: %s",
                                     what, (long)rank, found);
        }
    }
    graft_free(all);
    return status;
}

int graft_parallel_agree(const char *what, const char *lines, int32_t partial, struct graft_error *error) {
    struct facts own, first = {0};
    char words[MAX_DIFFERENCE] = "";
    if (graft_ranks_get()->size == 1) {
        return GRAFT_OK;
    }
    int status = facts_init(&own, lines, error);
    if (status == GRAFT_OK) {
        status = facts_receive(&first, lines, error);
    }
    if (status == GRAFT_OK) {
        find_difference(&own, &first, partial, words);
        status = report(what, words, error);
    }
    facts_finish(&own);
    facts_finish(&first);
    return status;
}
