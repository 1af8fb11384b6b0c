/* SPDX-License-Identifier: Apache-2.0 */
extern int graft_plugin_entry;

__attribute__((visibility("default"))) int graft_plugin_entry = 1;
