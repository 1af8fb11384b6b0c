// SPDX-License-Identifier: Apache-2.0
//! Types of elements that both Rust and files have.

use crate::ffi;

/// A type of elements; any bits are a value of it. Others (BF16, F8) are read as f32, which the host makes of them.
pub trait Number: Copy + Default + Send + Sync + sealed::Sealed + 'static {
    /// `GRAFT_DTYPE_...` of [`ffi`].
    const DTYPE: i32;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! numbers {
    ($( $name:ty = $dtype:ident, )*) => {
        $(
            impl sealed::Sealed for $name {}
            impl Number for $name {
                const DTYPE: i32 = ffi::$dtype;
            }
        )*
    };
}

numbers! {
    f64 = GRAFT_DTYPE_F64,
    f32 = GRAFT_DTYPE_F32,
    i64 = GRAFT_DTYPE_I64,
    i32 = GRAFT_DTYPE_I32,
    i16 = GRAFT_DTYPE_I16,
    i8 = GRAFT_DTYPE_I8,
    u64 = GRAFT_DTYPE_U64,
    u32 = GRAFT_DTYPE_U32,
    u16 = GRAFT_DTYPE_U16,
    u8 = GRAFT_DTYPE_U8,
}

/// Whether a value of the type may lie there.
pub(crate) fn is_aligned<T>(data: *const T) -> bool {
    data as usize % std::mem::align_of::<T>() == 0
}
