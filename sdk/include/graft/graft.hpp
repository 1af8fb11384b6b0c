/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SDK for C++17 and later: a class of modules is a class of C++, whose constructor is the `create`, whose
 * destructor the `destroy` and whose `forward` the `forward` of struct graft_class. It adds no state and no symbols,
 * works without RTTI, and everything it wraps is still there (`raw`): the headers in C say what each thing means.
 *
 *     class GateUpMLP : public graft::module<graft::mlp> {
 *     public:
 *         static constexpr const char *name = "GateUpMLP";
 *         static void describe(const graft::sink &sink, const graft::config &config, const graft::arguments &args);
 *         explicit GateUpMLP(const graft::build &build);
 *         void forward(const graft::call &call, const graft_mlp_args &args) const;
 *     };
 *
 * No exception gets past these functions. What they throw becomes the error: graft::failure with its status, what()
 * of any other std::exception as a fault of the plugin. Functions of the host that fail throw graft::recorded, whose
 * reason has been recorded; let it pass. The objects that the functions are given are valid until these return.
 */
#ifndef GRAFT_HPP
#define GRAFT_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>

#include "conversions.hpp"
#include "describe.h"
#include "descriptor.hpp"
#include "failure.hpp"
#include "interfaces.hpp"
#include "kernels.h"
#include "log.h"
#include "processor.hpp"
#include "state.h"
#include "threads.h"

/* Keeps these symbols out of the plugin's exports. */
#pragma GCC visibility push(hidden)
namespace graft {

/* --- Arguments of functions --- */

/* The arguments that the parent passes (args.h). */
class arguments {
  public:
    arguments(const graft_args *args, const char *path, graft_error *error) : args_(args), path_(path), error_(error) {}
    std::int64_t integer(const char *name, std::int64_t fallback = 0) const {
        return graft_args_int(args_, name, fallback);
    }
    double real(const char *name, double fallback = 0.0) const {
        return graft_args_real(args_, name, fallback);
    }
    const char *string(const char *name, const char *fallback = nullptr) const {
        return graft_args_string(args_, name, fallback);
    }
    /* A size from 1 to `maximum`. */
    std::int64_t size(const char *name, std::int64_t maximum) const {
        std::int64_t value = 0;
        check(graft_args_size(args_, name, maximum, path_, &value, error_));
        return value;
    }
    const graft_args *raw() const {
        return args_;
    }

  private:
    const graft_args *args_;
    const char *path_;
    graft_error *error_;
};

/* The model's config.json (config.h). */
class config {
  public:
    config(const graft_config *raw, graft_error *error) : raw_(raw), error_(error) {}
    bool has(const char *path) const {
        return graft_config_has(raw_, path) != 0;
    }
    std::int64_t integer(const char *path, std::int64_t minimum, std::int64_t maximum, std::int64_t fallback) const {
        check(graft_config_int(raw_, path, minimum, maximum, &fallback, error_));
        return fallback;
    }
    /* A finite number above `above`. */
    double real(const char *path, double above, double fallback) const {
        check(graft_config_real(raw_, path, above, &fallback, error_));
        return fallback;
    }
    bool boolean(const char *path, bool fallback) const {
        std::int32_t value = fallback;
        check(graft_config_bool(raw_, path, &value, error_));
        return value != 0;
    }
    const char *string(const char *path, const char *fallback) const {
        check(graft_config_string(raw_, path, &fallback, error_));
        return fallback;
    }
    /* GRAFT_FIELD_... */
    std::int32_t kind(const char *path) const {
        return raw_->kind(raw_->data, path);
    }
    /* The number of elements of an array or members of an object; 0 for another kind. */
    std::int64_t size(const char *path) const {
        return raw_->size(raw_->data, path);
    }
    const graft_config *raw() const {
        return raw_;
    }

