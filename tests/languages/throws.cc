/* SPDX-License-Identifier: Apache-2.0 */
/* Throws where the environment variable THROW_AT says, and works elsewhere: nothing gets past graft.hpp. */
#include <cstdlib>
#include <cstring>

#include "graft/graft.hpp"

namespace {

bool asked(const char *place) {
    const char *at = std::getenv("THROW_AT");
    return at != nullptr && std::strcmp(at, place) == 0;
}

void throw_at(const char *place) {
    if (asked(place)) {
        throw std::runtime_error(std::string("thrown in ") + place + ",\non purpose");
    }
}

class Throwing : public graft::module<graft::mlp> {
  public:
    static constexpr const char *name = "Throwing";
    static constexpr std::uint32_t flags = GRAFT_CLASS_CALLS_SUPER;

    static void describe(const graft::sink &sink, const graft::config &, const graft::arguments &args) {
        throw_at("describe");
        if (asked("nothing")) {
            throw 7;
        }
        if (asked("memory")) {
            throw std::bad_alloc();
        }
        if (asked("failure")) {
            throw graft::failure("it is at fault", GRAFT_ERROR_MODEL, "config.json");
        }
        if (asked("recorded")) {
            (void)args.size("hidden_size", 1);
        }
        sink.attribute("hidden_size", {args.size("hidden_size", 1 << 20)});
    }

    explicit Throwing(const graft::build &build) : super(build.super<graft::mlp>()) {
        throw_at("create");
    }

    void forward(const graft::call &call, const graft_mlp_args &args) const {
        throw_at("forward");
        call.parallel_for(args.tokens, 1, [](std::int64_t, std::int64_t) { throw_at("body"); });
        super(call, args);
    }

  private:
    graft::child<graft::mlp> super;
};

const graft_replacement replacements[] = {graft::replacement<Throwing>(GRAFT_KEY_NAME, "LlamaMLP")};
const graft_plugin descriptor = graft::plugin("throwing", "1.0.0", "Apache-2.0", "Throws on request", replacements);

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *, graft_error *) {
    return &descriptor;
}
