/* SPDX-License-Identifier: Apache-2.0 */
/*
 * low_rank_adapter in C++17: y = W x + factor * B (A x) around each Linear that an adapter (`--adapter NAME=DIR`) has a
 * pair of low rank for (Hu et al. 2021). The Linear itself is called as it is, whatever its class.
 */
#include <vector>

#include "graft/graft.hpp"

namespace {

constexpr std::int64_t max_rank = 4096;
constexpr std::int64_t max_size = 1 << 24;

/* --- What adapter_config.json says --- */

/* An adapter that the user gave: number `i` of them. */
class adapter {
  public:
    adapter(const graft::config &config, std::int64_t i)
        : config_(config), given_("adapters." + std::to_string(i) + "."),
          name_(std::string("adapter.") + config.string((given_ + "name").c_str(), "")) {}

    /* Of a field of adapter_config.json, of a tensor and of a child: "adapter.NAME.lora_A". */
    std::string operator/(const char *part) const {
        return name_ + "." + part;
    }

    /* Refuses what asks for more than is done here, unless it is null, false or empty. */
    void check() const {
        for (const char *field : {"use_rslora", "use_dora", "rank_pattern", "alpha_pattern", "modules_to_save"}) {
            if (!is_empty((*this / field).c_str())) {
                throw graft::failure(std::string("adapter_config.json: ") + field +
                                         ": expected none, low_rank_adapter_cpp does not do that",
                                     GRAFT_ERROR_MODEL, config_.string((given_ + "directory").c_str(), ""));
            }
        }
    }

    /* The factor of a pair: the user's scale * lora_alpha / rank. */
    float factor(std::int64_t rank) const {
        const double alpha = config_.real((*this / "lora_alpha").c_str(), 0.0, 8.0); /* PEFT's own */
        const double scale = config_.raw()->real(config_.raw()->data, (given_ + "scale").c_str());
        return static_cast<float>(scale * alpha / static_cast<double>(rank));
    }

  private:
    bool is_empty(const char *path) const {
        switch (config_.kind(path)) {
        case GRAFT_FIELD_ABSENT:
        case GRAFT_FIELD_NULL:
            return true;
        case GRAFT_FIELD_BOOL:
            return !config_.boolean(path, false);
        case GRAFT_FIELD_OBJECT:
        case GRAFT_FIELD_ARRAY:
            return config_.size(path) == 0;
        default:
            return false;
        }
    }
    const graft::config &config_;
    std::string given_; /* "adapters.0.": what the user said of it */
    std::string name_;  /* "adapter.NAME": what its files say */
};

/* --- The module: the original, and two Linears for each adapter that has something for it --- */

class AdaptedLinear : public graft::module<graft::linear> {
  public:
    static constexpr const char *name = "LowRankAdaptedLinearInCpp";
    static constexpr std::uint32_t flags = GRAFT_CLASS_CALLS_SUPER;

    static void describe(const graft::sink &sink, const graft::config &config, const graft::arguments &args) {
        for (std::int64_t i = 0; i < config.size("adapters"); i++) {
            const adapter own(config, i);
            own.check();
            const std::string tensor = own / "lora_A.weight";
            const auto a = sink.adapter_tensor(tensor);
            if (!a) {
                continue;
            }
            if (a->rank != 2 || a->shape[0] < 1 || a->shape[0] > max_rank) {
                throw graft::failure(tensor + ": expected a matrix of 1 to " + std::to_string(max_rank) + " rows",
                                     GRAFT_ERROR_MODEL);
            }
            sink.linear((own / "lora_A").c_str(), args.size("in_features", max_size), a->shape[0], false);
            sink.linear((own / "lora_B").c_str(), a->shape[0], args.size("out_features", max_size), false);
        }
    }

    explicit AdaptedLinear(const graft::build &build)
        : original(build.super<graft::linear>()), out_features(build.args().size("out_features", max_size)) {
        const graft::config config = build.config();
        for (std::int64_t i = 0; i < config.size("adapters"); i++) {
            const adapter own(config, i);
            const std::string a = own / "lora_A", b = own / "lora_B";
            const auto first = build.find_child<graft::linear>(a.c_str());
            if (first.raw() != nullptr) {
                const std::int64_t rank = build.child_args(a.c_str()).size("out_features", max_rank);
                pairs.push_back({first, build.child<graft::linear>(b.c_str()), rank, own.factor(rank)});
            }
        }
    }

    void forward(const graft::call &call, const graft_linear_args &args) const {
        original(call, args);
        for (const pair &added : pairs) {
            float *narrow = call.floats(args.tokens, added.rank); /* [tokens, rank] */
            float *wide = call.floats(args.tokens, out_features); /* [tokens, out_features] */
            added.a(call, args.tokens, args.x, narrow);
            added.b(call, args.tokens, narrow, wide);
            for (std::int64_t i = 0; i < args.tokens * out_features; i++) {
                args.y[i] += added.factor * wide[i];
            }
        }
    }

  private:
    struct pair {
        graft::child<graft::linear> a; /* in_features -> rank */
        graft::child<graft::linear> b; /* rank -> out_features */
        std::int64_t rank;
        float factor;
    };
    graft::child<graft::linear> original;
    std::int64_t out_features;
    std::vector<pair> pairs;
};

/* --- What the host is told: where there are adapters, and one of them has something for the module --- */

constexpr const char *tensors[] = {"adapter.*.lora_A.weight", nullptr};
constexpr graft_condition conditions[] = {
    graft::condition(GRAFT_CONDITION_CONFIG, "adapters"),
    graft::condition(GRAFT_CONDITION_TENSOR, nullptr, tensors),
};
const graft_replacement replacements[] = {
    graft::only_if(conditions, graft::replacement<AdaptedLinear>(GRAFT_KEY_NAME, "Linear"))};
const graft_plugin descriptor = graft::plugin("low_rank_adapter_cpp", "1.0.0", "Apache-2.0",
                                              "Adapters of low rank around Linears, in C++", replacements);

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *, graft_error *) {
    return &descriptor;
}
