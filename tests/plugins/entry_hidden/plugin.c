/* SPDX-License-Identifier: Apache-2.0 */
/* Its entry function has hidden visibility. */
struct graft_plugin;

__attribute__((visibility("hidden"))) const struct graft_plugin *graft_plugin_entry(const void *host, void *error);

const struct graft_plugin *graft_plugin_entry(const void *host, void *error) {
    (void)host, (void)error;
    return 0;
}
