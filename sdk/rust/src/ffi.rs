// SPDX-License-Identifier: Apache-2.0
//! The C headers as far as this crate needs them, member by member: `graft/class.h` and the others say what each is. A
//! test of Graft compares sizes, offsets and values with what a C compiler makes of the headers.

#![allow(non_camel_case_types, missing_docs)]

use std::os::raw::{c_char, c_int, c_void};

mod constants;
mod helpers;

pub use constants::*;
pub use helpers::*;

/// Declares structs as C lays them out, and `layouts`, which tells of sizes and offsets.
macro_rules! c_structs {
    ($( pub struct $name:ident { $( pub $field:ident: $type:ty, )* } )*) => {
        $(
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name { $( pub $field: $type, )* }
        )*

        /// A line for each struct, `NAME SIZE`, and each of its members, `NAME.MEMBER OFFSET SIZE`.
        #[doc(hidden)]
        pub fn layouts() -> String {
            let mut lines = String::new();
            $(
                let whole = std::mem::MaybeUninit::<$name>::uninit();
                let at = whole.as_ptr();
                lines += &format!("{} {}\n", stringify!($name), std::mem::size_of::<$name>());
                $(
                    // Not read, only located.
                    let member = unsafe { std::ptr::addr_of!((*at).$field) };
                    let offset = member as usize - at as usize;
                    lines += &format!("{}.{} {} {}\n", stringify!($name), stringify!($field), offset, size_of_target(member));
                )*
            )*
            lines
        }
    };
}

fn size_of_target<T>(_: *const T) -> usize {
    std::mem::size_of::<T>()
}

