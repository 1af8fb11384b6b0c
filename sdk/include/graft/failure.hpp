/* SPDX-License-Identifier: Apache-2.0 */
/* Errors in C++ plugins: what a plugin throws, and where exceptions end. No exception passes `guard`, which surrounds
 * every function that the host calls. */
#ifndef GRAFT_FAILURE_HPP
#define GRAFT_FAILURE_HPP

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "error.h"

/* Keeps these symbols out of the plugin's exports. */
#pragma GCC visibility push(hidden)
namespace graft {

/* The exception for plugins to throw: `status` is one of GRAFT_ERROR_..., `source` is what is at fault, by default the
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

/* Thrown after a function that takes a struct graft_error has failed and recorded why. */
struct recorded {
    int status;
};

/* Throws unless the status is GRAFT_OK; for functions of the C headers. */
inline void check(int status) {
    if (status != GRAFT_OK) {
        throw recorded{status};
    }
}

/* Runs `body`, turns exceptions into errors, and returns the status. Use it around functions that the host calls and
 * that this SDK does not wrap, such as those of custom_operation.h. `source` may be NULL. */
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
