/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantized_linear in C++17: projections of layers with 8-bit weights, a scale for each row. A custom operation makes
 * both from the weight of any checkpoint while it is loaded; the forward multiplies them as they are.
 */
#include <algorithm>
#include <cmath>

#include "graft/graft.hpp"

namespace {

constexpr std::int64_t max_size = std::int64_t{1} << 40;

const graft_host *host;
std::int64_t bits(); /* the option: codes use so many */

/* --- How it is made of a checkpoint's weight --- */

/* codes = round(weight / scale), the scale being such that the largest of the row gets the last code. */
float quantize_row(const float *weight, std::int64_t columns, float levels, std::int8_t *codes) {
    float largest = 0.0F;
    for (std::int64_t k = 0; k < columns; k++) {
        largest = std::max(largest, std::fabs(weight[k]));
    }
    const float factor = levels / largest;
    if (!std::isfinite(factor)) { /* zeros, or so small that no float is the factor */
        std::fill_n(codes, columns, std::int8_t{0});
        return 0.0F;
    }
    std::transform(weight, weight + columns, codes,
                   [factor](float number) { return static_cast<std::int8_t>(std::lrint(number * factor)); });
    return largest / levels;
}

/* [rows, columns] becomes codes of the same shape and scales [rows]. There is no way back: the numbers are gone. */
struct QuantizeRows {
    static constexpr const char *name = "example_int8_rows_in_cpp";
    static constexpr std::uint32_t flags = GRAFT_CUSTOM_ROWS | GRAFT_CUSTOM_SEES_F32 | GRAFT_CUSTOM_LOSSY;

    static void infer(const graft::custom_shapes &shapes) {
        if (shapes.inputs() != 1 || shapes.outputs() != 2 || shapes.input(0).rank != 2) {
            throw graft::failure("expected a matrix, and targets for codes and scales", GRAFT_ERROR_MODEL);
        }
        const std::int64_t *shape = shapes.input(0).shape;
        shapes.output(0, GRAFT_DTYPE_I8, {shape[0], shape[1]});
        shapes.output(1, GRAFT_DTYPE_F32, {shape[0]});
    }

    /* Rows [begin, end), from any of the host's threads. */
    static void apply(const graft::custom_work &work) {
        const std::int64_t columns = work.input(0).shape[1];
        const float levels = static_cast<float>((1 << (bits() - 1)) - 1); /* codes are -levels to levels */
        const auto *weight = work.from<float>(0);                         /* [end - begin, columns] */
        auto *codes = work.to<std::int8_t>(0);                            /* [end - begin, columns] */
        auto *scales = work.to<float>(1);                                 /* [end - begin] */
        for (std::int64_t i = 0; i < work.end() - work.begin(); i++) {
            const float *row = weight + i * columns;
            if (!std::all_of(row, row + columns, [](float number) { return std::isfinite(number); })) {
                throw graft::failure("row " + std::to_string(work.begin() + i) + " has a weight that is not finite",
                                     GRAFT_ERROR_MODEL);
            }
            scales[i] = quantize_row(row, columns, levels, codes + i * columns);
        }
    }
};

constexpr graft_custom_operation custom_operations[] = {graft::custom_operation<QuantizeRows>()};
constexpr const char *sources[] = {"weight"};
constexpr const char *targets[] = {"codes", "scales"};
constexpr graft_operation operations[] = {graft::custom(custom_operations[0])};

/* --- An instance --- */

/* The numbers of a parameter that an operation made: one block. */
template <class T> const T *numbers(const graft_weight &weight) {
    return static_cast<const T *>(graft_weight_block(&weight, 0)->data);
}

class QuantizedLinear : public graft::module<graft::linear> {
  public:
    static constexpr const char *name = "ExampleInt8LinearInCpp";
    static constexpr graft_conversion conversions[] = {graft::conversion(sources, targets, operations)};

    static void describe(const graft::sink &sink, const graft::config &, const graft::arguments &args) {
        const std::int64_t rows = args.size("out_features", max_size);
        const std::int64_t columns = args.size("in_features", max_size);
        sink.attribute("in_features", {columns});
        sink.attribute("out_features", {rows});
        sink.typed("codes", {rows, columns}, GRAFT_DTYPE_I8);
        sink.typed("scales", {rows}, GRAFT_DTYPE_F32);
        if (args.integer("bias", 1) != 0) {
            sink.parameter("bias", {rows});
        }
    }

    explicit QuantizedLinear(const graft::build &build)
        : codes(build.weight("codes")), scales(build.weight("scales")), bias(build.find_weight("bias")) {}

    /* Threads have rows of the weight, each read once for all tokens. A sum is made in the same order whoever makes
     * it. */
    void forward(const graft::call &call, const graft_linear_args &args) const {
        const std::int64_t rows = codes.rows, columns = codes.columns, tokens = args.tokens;
        const std::int64_t grain = 1 + (1 << 16) / (1 + columns * tokens); /* products that are worth a thread */
        const float *added = bias != nullptr ? call.widened(*bias) : nullptr;
        call.parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t r = begin; r < end; r++) {
                const std::int8_t *row = numbers<std::int8_t>(codes) + r * columns;
                for (std::int64_t t = 0; t < tokens; t++) {
                    float sum = 0.0F;
                    for (std::int64_t k = 0; k < columns; k++) {
                        sum += args.x[t * columns + k] * static_cast<float>(row[k]);
                    }
                    args.y[t * rows + r] = sum * numbers<float>(scales)[r] + (added != nullptr ? added[r] : 0.0F);
                }
            }
        });
    }

  private:
    const graft_weight &codes;  /* [out_features, in_features] I8 */
    const graft_weight &scales; /* [out_features] F32 */
    const graft_weight *bias;   /* [out_features] of the checkpoint's type, or NULL */
};

/* --- What the host is told: not the head, which is worth its bits --- */

const graft_replacement replacements[] = {
    graft::only_at("\\.layers\\.[0-9]+\\..*_proj$", graft::replacement<QuantizedLinear>(GRAFT_KEY_NAME, "Linear"))};
constexpr const char *choices[] = {"4", "8", nullptr};
constexpr graft_option options[] = {
    graft::option(GRAFT_OPTION_INT, "bits", "How many bits of each code are used", "8", choices)};
const graft_plugin descriptor =
    graft::plugin("quantized_linear_cpp", "1.0.0", "Apache-2.0", "Projections of layers with 8-bit weights, in C++",
                  replacements, custom_operations, options);

std::int64_t bits() {
    return graft::options(host, descriptor).integer("bits", 8);
}

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *given, graft_error *) {
    host = given;
    return &descriptor;
}
