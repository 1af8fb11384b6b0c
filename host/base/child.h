/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a function in a child process, which may crash, hang or leave processes behind without harming this process.
 * Only for processes with one thread and no other children, since fork copies one thread but the locks of all.
 */
#ifndef GRAFT_BASE_CHILD_H
#define GRAFT_BASE_CHILD_H

#include <stddef.h>
#include <stdint.h>

/*
 * How long a child may take. A busy or suspended machine is not the child's fault, so the limits count what the child
 * does: the processor time of its threads, and the time it waits for something. Neither grows while the child is
 * stopped, or ready to run without getting a processor.
 */
struct graft_child_limits {
    int32_t processor_ms;
    int32_t asleep_ms;
    const volatile int32_t *steps; /* both counts restart whenever this changes; NULL: never */
    void (*on_tick)(void *data);   /* called several times a second while the child runs, in this process; or NULL */
    void *data;                    /* for on_tick */
};

enum {
    GRAFT_CHILD_IN_TIME,
    GRAFT_CHILD_BUSY,    /* it was killed after processor_ms */
    GRAFT_CHILD_ASLEEP,  /* it was killed after asleep_ms */
    GRAFT_CHILD_STARVED, /* it was killed after GRAFT_CHILD_PATIENCE_MS without reaching a limit: the machine is at
                            fault */
};

enum { GRAFT_CHILD_PATIENCE_MS = 300000 };

/* How a child ended. */
struct graft_child_end {
    int32_t failed;      /* the errno for which it was not started; 0 if it was started */
    int32_t timed_out;   /* GRAFT_CHILD_... */
    int32_t signal;      /* the signal that killed it; 0 if none did */
    int32_t exit_status; /* its exit status, if it ended by itself */
    int32_t left;        /* 1: processes that it had started and not waited for existed when it ended */
};

/* Calls `work`, which may end the process, in a child with a process group of its own, default signals and no core
 * dumps. The child dies with this process. When this returns, no process that the child started is left. */
void graft_child_run(void (*work)(void *data), void *data, const struct graft_child_limits *limits,
                     struct graft_child_end *end);

/* Zeroed memory that a child shares with this process, for its results. NULL if there is none to be had. */
void *graft_child_memory(size_t bytes);
void graft_child_memory_free(void *memory, size_t bytes);

#endif
