/* SPDX-License-Identifier: Apache-2.0 */
/* logging_attention in C++17: logs each call of an attention, then lets the original do the work. */
#include "graft/graft.hpp"

namespace {

const graft_host *host;

class LoggingAttention : public graft::module<graft::self_attention> {
  public:
    static constexpr const char *name = "LoggingAttentionInCpp";
    static constexpr std::uint32_t flags = GRAFT_CLASS_CALLS_SUPER;
    static constexpr std::uint32_t features = UINT32_MAX; /* whatever a call requires reaches the original as it is */

    explicit LoggingAttention(const graft::build &build) : original(build.super<graft::self_attention>()) {}

    void forward(const graft::call &call, const graft_self_attention_args &args) const {
        const std::string path = original.raw()->path;
        graft::log(host, "logging_attention_cpp", path + ": " + std::to_string(args.batch->tokens) + " tokens");
        original(call, args);
    }

  private:
    graft::child<graft::self_attention> original;
};

const graft_replacement replacements[] = {
    graft::replacement<LoggingAttention>(GRAFT_KEY_PATTERN, "Attention$", nullptr, GRAFT_REPLACEMENT_WHERE_IT_FITS)};
const graft_plugin descriptor = graft::plugin("logging_attention_cpp", "1.0.0", "Apache-2.0",
                                              "Logs each call of an attention, in C++", replacements);

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *given, graft_error *) {
    host = given;
    return &descriptor;
}
