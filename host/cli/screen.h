/* SPDX-License-Identifier: Apache-2.0 */
/* What the program is busy with, on a line of its own that is written over and cleared in the end. It is there only if
 * stderr is a terminal and --quiet is not given, and only for what takes longer than a second. */
#ifndef GRAFT_CLI_SCREEN_H
#define GRAFT_CLI_SCREEN_H

#include <stdint.h>

#include "cli/options.h"

/* To be called once. Of several processes that run one model, the first one alone has a screen. */
void graft_screen_open(const struct graft_options *options);
void graft_screen_close(void);

/* The same without a thread that draws, for what needs a process of one thread: graft_screen_tick draws. */
void graft_screen_open_threadless(const struct graft_options *options);

/* From now on the program is busy with `what`, such as "loading"; a static text. `counted` is what the library counts
 * of it, GRAFT_PROGRESS_... of graft/host/process.h; 0: nothing. */
void graft_screen_begin(const char *what, int32_t counted);

/* How much of it is done: `done` of `total` units, such as "tokens", a static text. A total of 0 is unknown. */
void graft_screen_count(int64_t done, int64_t total, const char *unit);

/* The program goes on with what it began, of which this part is called `what`; a static text. */
void graft_screen_name(const char *what);

/* Draws the line if it is due. To be called several times a second where no thread draws. */
void graft_screen_tick(void);

/* The program is done with it. To be called before anything is written to the terminal. */
void graft_screen_end(void);

/* Takes the line away until it is drawn again: somebody writes a line of his own. */
void graft_screen_clear(void);

#endif
