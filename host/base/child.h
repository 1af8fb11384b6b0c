/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a function in a child, which may crash, hang or leave processes behind without harm to this process. For
 * processes with one thread and no other children: a fork copies one thread only, and the locks of all.
 */
#ifndef GRAFT_BASE_CHILD_H
#define GRAFT_BASE_CHILD_H

#include <stddef.h>
#include <stdint.h>

/* How a child ended. */
struct graft_child_end {
    int32_t failed;      /* an errno: it was not started; 0: it was */
    int32_t timed_out;   /* 1: it was killed when its time was over */
    int32_t signal;      /* that killed it; 0: none did */
    int32_t exit_status; /* where it ended by itself */
    int32_t left;        /* 1: it left processes behind, which were killed */
};

/* Calls `work`, which may end the process, in a child of a process group of its own that dies with this one, with
 * signals as a new process has them and without a core. When this returns, nothing that the child started is left. */
void graft_child_run(void (*work)(void *data), void *data, int32_t limit_ms, struct graft_child_end *end);

/* Memory, zeroed, that a child shares with this process: what it tells. NULL: there is none. */
void *graft_child_memory(size_t bytes);
void graft_child_memory_free(void *memory, size_t bytes);

#endif
