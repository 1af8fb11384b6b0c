/* SPDX-License-Identifier: Apache-2.0 */
/* An extension between test plugins, which records in which order they were started and stopped. */
#ifndef GRAFT_TEST_DIARY_H
#define GRAFT_TEST_DIARY_H

#define DIARY_ID "acme.diary/1"

struct diary {
    void (*add)(const char *words);
    const char *text; /* the recorded words, each with a space after it */
};

#endif
