/* SPDX-License-Identifier: Apache-2.0 */
/* An extension between plugins of the tests: who was started and stopped, in order. */
#ifndef GRAFT_TEST_DIARY_H
#define GRAFT_TEST_DIARY_H

#define DIARY_ID "acme.diary/1"

struct diary {
    void (*add)(const char *words);
    const char *text; /* the words, a space behind each */
};

#endif