c_structs! {
    pub struct graft_error {
        pub struct_size: u32,
        pub code: i32,
        pub source: [c_char; 256],
        pub message: [c_char; 1024],
        pub hint: [c_char; 512],
    }

    pub struct graft_host {
        pub struct_size: u32,
        pub abi_major: u32,
        pub abi_minor: u32,
        pub reserved: u32,
        pub version: *const c_char,
        pub get_extension: unsafe extern "C" fn(id: *const c_char) -> *const c_void,
        pub alloc: unsafe extern "C" fn(bytes: i64) -> *mut c_void,
        pub free: unsafe extern "C" fn(block: *mut c_void),
        pub options: unsafe extern "C" fn(plugin: *const graft_plugin) -> *const graft_args,
        pub get_plugin_extension: unsafe extern "C" fn(plugin: *const graft_plugin, id: *const c_char) -> *const c_void,
        pub dtype_size: unsafe extern "C" fn(dtype: i32) -> i64,
        pub dtype_name: unsafe extern "C" fn(dtype: i32) -> *const c_char,
    }

    pub struct graft_log {
        pub struct_size: u32,
        pub reserved: u32,
        pub line: unsafe extern "C" fn(sender: *const c_char, text: *const c_char),
    }

    pub struct graft_arg {
        pub name: *const c_char,
        pub kind: i32,
        pub count: i32,
        pub integer: i64,
        pub real: f64,
        pub string: *const c_char,
        pub integers: *const i64,
    }

    pub struct graft_args {
        pub struct_size: u32,
        pub count: i32,
        pub items: *const graft_arg,
        pub item_stride: u32,
        pub reserved: u32,
    }

    pub struct graft_config {
        pub struct_size: u32,
        pub reserved: u32,
        pub file: *const c_char,
        pub data: *const c_void,
        pub kind: unsafe extern "C" fn(data: *const c_void, path: *const c_char) -> i32,
        pub integer: unsafe extern "C" fn(data: *const c_void, path: *const c_char) -> i64,
        pub real: unsafe extern "C" fn(data: *const c_void, path: *const c_char) -> f64,
        pub string: unsafe extern "C" fn(data: *const c_void, path: *const c_char) -> *const c_char,
        pub size: unsafe extern "C" fn(data: *const c_void, path: *const c_char) -> i64,
        pub spelling: Option<unsafe extern "C" fn(data: *const c_void, path: *const c_char) -> *const c_char>,
        pub key: Option<unsafe extern "C" fn(data: *const c_void, path: *const c_char, i: i64) -> *const c_char>,
    }

    pub struct graft_operation {
        pub struct_size: u32,
        pub kind: i32,
        pub dim: i64,
        pub dim1: i64,
        pub check_dims: i32,
        pub inverse: i32,
        pub num_shards_attribute: *const c_char,
        pub subconfig_key: *const c_char,
        pub permute_layer_names: *const *const c_char,
        pub in_channels: i64,
        pub kernel_size: [i64; 3],
        pub custom: *const graft_custom_operation,
        pub begin: i64,
        pub length: i64,
        pub of: i64,
        pub parts: [i64; 4],
    }

    pub struct graft_conversion {
        pub struct_size: u32,
        pub n_sources: i32,
        pub sources: *const *const c_char,
        pub targets: *const *const c_char,
        pub operations: *const graft_operation,
        pub n_targets: i32,
        pub n_operations: i32,
        pub operation_stride: u32,
        pub reserved: u32,
    }

    pub struct graft_join {
        pub kind: i32,
        pub dim: i32,
        pub rows: i32,
        pub reserved: u32,
    }

    pub struct graft_parameter_info {
        pub struct_size: u32,
        pub flags: u32,
        pub name: *const c_char,
        pub rank: i32,
        pub init: i32,
        pub shape: [i64; GRAFT_MAX_RANK],
        pub dtype: i32,
        pub reserved: u32,
        pub join: graft_join,
        pub inputs: graft_join,
    }

    pub struct graft_codec {
        pub struct_size: u32,
        pub kind: i32,
        pub bits: i32,
        pub layout: i32,
        pub rows: i64,
        pub columns: i64,
        pub block_rows: i64,
        pub group_size: i64,
        pub by_turns: i64,
        pub input_bits: i32,
        pub zero: i32,
        pub codes: *const graft_weight,
        pub scales: *const graft_weight,
        pub zeros: *const graft_weight,
        pub group_index: *const graft_weight,
        pub divisor: f32,
        pub factor: f32,
        pub table: *const f32,
        pub read_rows: Option<unsafe extern "C" fn(weight: *const graft_weight, first: i64, n: i64, out: *mut f32)>,
    }

    pub struct graft_scheme {
        pub codec: graft_codec,
        pub n: i32,
        pub flags: u32,
        pub roles: [i32; GRAFT_SCHEME_TENSORS],
        pub tensors: [graft_parameter_info; GRAFT_SCHEME_TENSORS],
        pub finish: Option<unsafe extern "C" fn(build: *const graft_build, context: *const c_void, codec: *mut graft_codec, error: *mut graft_error) -> c_int>,
        pub context: *const c_void,
        pub context_bytes: i64,
    }

    pub struct graft_child_info {
        pub struct_size: u32,
        pub flags: u32,
        pub name: *const c_char,
        pub class_name: *const c_char,
        pub interface_id: *const c_char,
        pub args: *const graft_args,
    }

    pub struct graft_part_info {
        pub struct_size: u32,
        pub reserved: u32,
        pub name: *const c_char,
        pub path: *const c_char,
        pub first: i64,
        pub outputs: i64,
    }

    pub struct graft_sink {
        pub struct_size: u32,
        pub super_flags: u32,
        pub path: *const c_char,
        pub config_path: *const c_char,
        pub host: *const graft_host,
        pub data: *mut c_void,
        pub parameter: unsafe extern "C" fn(data: *mut c_void, info: *const graft_parameter_info, error: *mut graft_error) -> c_int,
        pub child: unsafe extern "C" fn(data: *mut c_void, info: *const graft_child_info, error: *mut graft_error) -> c_int,
        pub attribute: unsafe extern "C" fn(data: *mut c_void, name: *const c_char, values: *const i64, count: i32, error: *mut graft_error) -> c_int,
        pub tie: unsafe extern "C" fn(data: *mut c_void, name: *const c_char, source: *const c_char, error: *mut graft_error) -> c_int,
        pub state: unsafe extern "C" fn(data: *mut c_void, info: *const c_void, error: *mut graft_error) -> c_int,
        pub conversion: unsafe extern "C" fn(data: *mut c_void, conversion: *const graft_conversion, error: *mut graft_error) -> c_int,
        pub base: unsafe extern "C" fn(data: *mut c_void, more: *const graft_args, error: *mut graft_error) -> c_int,
        pub super_: unsafe extern "C" fn(data: *mut c_void, more: *const graft_args, error: *mut graft_error) -> c_int,
        pub elsewhere: unsafe extern "C" fn(data: *mut c_void, error: *mut graft_error) -> c_int,
        pub keep: unsafe extern "C" fn(data: *mut c_void, bytes: i64, error: *mut graft_error) -> *mut c_void,
        pub activation_class: unsafe extern "C" fn(data: *mut c_void, name: *const c_char) -> *const c_char,
        pub adapter_tensor: unsafe extern "C" fn(data: *mut c_void, name: *const c_char, info: *mut graft_value_info) -> i32,
        pub part: unsafe extern "C" fn(data: *mut c_void, i: i32, info: *mut graft_part_info) -> i32,
        pub bytes_before: unsafe extern "C" fn(data: *mut c_void, path: *const c_char) -> i64,
        pub comes_before: unsafe extern "C" fn(data: *mut c_void, interface_id: *const c_char) -> i32,
        pub adapter_tensor_name: unsafe extern "C" fn(data: *mut c_void, name: *const c_char) -> *const c_char,
        pub coded: unsafe extern "C" fn(data: *mut c_void, info: *const c_void, error: *mut graft_error) -> c_int,
        pub share: unsafe extern "C" fn(data: *mut c_void, name: *const c_char, of: i32, slice: *const graft_operation, error: *mut graft_error) -> c_int,
    }

    pub struct graft_build {
        pub struct_size: u32,
        pub reserved: u32,
        pub path: *const c_char,
        pub host: *const graft_host,
        pub config: *const graft_config,
        pub args: *const graft_args,
        pub kept: *const c_void,
        pub super_: *const graft_module,
        pub data: *mut c_void,
        pub weight: unsafe extern "C" fn(data: *mut c_void, name: *const c_char) -> *const graft_weight,
        pub child: unsafe extern "C" fn(data: *mut c_void, name: *const c_char) -> *const graft_module,
        pub child_args: unsafe extern "C" fn(data: *mut c_void, name: *const c_char) -> *const graft_args,
        pub state: unsafe extern "C" fn(data: *mut c_void, name: *const c_char) -> *const c_void,
        pub memory: unsafe extern "C" fn(data: *mut c_void, bytes: i64) -> *mut c_void,
    }

    pub struct graft_class {
        pub struct_size: u32,
        pub flags: u32,
        pub name: *const c_char,
        pub interface_id: *const c_char,
        pub describe: Option<unsafe extern "C" fn(cls: *const graft_class, config: *const graft_config, args: *const graft_args, sink: *const graft_sink, error: *mut graft_error) -> c_int>,
        pub create: Option<unsafe extern "C" fn(cls: *const graft_class, build: *const graft_build, instance: *mut *mut c_void, error: *mut graft_error) -> c_int>,
        pub destroy: Option<unsafe extern "C" fn(instance: *mut c_void)>,
        pub forward: *const c_void,
        pub conversions: *const graft_conversion,
        pub n_conversions: i32,
        pub conversion_stride: u32,
        pub data: *const c_void,
        pub base: *const c_char,
    }

    pub struct graft_row_block {
        pub struct_size: u32,
        pub dtype: i32,
        pub data: *const c_void,
        pub rows: i64,
    }

    pub struct graft_weight {
        pub struct_size: u32,
        pub rank: i32,
        pub shape: [i64; GRAFT_MAX_RANK],
        pub rows: i64,
        pub columns: i64,
        pub blocks: *const graft_row_block,
        pub n_blocks: i32,
        pub block_stride: u32,
        pub codec: *const c_void,
    }

    pub struct graft_module {
        pub struct_size: u32,
        pub reserved: u32,
        pub path: *const c_char,
        pub class_name: *const c_char,
        pub forward: *const c_void,
        pub instance: *mut c_void,
        pub plugin: *const c_char,
    }

    pub struct graft_threads {
        pub struct_size: u32,
        pub reserved: u32,
        pub parallel_for: unsafe extern "C" fn(items: i64, grain: i64, body: unsafe extern "C" fn(data: *mut c_void, begin: i64, end: i64), data: *mut c_void),
        pub count: unsafe extern "C" fn() -> i32,
    }

    pub struct graft_call {
        pub struct_size: u32,
        pub precision: i32,
        pub kernels: *const graft_kernels,
        pub threads: *const graft_threads,
        pub attention: *const c_void,
        pub asked_attention: *const c_void,
        pub experts: *const c_void,
        pub among: i64,
        pub row_adapters: *const c_void,
        pub state: unsafe extern "C" fn(call: *const graft_call, batch: *const c_void, state: *const c_void, sequence: i32, error: *mut graft_error) -> *mut c_void,
        pub scratch: *mut c_void,
        pub scratch_alloc: unsafe extern "C" fn(scratch: *mut c_void, bytes: i64) -> *mut c_void,
        pub scratch_mark: unsafe extern "C" fn(scratch: *const c_void) -> i64,
        pub scratch_release: unsafe extern "C" fn(scratch: *mut c_void, mark: i64),
        pub running: *mut *const graft_module,
    }

    pub struct graft_product {
        pub struct_size: u32,
        pub required_features: u32,
        pub weight: *const graft_weight,
        pub bias: *const graft_weight,
        pub first_row: i64,
        pub rows: i64,
        pub x: *const f32,
        pub x_stride: i64,
        pub tokens: i64,
        pub y: *mut f32,
        pub y_stride: i64,
    }

    pub struct graft_kernels {
        pub struct_size: u32,
        pub reserved: u32,
        pub linear: unsafe extern "C" fn(call: *const graft_call, products: *const graft_product, n: i32, product_stride: u32, error: *mut graft_error) -> c_int,
        pub attention: unsafe extern "C" fn(call: *const graft_call, args: *const c_void, error: *mut graft_error) -> c_int,
        pub experts: unsafe extern "C" fn(call: *const graft_call, own: *const c_void, input: *const c_void, error: *mut graft_error) -> c_int,
        pub rms_norm: unsafe extern "C" fn(call: *const graft_call, weight: *const graft_weight, offset: f32, eps: f32, x: *const f32, x_stride: i64, tokens: i64, columns: i64, y: *mut f32, y_stride: i64, error: *mut graft_error) -> c_int,
        pub layer_norm: unsafe extern "C" fn(call: *const graft_call, weight: *const graft_weight, bias: *const graft_weight, eps: f32, x: *const f32, x_stride: i64, tokens: i64, columns: i64, y: *mut f32, y_stride: i64, error: *mut graft_error) -> c_int,
        pub rope: unsafe extern "C" fn(call: *const graft_call, args: *const c_void, error: *mut graft_error) -> c_int,
        pub activation: unsafe extern "C" fn(call: *const graft_call, activation: i32, x: *const f32, count: i64, y: *mut f32, error: *mut graft_error) -> c_int,
        pub gated_activation: unsafe extern "C" fn(call: *const graft_call, activation: i32, gate: *mut f32, gate_stride: i64, up: *const f32, up_stride: i64, tokens: i64, columns: i64, error: *mut graft_error) -> c_int,
        pub add: unsafe extern "C" fn(call: *const graft_call, x: *mut f32, y: *const f32, count: i64, error: *mut graft_error) -> c_int,
        pub softmax: unsafe extern "C" fn(call: *const graft_call, x: *mut f32, rows: i64, columns: i64, error: *mut graft_error) -> c_int,
        pub top_k: unsafe extern "C" fn(call: *const graft_call, x: *const f32, rows: i64, columns: i64, k: i64, index: *mut i32, values: *mut f32, error: *mut graft_error) -> c_int,
        pub embedding: unsafe extern "C" fn(call: *const graft_call, weight: *const graft_weight, ids: *const i32, tokens: i64, y: *mut f32, error: *mut graft_error) -> c_int,
        pub gather_rows: unsafe extern "C" fn(call: *const graft_call, x: *const f32, index: *const i32, rows: i64, columns: i64, y: *mut f32, error: *mut graft_error) -> c_int,
        pub scatter_add_rows: unsafe extern "C" fn(call: *const graft_call, x: *const f32, scale: *const f32, index: *const i32, rows: i64, columns: i64, y: *mut f32, error: *mut graft_error) -> c_int,
        pub widen: unsafe extern "C" fn(call: *const graft_call, weight: *const graft_weight, out: *mut f32, error: *mut graft_error) -> c_int,
        pub gated_linear: unsafe extern "C" fn(call: *const graft_call, mlps: *const c_void, n: i32, stride: u32, error: *mut graft_error) -> c_int,
    }

    pub struct graft_mlp_args {
        pub struct_size: u32,
        pub required_features: u32,
        pub tokens: i64,
        pub hidden_states: *const f32,
        pub output: *mut f32,
    }

    pub struct graft_mlp {
        pub struct_size: u32,
        pub features: u32,
        pub forward: unsafe extern "C" fn(instance: *mut c_void, call: *const graft_call, args: *const graft_mlp_args, error: *mut graft_error) -> c_int,
    }

    pub struct graft_linear_args {
        pub struct_size: u32,
        pub required_features: u32,
        pub tokens: i64,
        pub x: *const f32,
        pub y: *mut f32,
    }

    pub struct graft_linear {
        pub struct_size: u32,
        pub features: u32,
        pub forward: unsafe extern "C" fn(instance: *mut c_void, call: *const graft_call, args: *const graft_linear_args, error: *mut graft_error) -> c_int,
        pub as_product: Option<unsafe extern "C" fn(instance: *mut c_void, args: *const graft_linear_args, product: *mut graft_product) -> i32>,
    }

    pub struct graft_activation_args {
        pub struct_size: u32,
        pub required_features: u32,
        pub count: i64,
        pub x: *const f32,
        pub y: *mut f32,
    }

    pub struct graft_activation {
        pub struct_size: u32,
        pub features: u32,
        pub forward: unsafe extern "C" fn(instance: *mut c_void, call: *const graft_call, args: *const graft_activation_args, error: *mut graft_error) -> c_int,
        pub as_kernel: Option<unsafe extern "C" fn(instance: *mut c_void) -> i32>,
    }

    pub struct graft_norm_args {
        pub struct_size: u32,
        pub required_features: u32,
        pub tokens: i64,
        pub hidden_states: *mut f32,
        pub residual: *const f32,
        pub output: *mut f32,
    }

    pub struct graft_norm {
        pub struct_size: u32,
        pub features: u32,
        pub forward: unsafe extern "C" fn(instance: *mut c_void, call: *const graft_call, args: *const graft_norm_args, error: *mut graft_error) -> c_int,
    }

    pub struct graft_batch {
        pub struct_size: u32,
        pub sequences: i32,
        pub tokens: i64,
        pub cu_seqlens: *const i64,
        pub positions: *const i64,
        pub slots: *const i32,
        pub cache: *mut c_void,
        pub rotary_positions: *const i64,
        pub rotary_offsets: *const i64,
        pub next_rotary_offsets: *mut i64,
        pub adapters: *const i32,
        pub source_cu_seqlens: *const i64,
        pub source_ids: *const i32,
        pub source_states: *const f32,
    }

    pub struct graft_self_attention_args {
        pub struct_size: u32,
        pub required_features: u32,
        pub batch: *const graft_batch,
        pub hidden_states: *const f32,
        pub cos: *const f32,
        pub sin: *const f32,
        pub mask: *const c_void,
        pub output: *mut f32,
        pub shared_keys: *const c_void,
    }

    pub struct graft_self_attention {
        pub struct_size: u32,
        pub features: u32,
        pub forward: unsafe extern "C" fn(instance: *mut c_void, call: *const graft_call, args: *const graft_self_attention_args, error: *mut graft_error) -> c_int,
    }

    pub struct graft_condition {
        pub struct_size: u32,
        pub kind: i32,
        pub field: *const c_char,
        pub any_of: *const *const c_char,
    }

    pub struct graft_replacement {
        pub struct_size: u32,
        pub key: i32,
        pub target: *const c_char,
        pub replacement: *const graft_class,
        pub module_path: *const c_char,
        pub model_types: *const *const c_char,
        pub group: *const c_char,
        pub flags: u32,
        pub reserved: u32,
        pub conditions: *const graft_condition,
        pub n_conditions: i32,
        pub condition_stride: u32,
    }

    pub struct graft_option {
        pub struct_size: u32,
        pub kind: i32,
        pub name: *const c_char,
        pub help: *const c_char,
        pub default_value: *const c_char,
        pub choices: *const *const c_char,
    }

    pub struct graft_value_info {
        pub struct_size: u32,
        pub dtype: i32,
        pub rank: i32,
        pub reserved: u32,
        pub shape: [i64; GRAFT_MAX_RANK],
    }

    pub struct graft_custom_shapes {
        pub struct_size: u32,
        pub n_inputs: i32,
        pub n_outputs: i32,
        pub info_stride: u32,
        pub inputs: *const graft_value_info,
        pub outputs: *mut graft_value_info,
    }

    pub struct graft_custom_work {
        pub struct_size: u32,
        pub n_inputs: i32,
        pub n_outputs: i32,
        pub info_stride: u32,
        pub inputs: *const graft_value_info,
        pub outputs: *const graft_value_info,
        pub from: *const *const c_void,
        pub to: *const *mut c_void,
        pub begin: i64,
        pub end: i64,
    }

    pub struct graft_custom_operation {
        pub struct_size: u32,
        pub flags: u32,
        pub name: *const c_char,
        pub data: *const c_void,
        pub infer: unsafe extern "C" fn(operation: *const graft_custom_operation, shapes: *const graft_custom_shapes, error: *mut graft_error) -> c_int,
        pub apply: unsafe extern "C" fn(operation: *const graft_custom_operation, work: *const graft_custom_work, error: *mut graft_error) -> c_int,
        pub reverse: Option<unsafe extern "C" fn(operation: *const graft_custom_operation, work: *const graft_custom_work, error: *mut graft_error) -> c_int>,
    }

    pub struct graft_architecture {
        pub name: *const c_char,
        pub class_name: *const c_char,
    }

    pub struct graft_config_field {
        pub name: *const c_char,
        pub alias: *const c_char,
        pub kind: i32,
        pub flags: u32,
        pub integer: i64,
        pub real: f64,
        pub string: *const c_char,
    }

    pub struct graft_stand_in {
        pub name: *const c_char,
        pub class_name: *const c_char,
    }

    pub struct graft_family {
        pub struct_size: u32,
        pub reserved: u32,
        pub model_type: *const c_char,
        pub base_model_prefix: *const c_char,
        pub architectures: *const graft_architecture,
        pub n_architectures: i32,
        pub architecture_stride: u32,
        pub classes: *const graft_class,
        pub n_classes: i32,
        pub class_stride: u32,
        pub fields: *const graft_config_field,
        pub n_fields: i32,
        pub field_stride: u32,
        pub stand_ins: *const graft_stand_in,
        pub n_stand_ins: i32,
        pub stand_in_stride: u32,
        pub ignored_tensors: *const *const c_char,
        pub ignores: Option<unsafe extern "C" fn(config: *const graft_config, tensor: *const c_char) -> i32>,
        pub field_rules: *const c_void,
        pub n_field_rules: i32,
        pub field_rule_stride: u32,
    }

    pub struct graft_logits_sequence {
        pub struct_size: u32,
        pub reserved: u32,
        pub ids: *const i32,
        pub count: i64,
        pub vocab_size: i64,
        pub eos_ids: *const i32,
        pub n_eos_ids: i64,
        pub directory: *const c_char,
        pub setting: *const c_char,
        pub data: *mut c_void,
    }

    pub struct graft_logits_args {
        pub struct_size: u32,
        pub reserved: u32,
        pub ids: *const i32,
        pub count: i64,
        pub prompt: i64,
        pub scores: *mut f32,
        pub vocab_size: i64,
        pub flags: u64,
    }

    pub struct graft_logits_processor {
        pub struct_size: u32,
        pub flags: u32,
        pub interface_id: *const c_char,
        pub name: *const c_char,
        pub description: *const c_char,
        pub create: Option<unsafe extern "C" fn(*const graft_logits_sequence, *mut *mut c_void, *mut graft_error) -> c_int>,
        pub process: Option<unsafe extern "C" fn(*mut c_void, *const graft_logits_args, *mut graft_error) -> c_int>,
        pub accept: Option<unsafe extern "C" fn(*mut c_void, i32, *mut graft_error) -> c_int>,
        pub fork: Option<unsafe extern "C" fn(*const c_void, *mut *mut c_void, *mut graft_error) -> c_int>,
        pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    }

    pub struct graft_plugin {
        pub magic: [u8; 8],
        pub struct_size: u32,
        pub abi_major: u32,
        pub abi_minor_needed: u32,
        pub abi_minor_built: u32,
        pub pointer_size: u32,
        pub abi_released: u32,
        pub id: *const c_char,
        pub version: *const c_char,
        pub license: *const c_char,
        pub description: *const c_char,
        pub init: Option<unsafe extern "C" fn(error: *mut graft_error) -> c_int>,
        pub deinit: Option<unsafe extern "C" fn()>,
        pub requires_extensions: *const *const c_char,
        pub uses_extensions: *const *const c_char,
        pub offers_extensions: *const *const c_char,
        pub get_extension: Option<unsafe extern "C" fn(id: *const c_char) -> *const c_void>,
        pub replacements: *const graft_replacement,
        pub n_replacements: i32,
        pub replacement_stride: u32,
        pub classes: *const graft_class,
        pub n_classes: i32,
        pub class_stride: u32,
        pub families: *const graft_family,
        pub n_families: i32,
        pub family_stride: u32,
        pub fusion_families: *const c_void,
        pub n_fusion_families: i32,
        pub fusion_family_stride: u32,
        pub chains: *const c_void,
        pub n_chains: i32,
        pub chain_stride: u32,
        pub custom_operations: *const graft_custom_operation,
        pub n_custom_operations: i32,
        pub custom_operation_stride: u32,
        pub attention_implementations: *const c_void,
        pub n_attention_implementations: i32,
        pub attention_implementation_stride: u32,
        pub experts_implementations: *const c_void,
        pub n_experts_implementations: i32,
        pub experts_implementation_stride: u32,
        pub kernels: *const c_void,
        pub n_kernels: i32,
        pub kernel_stride: u32,
        pub options: *const graft_option,
        pub n_options: i32,
        pub option_stride: u32,
        pub quant_methods: *const *const c_char,
        pub parallel: *const c_void,
        pub logits_processors: *const graft_logits_processor,
        pub n_logits_processors: i32,
        pub logits_processor_stride: u32,
        pub field_rules: *const c_void,
        pub n_field_rules: i32,
        pub field_rule_stride: u32,
        pub quantizations: *const c_void,
        pub n_quantizations: i32,
        pub quantization_stride: u32,
        pub flags: u32,
        pub reserved_later: u32,
    }
}
