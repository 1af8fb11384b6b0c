/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MLP whose weights lie otherwise in each way that graft.hpp has an operation for: rows of gate and up in turns,
 * those of the gate from both halves before, and the columns of down in two parts, one of them turned round.
 */
#include "graft/graft.hpp"

namespace {

constexpr std::int64_t max_size = 1 << 20;

struct sizes {
    std::int64_t hidden;
    std::int64_t intermediate;
};

constexpr const char *gate[] = {"gate_proj.weight"};
constexpr const char *sorted[] = {"sorted.weight"};
constexpr const char *up[] = {"up_proj.weight"};
constexpr const char *shuffled[] = {"shuffled.weight"};
constexpr const char *down[] = {"down_proj.weight"};
constexpr const char *halves[] = {"first", "second"};
constexpr graft_operation sort[] = {graft::interleave(0)};
constexpr graft_operation shuffle[] = {graft::interleave_inverse(0)};
constexpr graft_operation cut[] = {graft::chunk(1), graft::transpose(0, 1)};

class TurnedMLP : public graft::module<graft::mlp> {
  public:
    static constexpr const char *name = "TurnedMLP";
    static constexpr graft_conversion conversions[] = {
        graft::conversion(gate, sorted, sort),
        graft::conversion(up, shuffled, shuffle),
        graft::conversion(down, halves, cut),
    };

    static void describe(const graft::sink &sink, const graft::config &config, const graft::arguments &args) {
        sizes &found = sink.keep<sizes>();
        found.hidden = args.size("hidden_size", max_size);
        found.intermediate = args.size("intermediate_size", max_size);
        sink.linear("sorted", found.hidden, found.intermediate, false);
        sink.linear("shuffled", found.hidden, found.intermediate, false);
        sink.parameter("first", {found.intermediate / 2, found.hidden});
        sink.parameter("second", {found.intermediate / 2, found.hidden});
        sink.activation("act_fn", config, args, "hidden_act");
    }

    explicit TurnedMLP(const graft::build &build)
        : sorted_proj(build.child<graft::linear>("sorted")), shuffled_proj(build.child<graft::linear>("shuffled")),
          act_fn(build.child<graft::activation>("act_fn")), first(build.weight("first")),
          second(build.weight("second")), size(build.kept<sizes>()) {}

    void forward(const graft::call &call, const graft_mlp_args &args) const {
        const std::int64_t n = size.intermediate, half = n / 2;
        const float *weights[] = {call.widened(first), call.widened(second)}; /* [half, hidden] each */
        float *a = call.floats(args.tokens, n), *b = call.floats(args.tokens, n);
        float *g = call.floats(args.tokens, n), *u = call.floats(args.tokens, n);
        sorted_proj(call, args.tokens, args.hidden_states, a);
        shuffled_proj(call, args.tokens, args.hidden_states, b);
        for (std::int64_t i = 0; i < args.tokens * n; i++) {
            const std::int64_t row = i / n * n, k = i % n;
            g[i] = a[row + k / 2 + k % 2 * half];
            u[i] = b[row + k % half * 2 + k / half];
        }
        graft::gate(call, act_fn, g, u, args.tokens, n);
        for (std::int64_t t = 0; t < args.tokens; t++) {
            float *output = args.output + t * size.hidden;
            for (std::int64_t h = 0; h < size.hidden; h++) {
                float sum = 0.0F;
                for (std::int64_t k = 0; k < n; k++) {
                    sum += g[t * n + k] * weights[k / half][k % half * size.hidden + h];
                }
                output[h] = sum;
            }
        }
    }

  private:
    graft::child<graft::linear> sorted_proj, shuffled_proj;
    graft::child<graft::activation> act_fn;
    const graft_weight &first, &second;
    sizes size;
};

const graft_replacement replacements[] = {graft::replacement<TurnedMLP>(GRAFT_KEY_NAME, "LlamaMLP")};
const graft_plugin descriptor =
    graft::plugin("turned", "1.0.0", "Apache-2.0", "An MLP in each layout there is an operation for", replacements);

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *, graft_error *) {
    return &descriptor;
}
