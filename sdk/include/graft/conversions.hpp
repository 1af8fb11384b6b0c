/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions, for plugins in C++: how parameters are made from the tensors of a checkpoint (conversion.h), for static
 * arrays.
 *
 * A plugin's own operation (custom_operation.h) is a class without instances:
 *
 *   struct QuantizeRows {
 *       static constexpr const char *name = "int8_rows";
 *       static constexpr std::uint32_t flags = GRAFT_CUSTOM_ROWS | GRAFT_CUSTOM_SEES_F32 | GRAFT_CUSTOM_LOSSY;
 *       static void infer(const graft::custom_shapes &shapes);
 *       static void apply(const graft::custom_work &work);
 *   };
 *   constexpr graft_custom_operation quantize = graft::custom_operation<QuantizeRows>();
 *   constexpr graft_operation operations[] = {graft::custom(quantize)};
 *
 * An operation that also has a static `reverse(work)` can be reversed. Exceptions become errors, as in modules. */
#ifndef GRAFT_CONVERSIONS_HPP
#define GRAFT_CONVERSIONS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "conversion.h"
#include "custom_operation.h"
#include "failure.hpp"

/* Keeps these symbols out of the plugin's exports. */
#pragma GCC visibility push(hidden)
namespace graft {

/* --- The host's operations --- */

/* An operation of a kind (GRAFT_OP_...) whose only setting is a dimension, such as merge_modulelist. */
constexpr graft_operation operation(std::int32_t kind, std::int64_t dim) {
    graft_operation made{};
    made.struct_size = sizeof made;
    made.kind = kind;
    made.dim = dim;
    return made;
}

/* Joins all values along `dim`. */
constexpr graft_operation concatenate(std::int64_t dim) {
    return operation(GRAFT_OP_CONCATENATE, dim);
}

/* Splits one value along `dim` into one for each target. */
constexpr graft_operation chunk(std::int64_t dim) {
    return operation(GRAFT_OP_CHUNK, dim);
}

/* Swaps two dimensions of each value. */
constexpr graft_operation transpose(std::int64_t dim, std::int64_t dim1) {
    graft_operation made = operation(GRAFT_OP_TRANSPOSE, dim);
    made.dim1 = dim1;
    return made;
}

/* In each value, `dim`, viewed as [n / 2, 2], becomes [2, n / 2]: the even indices, then the odd ones. */
constexpr graft_operation interleave(std::int64_t dim) {
    return operation(GRAFT_OP_INTERLEAVE, dim);
}

/* The reverse: the first half goes to the even indices, the second half to the odd ones. */
constexpr graft_operation interleave_inverse(std::int64_t dim) {
    graft_operation made = interleave(dim);
    made.inverse = 1;
    return made;
}

/* A plugin's own operation. */
constexpr graft_operation custom(const graft_custom_operation &own) {
    graft_operation made = operation(GRAFT_OP_CUSTOM, 0);
    made.custom = &own;
    return made;
}

/* A renaming of `sources` to `targets`, two static arrays. */
template <std::size_t Sources, std::size_t Targets>
constexpr graft_conversion conversion(const char *const (&sources)[Sources], const char *const (&targets)[Targets]) {
    graft_conversion made{};
    made.struct_size = sizeof made;
    made.n_sources = Sources;
    made.sources = sources;
    made.targets = targets;
    made.n_targets = Targets;
    return made;
}

/* A conversion of `sources` to `targets` by `operations`, three static arrays. */
template <std::size_t Sources, std::size_t Targets, std::size_t Operations>
constexpr graft_conversion conversion(const char *const (&sources)[Sources], const char *const (&targets)[Targets],
                                      const graft_operation (&operations)[Operations]) {
    graft_conversion made = conversion(sources, targets);
    made.operations = operations;
    made.n_operations = Operations;
    made.operation_stride = sizeof operations[0];
    return made;
}

/* --- A plugin's own operations --- */

/* The element type of a file that corresponds to T. C++17 has no types for bf16 and f16; use `raw` for them. */
template <class T> constexpr graft_dtype dtype_of() {
    static_assert(std::is_arithmetic<T>::value && !std::is_same<T, bool>::value, "no type of weights");
    if constexpr (std::is_floating_point<T>::value) {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "no type of weights");
        return sizeof(T) == 8 ? GRAFT_DTYPE_F64 : GRAFT_DTYPE_F32;
    } else if constexpr (std::is_signed<T>::value) {
        return sizeof(T) == 8   ? GRAFT_DTYPE_I64
               : sizeof(T) == 4 ? GRAFT_DTYPE_I32
               : sizeof(T) == 2 ? GRAFT_DTYPE_I16
                                : GRAFT_DTYPE_I8;
    } else {
        return sizeof(T) == 8   ? GRAFT_DTYPE_U64
               : sizeof(T) == 4 ? GRAFT_DTYPE_U32
               : sizeof(T) == 2 ? GRAFT_DTYPE_U16
                                : GRAFT_DTYPE_U8;
    }
}

