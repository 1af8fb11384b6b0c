// SPDX-License-Identifier: Apache-2.0
//! Constants of the C headers.

use std::os::raw::c_int;

/// Declares constants, and `constants`, which lists them.
macro_rules! c_constants {
    ($( pub const $name:ident: $type:ty = $value:expr; )*) => {
        $( pub const $name: $type = $value; )*

        /// A line for each, `NAME VALUE`.
        #[doc(hidden)]
        pub fn constants() -> String {
            let mut lines = String::new();
            $( lines += &format!("{} {}\n", stringify!($name), $name); )*
            lines
        }
    };
}

pub const GRAFT_PLUGIN_MAGIC: [u8; 8] = *b"GRAFTPL\n";

c_constants! {
    pub const GRAFT_ABI_MAJOR: u32 = 1;
    pub const GRAFT_ABI_MINOR: u32 = 0;
    pub const GRAFT_ABI_RELEASED: u32 = 20261130;
    pub const GRAFT_OK: c_int = 0;
    pub const GRAFT_ERROR_INTERNAL: c_int = 1;
    pub const GRAFT_ERROR_USAGE: c_int = 2;
    pub const GRAFT_ERROR_PLUGIN: c_int = 3;
    pub const GRAFT_ERROR_MODEL: c_int = 4;
    pub const GRAFT_ERROR_IO: c_int = 5;
    pub const GRAFT_MAX_RANK: usize = 8;
    pub const GRAFT_SCHEME_TENSORS: usize = 10;
    pub const GRAFT_CODE_UINT: i32 = 0;
    pub const GRAFT_CODE_INT: i32 = 1;
    pub const GRAFT_CODE_FLOAT8: i32 = 2;
    pub const GRAFT_KEY_NAME: i32 = 1;
    pub const GRAFT_KEY_PATTERN: i32 = 2;
    pub const GRAFT_REPLACEMENT_WHERE_IT_FITS: u32 = 1;
    pub const GRAFT_REPLACEMENT_GIVES_WAY: u32 = 2;
    pub const GRAFT_REPLACEMENT_ON_REQUEST: u32 = 1 << 16;
    pub const GRAFT_PLUGIN_GUARDS_STATICS: u32 = 1 << 0;
    pub const GRAFT_CLASS_CALLS_SUPER: u32 = 1 << 16;
    pub const GRAFT_INIT_NONE: i32 = 0;
    pub const GRAFT_INIT_ZEROS: i32 = 1;
    pub const GRAFT_INIT_ONES: i32 = 2;
    pub const GRAFT_INIT_ABSENT: i32 = 3;
    pub const GRAFT_PARAMETER_CONTIGUOUS: u32 = 1 << 16;
    pub const GRAFT_PARAMETER_SCALAR: u32 = 1 << 17;
    pub const GRAFT_PARAMETER_SOURCE: u32 = 1 << 18;
    pub const GRAFT_PARAMETER_ANY_LENGTH: u32 = 1 << 19;
    pub const GRAFT_OP_CONCATENATE: i32 = 1;
    pub const GRAFT_OP_CHUNK: i32 = 2;
    pub const GRAFT_OP_INTERLEAVE: i32 = 6;
    pub const GRAFT_OP_TRANSPOSE: i32 = 7;
    pub const GRAFT_OP_CUSTOM: i32 = 11;
    pub const GRAFT_CUSTOM_ROWS: u32 = 1;
    pub const GRAFT_CUSTOM_SEES_F32: u32 = 1 << 16;
    pub const GRAFT_CUSTOM_LOSSY: u32 = 1 << 17;
    pub const GRAFT_OPTION_INT: i32 = 0;
    pub const GRAFT_OPTION_REAL: i32 = 1;
    pub const GRAFT_OPTION_STRING: i32 = 2;
    pub const GRAFT_OPTION_BOOL: i32 = 3;
    pub const GRAFT_FIELD_ABSENT: i32 = 0;
    pub const GRAFT_FIELD_BOOL: i32 = 1;
    pub const GRAFT_FIELD_INT: i32 = 2;
    pub const GRAFT_FIELD_REAL: i32 = 3;
    pub const GRAFT_FIELD_STRING: i32 = 4;
    pub const GRAFT_FIELD_ARRAY: i32 = 5;
    pub const GRAFT_FIELD_OBJECT: i32 = 6;
    pub const GRAFT_FIELD_NULL: i32 = 7;
    pub const GRAFT_FIELD_RENAMED: u32 = 1 << 16;
    pub const GRAFT_CONDITION_CONFIG: i32 = 1;
    pub const GRAFT_CONDITION_TENSOR: i32 = 2;
    pub const GRAFT_CONDITION_NO_CONFIG: i32 = 3;
    pub const GRAFT_CONDITION_NO_TENSOR: i32 = 4;
    pub const GRAFT_DTYPE_NONE: i32 = 0;
    pub const GRAFT_DTYPE_F64: i32 = 1;
    pub const GRAFT_DTYPE_F32: i32 = 2;
    pub const GRAFT_DTYPE_F16: i32 = 3;
    pub const GRAFT_DTYPE_BF16: i32 = 4;
    pub const GRAFT_DTYPE_I64: i32 = 5;
    pub const GRAFT_DTYPE_I32: i32 = 6;
    pub const GRAFT_DTYPE_I16: i32 = 7;
    pub const GRAFT_DTYPE_I8: i32 = 8;
    pub const GRAFT_DTYPE_U64: i32 = 9;
    pub const GRAFT_DTYPE_U32: i32 = 10;
    pub const GRAFT_DTYPE_U16: i32 = 11;
    pub const GRAFT_DTYPE_U8: i32 = 12;
}
