/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logits processors (logits_processor.h) in C++: a class whose instances are the states of sequences.
 *
 *     class TokenBias {
 *     public:
 *         static constexpr const char *name = "token_bias";
 *         explicit TokenBias(const graft_logits_sequence &sequence);
 *         void process(const graft_logits_args &args) const;
 *         void accept(std::int32_t id);
 *     };
 *
 * The constructor makes the state of a sequence that begins, a copy is that of a beam that parts, and `accept` is
 * called for each token that the sequence gets; a class that needs no tokens leaves it out. What the functions throw
 * becomes the error, as in classes of modules.
 */
#ifndef GRAFT_PROCESSOR_HPP
#define GRAFT_PROCESSOR_HPP

#include <cstdint>
#include <type_traits>

#include "failure.hpp"
#include "logits_processor.h"

/* Keeps these symbols out of the plugin's exports. */
#pragma GCC visibility push(hidden)
namespace graft {

namespace detail {

template <class T, class = void> struct accepts : std::false_type {};
template <class T> struct accepts<T, std::void_t<decltype(&T::accept)>> : std::true_type {};

template <class T> struct state_of {
    static int create(const graft_logits_sequence *sequence, void **state, graft_error *error) noexcept {
        return guard(error, T::name, [&] { *state = new T(*sequence); });
    }
    static int process(void *state, const graft_logits_args *args, graft_error *error) noexcept {
        return guard(error, T::name, [&] { static_cast<const T *>(state)->process(*args); });
    }
    static int accept(void *state, std::int32_t id, graft_error *error) noexcept {
        return guard(error, T::name, [&] { static_cast<T *>(state)->accept(id); });
    }
    static int fork(const void *state, void **copy, graft_error *error) noexcept {
        return guard(error, T::name, [&] { *copy = new T(*static_cast<const T *>(state)); });
    }
    static void destroy(void *state) noexcept {
        delete static_cast<T *>(state);
    }
};

} // namespace detail

/* A processor, for the list of the descriptor. `description` is one line. */
template <class T> graft_logits_processor logits_processor(const char *description) {
    graft_logits_processor made{};
    made.struct_size = sizeof made;
    made.interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR;
    made.name = T::name;
    made.description = description;
    made.create = detail::state_of<T>::create;
    made.process = detail::state_of<T>::process;
    if constexpr (detail::accepts<T>::value) {
        made.accept = detail::state_of<T>::accept;
    }
    made.fork = detail::state_of<T>::fork;
    made.destroy = detail::state_of<T>::destroy;
    return made;
}

} // namespace graft
#pragma GCC visibility pop

#endif