  private:
    const graft_config *raw_;
    graft_error *error_;
};

/* Receives a description (struct graft_sink). */
class sink {
  public:
    sink(const graft_sink *raw, graft_error *error) : raw_(raw), error_(error) {}
    const char *path() const {
        return raw_->path;
    }
    /* Zeroed memory that `create` gets as build::kept<T>(); may be called once. */
    template <class T> T &keep() const {
        static_assert(std::is_trivially_copyable<T>::value, "the host frees it without asking");
        void *memory = raw_->keep(raw_->data, sizeof(T), error_);
        check(memory != nullptr ? GRAFT_OK : GRAFT_ERROR_INTERNAL);
        return *new (memory) T();
    }
    void parameter(const char *name, std::initializer_list<std::int64_t> shape, std::uint32_t flags = 0,
                   std::int32_t init = GRAFT_INIT_NONE) const {
        check(graft_describe_parameter(raw_, name, rank(shape), shape.begin(), flags, init, error_));
    }
    /* A parameter of one type that needs a single block, such as the output of a custom operation. */
    void typed(const char *name, std::initializer_list<std::int64_t> shape, graft_dtype dtype) const {
        check(graft_describe_typed(raw_, name, rank(shape), shape.begin(), dtype, error_));
    }
    void attribute(const char *name, std::initializer_list<std::int64_t> values) const {
        check(raw_->attribute(raw_->data, name, values.begin(), static_cast<std::int32_t>(values.size()), error_));
    }
    void state(const char *name, std::initializer_list<std::int64_t> shape, graft_dtype dtype) const {
        check(graft_describe_state(raw_, name, rank(shape), shape.begin(), dtype, error_));
    }
    template <class Interface>
    void child(const char *name, const char *class_name, std::initializer_list<graft_arg> args = {}) const {
        check(graft_describe_child(raw_, name, class_name, Interface::id, args.begin(),
                                   static_cast<std::int32_t>(args.size()), error_));
    }
    /* A child that gets all the arguments of this module. */
    template <class Interface> void child(const char *name, const char *class_name, const arguments &args) const {
        check(graft_describe_given(raw_, name, class_name, Interface::id, args.raw(), error_));
    }
    void linear(const char *name, std::int64_t in_features, std::int64_t out_features, bool bias) const {
        check(graft_describe_linear(raw_, name, in_features, out_features, bias, error_));
    }
    void norm(const char *name, const char *class_name, std::int64_t hidden_size, double eps) const {
        check(graft_describe_norm(raw_, name, class_name, hidden_size, eps, error_));
    }
    void activation(const char *name, const config &config, const arguments &args, const char *field) const {
        check(graft_describe_activation(raw_, name, config.raw(), args.raw(), field, error_));
    }
    /* Runs `describe` of the base class. */
    void base(const graft_args *more = nullptr) const {
        check(raw_->base(raw_->data, more, error_));
    }
    /* The same with further arguments. */
    void base(std::initializer_list<graft_arg> args) const {
        const graft_args more = graft_args_of(args.begin(), static_cast<std::int32_t>(args.size()));
        base(&more);
    }
    /* Type and shape of an adapter's tensor for the module, "adapter.NAME.lora_A.weight", if there is one. */
    std::optional<graft_value_info> adapter_tensor(const std::string &name) const {
        graft_value_info info{};
        info.struct_size = sizeof info;
        const bool found = raw_->adapter_tensor(raw_->data, name.c_str(), &info) != 0;
        return found ? std::optional<graft_value_info>(info) : std::nullopt;
    }
    const graft_sink *raw() const {
        return raw_;
    }
    graft_error *error() const {
        return error_;
    }

  private:
    static std::int32_t rank(std::initializer_list<std::int64_t> shape) {
        return static_cast<std::int32_t>(shape.size());
    }
    const graft_sink *raw_;
    graft_error *error_;
};

/* What a forward gets besides its args (struct graft_call). */
class call {
  public:
    call(const graft_call *raw, graft_error *error) : raw_(raw), error_(error) {}
    /* Scratch memory, uninitialised, valid until the forward returns. */
    float *floats(std::int64_t rows, std::int64_t columns) const {
        return checked(graft_scratch_floats(raw_, rows, columns, error_));
    }
    std::int32_t *integers(std::int64_t count) const {
        return checked(graft_scratch_ints(raw_, count, error_));
    }
    /* A weight's numbers as f32 [rows, columns], whatever its type, in scratch memory. */
    const float *widened(const graft_weight &weight) const {
        return checked(graft_scratch_widened(raw_, &weight, error_));
    }
    /* Calls a kernel of kernels.h: call.kernel(&graft_kernels::add, x, y, count). */
    template <class... Parameters, class... Values>
    void kernel(int (*graft_kernels::*member)(const graft_call *, Parameters...), Values... values) const {
        check((raw_->kernels->*member)(raw_, values..., error_));
    }
    /* Calls body(begin, end) for ranges of [0, items), each at least `grain` long, on the host's threads. If bodies
     * throw, the others still run, and the first exception is rethrown here. */
    template <class Body> void parallel_for(std::int64_t items, std::int64_t grain, const Body &body) const {
        shared<Body> all{&body, {false}, nullptr};
        raw_->threads->parallel_for(items, grain, shared<Body>::run, &all);
        if (all.thrown != nullptr) {
            std::rethrow_exception(all.thrown);
        }
    }
    void *state(const graft_batch *batch, const graft_state *state, std::int32_t sequence) const {
        return checked(graft_state_get(raw_, batch, state, sequence, error_));
    }
    const graft_call *raw() const {
        return raw_;
    }
    graft_error *error() const {
        return error_;
    }

