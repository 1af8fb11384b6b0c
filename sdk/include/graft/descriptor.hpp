/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of a plugin (plugin.h) in C++, made of static arrays, all of which are borrowed. Functions that accept
 * lists accept any number of them, in any order; the type of a list determines its kind. */
#ifndef GRAFT_DESCRIPTOR_HPP
#define GRAFT_DESCRIPTOR_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attention_implementation.h"
#include "chain.h"
#include "condition.h"
#include "custom_operation.h"
#include "experts_implementation.h"
#include "family.h"
#include "fusion.h"
#include "kernel_override.h"
#include "logits_processor.h"
#include "option.h"
#include "plugin.h"

/* Keeps these symbols out of the plugin's exports. */
#pragma GCC visibility push(hidden)
namespace graft {

namespace detail {

/* The members that each kind of list belongs to. */
#define GRAFT_CPP_LIST(owner, element, list, count, stride)                              \
    template <std::size_t Length> void add(owner &made, const element(&given)[Length]) { \
        made.list = given;                                                               \
        made.count = Length;                                                             \
        made.stride = sizeof given[0];                                                   \
    }

GRAFT_CPP_LIST(graft_plugin, graft_replacement, replacements, n_replacements, replacement_stride)
GRAFT_CPP_LIST(graft_plugin, graft_class, classes, n_classes, class_stride)
GRAFT_CPP_LIST(graft_plugin, graft_family, families, n_families, family_stride)
GRAFT_CPP_LIST(graft_plugin, graft_fusion_family, fusion_families, n_fusion_families, fusion_family_stride)
GRAFT_CPP_LIST(graft_plugin, graft_chain, chains, n_chains, chain_stride)
GRAFT_CPP_LIST(graft_plugin, graft_custom_operation, custom_operations, n_custom_operations, custom_operation_stride)
GRAFT_CPP_LIST(graft_plugin, graft_attention_implementation, attention_implementations, n_attention_implementations,
               attention_implementation_stride)
GRAFT_CPP_LIST(graft_plugin, graft_experts_implementation, experts_implementations, n_experts_implementations,
               experts_implementation_stride)
GRAFT_CPP_LIST(graft_plugin, graft_kernel_override, kernels, n_kernels, kernel_stride)
GRAFT_CPP_LIST(graft_plugin, graft_option, options, n_options, option_stride)
GRAFT_CPP_LIST(graft_plugin, graft_logits_processor, logits_processors, n_logits_processors, logits_processor_stride)

GRAFT_CPP_LIST(graft_family, graft_architecture, architectures, n_architectures, architecture_stride)
GRAFT_CPP_LIST(graft_family, graft_class, classes, n_classes, class_stride)
GRAFT_CPP_LIST(graft_family, graft_config_field, fields, n_fields, field_stride)
GRAFT_CPP_LIST(graft_family, graft_stand_in, stand_ins, n_stand_ins, stand_in_stride)

#undef GRAFT_CPP_LIST

} // namespace detail

/* A plugin with its lists: replacements, families, options and so on. */
template <class... Lists>
graft_plugin plugin(const char *id, const char *version, const char *license, const char *description,
                    const Lists &...lists) {
    graft_plugin made = graft_plugin_header();
    made.id = id;
    made.version = version;
    made.license = license;
    made.description = description;
    (detail::add(made, lists), ...);
    return made;
}

/* A model type (family.h) with its lists: architectures, classes, fields and class aliases. */
template <class... Lists>
graft_family family(const char *model_type, const char *base_model_prefix, const Lists &...lists) {
    graft_family made{};
    made.struct_size = sizeof made;
    made.model_type = model_type;
    made.base_model_prefix = base_model_prefix;
    (detail::add(made, lists), ...);
    return made;
}

/* A field of config.json and its default, for files that have neither the field nor its alias. `value` is a number, a
 * bool or a string; 1.0 is a real number, 1 an integer. */
template <class T> constexpr graft_config_field field(const char *name, T value, const char *alias = nullptr) {
    graft_config_field made{};
    made.name = name;
    made.alias = alias;
    if constexpr (std::is_same<T, bool>::value) {
        made.kind = GRAFT_FIELD_BOOL;
        made.integer = value;
    } else if constexpr (std::is_integral<T>::value) {
        made.kind = GRAFT_FIELD_INT;
        made.integer = value;
    } else if constexpr (std::is_floating_point<T>::value) {
        made.kind = GRAFT_FIELD_REAL;
        made.real = value;
    } else {
        made.kind = GRAFT_FIELD_STRING;
        made.string = value;
    }
    return made;
}

/* An option that users can set (option.h). `kind` is GRAFT_OPTION_..., `choices` a static array that ends with
 * nullptr. */
constexpr graft_option option(std::int32_t kind, const char *name, const char *help, const char *default_value,
                              const char *const *choices = nullptr) {
    return {sizeof(graft_option), kind, name, help, default_value, choices};
}

/* Restricts a replacement to modules in whose path the regular expression is found. */
constexpr graft_replacement only_at(const char *module_path, graft_replacement replacement) {
    replacement.module_path = module_path;
    return replacement;
}

/* Restricts a replacement by conditions, a static array, all of which must hold. */
template <std::size_t Length>
constexpr graft_replacement only_if(const graft_condition (&conditions)[Length], graft_replacement replacement) {
    replacement.conditions = conditions;
    replacement.n_conditions = Length;
    replacement.condition_stride = sizeof conditions[0];
    return replacement;
}

/* A condition (condition.h). `field` is for GRAFT_CONDITION_CONFIG and its opposite, and nullptr for
 * GRAFT_CONDITION_TENSOR and its opposite. `any_of` is a static array that ends with nullptr. */
constexpr graft_condition condition(std::int32_t kind, const char *field, const char *const *any_of = nullptr) {
    return {sizeof(graft_condition), kind, field, any_of};
}

} // namespace graft
#pragma GCC visibility pop

#endif