/* The argument of `infer` (struct graft_custom_shapes). */
class custom_shapes {
  public:
    explicit custom_shapes(const graft_custom_shapes *raw) : raw_(raw) {}
    std::int32_t inputs() const {
        return raw_->n_inputs;
    }
    std::int32_t outputs() const {
        return raw_->n_outputs;
    }
    const graft_value_info &input(std::int32_t i) const {
        return *graft_value_info_at(raw_->inputs, raw_->info_stride, i);
    }
    void output(std::int32_t i, graft_dtype dtype, std::initializer_list<std::int64_t> shape) const {
        graft_value_info &info = *graft_custom_output(raw_, i);
        info.dtype = dtype;
        info.rank = static_cast<std::int32_t>(shape.size());
        std::copy(shape.begin(), shape.end(), info.shape);
    }
    const graft_custom_shapes *raw() const {
        return raw_;
    }

  private:
    const graft_custom_shapes *raw_;
};

/* The argument of `apply` and `reverse` (struct graft_custom_work). `reverse` reads outputs and fills inputs. */
class custom_work {
  public:
    custom_work(const graft_custom_work *raw, bool backwards) : raw_(raw), backwards_(backwards) {}
    /* The rows to process are [begin, end), if the operation has GRAFT_CUSTOM_ROWS. */
    std::int64_t begin() const {
        return raw_->begin;
    }
    std::int64_t end() const {
        return raw_->end;
    }
    const graft_value_info &input(std::int32_t i) const {
        return *graft_value_info_at(raw_->inputs, raw_->info_stride, i);
    }
    const graft_value_info &output(std::int32_t i) const {
        return *graft_value_info_at(raw_->outputs, raw_->info_stride, i);
    }
    /* Elements of a value from row `begin` on; T must be the value's type. */
    template <class T> const T *from(std::int32_t i) const {
        expect<T>(backwards_ ? output(i) : input(i));
        return static_cast<const T *>(raw_->from[i]);
    }
    template <class T> T *to(std::int32_t i) const {
        expect<T>(backwards_ ? input(i) : output(i));
        return static_cast<T *>(raw_->to[i]);
    }
    const graft_custom_work *raw() const {
        return raw_;
    }

  private:
    template <class T> static void expect(const graft_value_info &info) {
        if (info.dtype != dtype_of<T>()) {
            throw failure("a value has type " + std::to_string(info.dtype) + ", and type " +
                          std::to_string(dtype_of<T>()) + " was asked for");
        }
    }
    const graft_custom_work *raw_;
    bool backwards_;
};

namespace detail {

template <class T, class = void> struct reverses : std::false_type {};
template <class T> struct reverses<T, std::void_t<decltype(&T::reverse)>> : std::true_type {};

/* The functions that the host calls for operation T. Exceptions end here. */
template <class T> struct custom_boundary {
    static int infer(const graft_custom_operation *self, const graft_custom_shapes *shapes,
                     graft_error *error) noexcept {
        return guard(error, self->name, [&] { T::infer(custom_shapes(shapes)); });
    }
    static int apply(const graft_custom_operation *self, const graft_custom_work *work, graft_error *error) noexcept {
        return guard(error, self->name, [&] { T::apply(custom_work(work, false)); });
    }
    static int reverse(const graft_custom_operation *self, const graft_custom_work *work, graft_error *error) noexcept {
        return guard(error, self->name, [&] { T::reverse(custom_work(work, true)); });
    }
};

} // namespace detail

/* The descriptor of operation T. */
template <class T> constexpr graft_custom_operation custom_operation() {
    graft_custom_operation made{};
    made.struct_size = sizeof made;
    made.flags = T::flags;
    made.name = T::name;
    made.infer = detail::custom_boundary<T>::infer;
    made.apply = detail::custom_boundary<T>::apply;
    if constexpr (detail::reverses<T>::value) {
        made.reverse = detail::custom_boundary<T>::reverse;
    }
    return made;
}

} // namespace graft
#pragma GCC visibility pop

#endif