  private:
    template <class Body> struct shared {
        const Body *body;
        std::atomic<bool> taken;
        std::exception_ptr thrown;
        static void run(void *data, std::int64_t begin, std::int64_t end) noexcept {
            shared &all = *static_cast<shared *>(data);
            try {
                (*all.body)(begin, end);
            } catch (...) {
                if (!all.taken.exchange(true)) {
                    all.thrown = std::current_exception();
                }
            }
        }
    };
    template <class T> static T *checked(T *memory) {
        check(memory != nullptr ? GRAFT_OK : GRAFT_ERROR_INTERNAL);
        return memory;
    }
    const graft_call *raw_;
    graft_error *error_;
};

/* A module that another one calls: a child, or the wrapped module. Belongs to the host; valid as long as the caller. */
template <class Interface> class child {
  public:
    using args = typename Interface::args;
    child() = default;
    explicit child(const graft_module *raw) : raw_(raw) {}
    void operator()(const call &call, const args &values) const {
        check(Interface::run(raw_, call.raw(), &values, call.error()));
    }
    /* Calls the module with the members of its args after `required_features`, in the order of the header:
     * gate_proj(call, tokens, x, y). */
    template <class First, class... Rest, class = std::enable_if_t<!std::is_same<std::decay_t<First>, args>::value>>
    void operator()(const call &call, First first, Rest... rest) const {
        (*this)(call, args{sizeof(args), 0, first, rest...});
    }
    const graft_module *raw() const {
        return raw_;
    }

  private:
    const graft_module *raw_ = nullptr;
};

/* gate = act(gate) * up; both are dense [tokens, columns]. */
inline void gate(const call &call, const child<activation> &act, float *gate, const float *up, std::int64_t tokens,
                 std::int64_t columns) {
    check(graft_activation_gate(act.raw(), call.raw(), gate, up, tokens, columns, call.error()));
}

/* The argument of a constructor (struct graft_build). */
class build {
  public:
    build(const graft_build *raw, graft_error *error) : raw_(raw), error_(error) {}
    const char *path() const {
        return raw_->path;
    }
    template <class Interface> graft::child<Interface> child(const char *name) const {
        const graft_module *module = graft_build_child(raw_, name, error_);
        check(error_->code);
        return graft::child<Interface>(module);
    }
    /* A child that may not have been described; then its `raw` is NULL. */
    template <class Interface> graft::child<Interface> find_child(const char *name) const {
        return graft::child<Interface>(raw_->child(raw_->data, name));
    }
    /* The arguments that this class passed to a child. */
    arguments child_args(const char *name) const {
        return arguments(raw_->child_args(raw_->data, name), raw_->path, error_);
    }
    /* The wrapped module (GRAFT_CLASS_CALLS_SUPER). */
    template <class Interface> graft::child<Interface> super() const {
        return graft::child<Interface>(raw_->super);
    }
    const graft_weight &weight(const char *name) const {
        const graft_weight *weight = graft_build_weight(raw_, name, error_);
        check(error_->code);
        return *weight;
    }
    /* A parameter, or NULL if it is absent. */
    const graft_weight *find_weight(const char *name) const {
        return raw_->weight(raw_->data, name);
    }
    const graft_state *state(const char *name) const {
        const graft_state *state = graft_build_state(raw_, name, error_);
        check(error_->code);
        return state;
    }
    /* The memory that `describe` of the same class filled with sink::keep<T>(). */
    template <class T> const T &kept() const {
        return *static_cast<const T *>(raw_->kept);
    }
    arguments args() const {
        return arguments(raw_->args, raw_->path, error_);
    }
    graft::config config() const {
        return graft::config(raw_->config, error_);
    }
    const graft_build *raw() const {
        return raw_;
    }

