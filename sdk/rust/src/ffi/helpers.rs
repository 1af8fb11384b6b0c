// SPDX-License-Identifier: Apache-2.0
//! Helpers of the C headers, as symbols of libgraft-sdk.a.

use std::os::raw::{c_char, c_int};

use super::*;

#[rustfmt::skip]
extern "C" {
    pub fn graft_error_set(error: *mut graft_error, code: c_int, source: *const c_char, format: *const c_char, ...
    ) -> c_int;
    pub fn graft_int_arg(name: *const c_char, value: i64) -> graft_arg;
    pub fn graft_real_arg(name: *const c_char, value: f64) -> graft_arg;
    pub fn graft_string_arg(name: *const c_char, value: *const c_char) -> graft_arg;
    pub fn graft_ints_arg(name: *const c_char, values: *const i64, count: i32) -> graft_arg;
    pub fn graft_args_of(items: *const graft_arg, count: i32) -> graft_args;
    pub fn graft_args_int(args: *const graft_args, name: *const c_char, fallback: i64) -> i64;
    pub fn graft_args_real(args: *const graft_args, name: *const c_char, fallback: f64) -> f64;
    pub fn graft_args_string(args: *const graft_args, name: *const c_char, fallback: *const c_char) -> *const c_char;
    pub fn graft_args_size(args: *const graft_args, name: *const c_char, maximum: i64, path: *const c_char, value: *mut i64, error: *mut graft_error) -> c_int;
    pub fn graft_config_has(config: *const graft_config, path: *const c_char) -> c_int;
    pub fn graft_config_int(config: *const graft_config, path: *const c_char, minimum: i64, maximum: i64, value: *mut i64, error: *mut graft_error) -> c_int;
    pub fn graft_config_real(config: *const graft_config, path: *const c_char, above: f64, value: *mut f64, error: *mut graft_error) -> c_int;
    pub fn graft_config_bool(config: *const graft_config, path: *const c_char, value: *mut i32, error: *mut graft_error) -> c_int;
    pub fn graft_config_string(config: *const graft_config, path: *const c_char, value: *mut *const c_char, error: *mut graft_error) -> c_int;
    pub fn graft_describe_parameter(sink: *const graft_sink, name: *const c_char, rank: i32, shape: *const i64, flags: u32, init: i32, error: *mut graft_error) -> c_int;
    pub fn graft_describe_typed(sink: *const graft_sink, name: *const c_char, rank: i32, shape: *const i64, dtype: i32, error: *mut graft_error) -> c_int;
    pub fn graft_describe_linear(sink: *const graft_sink, name: *const c_char, in_features: i64, out_features: i64, bias: i32, error: *mut graft_error) -> c_int;
    pub fn graft_describe_norm(sink: *const graft_sink, name: *const c_char, class_name: *const c_char, hidden_size: i64, eps: f64, error: *mut graft_error) -> c_int;
    pub fn graft_describe_child(sink: *const graft_sink, name: *const c_char, class_name: *const c_char, interface_id: *const c_char, args: *const graft_arg, count: i32, error: *mut graft_error) -> c_int;
    pub fn graft_describe_activation(sink: *const graft_sink, name: *const c_char, config: *const graft_config, args: *const graft_args, field: *const c_char, error: *mut graft_error) -> c_int;
    pub fn graft_scheme_of_linear(scheme: *mut graft_scheme, args: *const graft_args, path: *const c_char, error: *mut graft_error) -> c_int;
    pub fn graft_scheme_codes(scheme: *mut graft_scheme, name: *const c_char, columns: i64, dtype: i32);
    pub fn graft_scheme_scales(scheme: *mut graft_scheme, name: *const c_char, dtype: i32);
    pub fn graft_scheme_describe_linear(scheme: *const graft_scheme, args: *const graft_args, sink: *const graft_sink, error: *mut graft_error) -> c_int;
    pub fn graft_build_child(build: *const graft_build, name: *const c_char, error: *mut graft_error) -> *const graft_module;
    pub fn graft_build_weight(build: *const graft_build, name: *const c_char, error: *mut graft_error) -> *const graft_weight;
    pub fn graft_scratch_floats(call: *const graft_call, rows: i64, columns: i64, error: *mut graft_error) -> *mut f32;
    pub fn graft_scratch_widened(call: *const graft_call, weight: *const graft_weight, error: *mut graft_error) -> *const f32;
    pub fn graft_mlp_forward(module: *const graft_module, call: *const graft_call, args: *const graft_mlp_args, error: *mut graft_error) -> c_int;
    pub fn graft_linear_forward(module: *const graft_module, call: *const graft_call, args: *const graft_linear_args, error: *mut graft_error) -> c_int;
    pub fn graft_activation_forward(module: *const graft_module, call: *const graft_call, args: *const graft_activation_args, error: *mut graft_error) -> c_int;
    pub fn graft_activation_gate(module: *const graft_module, call: *const graft_call, gate: *mut f32, up: *const f32, tokens: i64, columns: i64, error: *mut graft_error) -> c_int;
    pub fn graft_self_attention_forward(module: *const graft_module, call: *const graft_call, args: *const graft_self_attention_args, error: *mut graft_error) -> c_int;
    pub fn graft_norm_forward(module: *const graft_module, call: *const graft_call, args: *const graft_norm_args, error: *mut graft_error) -> c_int;
}
