/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_CHAINS_GLOB_H
#define GRAFT_CHAINS_GLOB_H

/* [any] Whether all of `path` matches `glob`, where `*` stands for any number of characters other than dots. */
int graft_glob_fits(const char *glob, const char *path);

#endif
