/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of the SDK for C++: what a plugin throws, and where it ends. No exception gets past `guard`, which is around
 * every function that the host calls.
 */
#ifndef GRAFT_FAILURE_HPP
#define GRAFT_FAILURE_HPP

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "error.h"

/* A plugin exports nothing of this. */
#pragma GCC visibility push(hidden)
namespace graft {

/* For a plugin to throw: `status` is one of GRAFT_ERROR_..., `source` what is at fault; without one it is the
 * module. */
class failure : public std::runtime_error {
  public:
    explicit failure(const std::string &message, int status = GRAFT_ERROR_PLUGIN, std::string source = {})
        : std::runtime_error(message), status_(status != GRAFT_OK ? status : int{GRAFT_ERROR_PLUGIN}),
          source_(std::move(source)) {}
    int status() const noexcept {
        return status_;
    }
    const char *source() const noexcept {
        return source_.c_str();
    }

  private:
    int status_;
    std::string source_;
};

/* A function that takes a struct graft_error has failed, and recorded why. */
struct recorded {
    int status;
};

/* Throws unless the status is GRAFT_OK: for functions of the C headers. */
inline void check(int status) {
    if (status != GRAFT_OK) {
        throw recorded{status};
    }
}

/* Runs `body` and returns the status: the boundary around a function that the host calls, for those that this
 * header does not wrap, as the operations of custom_operation.h. `source` may be NULL. */
template <class Body> int guard(graft_error *error, const char *source, Body &&body) noexcept {
    try {
        body();
        return GRAFT_OK;
    } catch (const recorded &fault) {
        return fault.status;
    } catch (const failure &fault) {
        return graft_error_set(error, fault.status(), *fault.source() != '\0' ? fault.source() : source, "%s",
                               fault.what());
    } catch (const std::bad_alloc &) {
        return graft_fail_memory(error, source);
    } catch (const std::exception &exception) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, source, "exception: %s", exception.what());
    } catch (...) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, source, "an exception that is no std::exception");
    }
}

} // namespace graft
#pragma GCC visibility pop

#endif