  private:
    const graft_build *raw_;
    graft_error *error_;
};

/* --- Classes --- */

/* The base of a class of modules. A derived class has a `name`, a constructor from `const graft::build &` and a
 * `forward`. It may have a static `describe`, a static array `conversions`, a static `slots(vtable &)` that fills in
 * the members of the vtable other than `forward`, and its own values of the members below. Without a `describe` it
 * inherits that of the class it replaces. */
template <class Interface> class module {
  public:
    using interface = Interface;
    static constexpr std::uint32_t flags = 0;    /* GRAFT_CLASS_... */
    static constexpr std::uint32_t features = 0; /* bits of required_features that `forward` knows */
    static constexpr const char *base = nullptr; /* the class that this one is derived from (class.h) */
};

namespace detail {

template <class T, class = void> struct describes : std::false_type {};
template <class T> struct describes<T, std::void_t<decltype(&T::describe)>> : std::true_type {};
template <class T, class = void> struct converts : std::false_type {};
template <class T> struct converts<T, std::void_t<decltype(&T::conversions)>> : std::true_type {};
template <class T, class = void> struct has_slots : std::false_type {};
template <class T> struct has_slots<T, std::void_t<decltype(&T::slots)>> : std::true_type {};

/* The functions that the host calls for class T. Exceptions end here. */
template <class T>
int describe(const graft_class *, const graft_config *config, const graft_args *args, const graft_sink *sink,
             graft_error *error) noexcept {
    return guard(error, sink->path, [&] {
        T::describe(graft::sink(sink, error), graft::config(config, error), arguments(args, sink->path, error));
    });
}

/* Fills in the members of T's descriptor that do not depend on its instances. */
template <class T> void fill_described(graft_class &made) {
    if constexpr (describes<T>::value) {
        made.describe = describe<T>;
    }
    if constexpr (converts<T>::value) {
        made.conversions = T::conversions;
        made.n_conversions = static_cast<std::int32_t>(std::size(T::conversions));
        made.conversion_stride = sizeof T::conversions[0];
    }
}

template <class T> struct boundary {
    using interface = typename T::interface;

    static int create(const graft_class *, const graft_build *build, void **instance, graft_error *error) noexcept {
        return guard(error, build->path, [&] { *instance = new T(graft::build(build, error)); });
    }
    static void destroy(void *instance) noexcept {
        delete static_cast<T *>(instance);
    }
    static int forward(void *self, const graft_call *call, const typename interface::args *args,
                       graft_error *error) noexcept {
        return guard(error, nullptr, [&] { static_cast<T *>(self)->forward(graft::call(call, error), *args); });
    }
    static typename interface::vtable make_vtable() {
        typename interface::vtable made {};
        made.struct_size = sizeof made;
        made.features = T::features;
        made.forward = forward;
        if constexpr (has_slots<T>::value) {
            T::slots(made);
        }
        return made;
    }
    static graft_class make_class() {
        static const typename interface::vtable vtable = make_vtable();
        graft_class made{};
        made.struct_size = sizeof made;
        made.flags = T::flags;
        made.name = T::name;
        made.interface_id = interface::id;
        made.create = create;
        made.destroy = destroy;
        made.forward = &vtable;
        made.base = T::base;
        fill_described<T>(made);
        return made;
    }
};

} // namespace detail

/* The descriptor of class T; const and valid as long as the shared object is mapped. */
template <class T> const graft_class *class_of() {
    static const graft_class made = detail::boundary<T>::make_class();
    return &made;
}

/* A class that computes what its base does, but has another description. T has a `name`, the name of its `base`, that
 * class's type `interface`, a static `describe` that calls sink::base, and optionally a static array `conversions`. */
template <class T> graft_class derived() {
    graft_class made{};
    made.struct_size = sizeof made;
    made.name = T::name;
    made.base = T::base;
    made.interface_id = T::interface::id;
    detail::fill_described<T>(made);
    return made;
}

/* A class that is its base under another name: derived<graft::causal_lm>("MyForCausalLM", "LlamaForCausalLM"). */
template <class Interface> constexpr graft_class derived(const char *name, const char *base) {
    graft_class made{};
    made.struct_size = sizeof made;
    made.name = name;
    made.base = base;
    made.interface_id = Interface::id;
    return made;
}

/* A replacement of `target` by class T; `key` is GRAFT_KEY_NAME or GRAFT_KEY_PATTERN. */
template <class T>
graft_replacement replacement(std::int32_t key, const char *target, const char *const *model_types = nullptr,
                              std::uint32_t flags = 0) {
    graft_replacement made{};
    made.struct_size = sizeof made;
    made.key = key;
    made.target = target;
    made.replacement = class_of<T>();
    made.model_types = model_types;
    made.flags = flags;
    return made;
}

/* --- Services of the host --- */

/* The values of the plugin's options (option.h), from `init` on. `plugin` is what the entry function has returned. */
inline arguments options(const graft_host *host, const graft_plugin &plugin) {
    return arguments(host->options(&plugin), plugin.id, nullptr);
}

/* Logs a line for the user (log.h), if the host has that service. */
inline void log(const graft_host *host, const char *sender, const std::string &text) {
    const auto *service = static_cast<const graft_log *>(host->get_extension(GRAFT_LOG_ID));
    if (service != nullptr) {
        service->line(sender, text.c_str());
    }
}

} // namespace graft
#pragma GCC visibility pop

#endif
