/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a function in a child, which may crash, hang or leave processes behind without harm to this process. For
 * processes with one thread and no other children: a fork copies one thread only, and the locks of all.
 */
#ifndef GRAFT_BASE_CHILD_H
#define GRAFT_BASE_CHILD_H

#include <stddef.h>
#include <stdint.h>

/*
 * How long a child may take. A busy or suspended machine is not the child's fault, so the limits count what the child
 * itself does: the processor time of its threads, and the time in which it sleeps and waits for something. While it is
 * stopped, or ready and not given a processor, neither grows.
 */
struct graft_child_limits {
    int32_t processor_ms;
    int32_t asleep_ms;
    const volatile int32_t *steps; /* both counts begin anew whenever this changes; NULL: never */
    void (*on_tick)(void *data);   /* called several times a second while the child runs, in this process; or NULL */
    void *data;                    /* for on_tick */
};

enum {
    GRAFT_CHILD_IN_TIME,
    GRAFT_CHILD_BUSY,    /* it was killed after processor_ms */
    GRAFT_CHILD_ASLEEP,  /* it was killed after asleep_ms */
    GRAFT_CHILD_STARVED, /* it was killed after GRAFT_CHILD_PATIENCE_MS, within its limits: the machine is at fault */
};

enum { GRAFT_CHILD_PATIENCE_MS = 300000 };

/* How a child ended. */
struct graft_child_end {
    int32_t failed;      /* an errno: it was not started; 0: it was */
    int32_t timed_out;   /* GRAFT_CHILD_... */
    int32_t signal;      /* that killed it; 0: none did */
    int32_t exit_status; /* where it ended by itself */
    int32_t left;        /* 1: processes that it started and did not wait for were there when it ended */
};

/* Calls `work`, which may end the process, in a child of a process group of its own that dies with this one, with
 * signals as a new process has them and without a core. When this returns, nothing that the child started is left. */
void graft_child_run(void (*work)(void *data), void *data, const struct graft_child_limits *limits,
                     struct graft_child_end *end);

/* Memory, zeroed, that a child shares with this process: what it tells. NULL: there is none. */
void *graft_child_memory(size_t bytes);
void graft_child_memory_free(void *memory, size_t bytes);

#endif
