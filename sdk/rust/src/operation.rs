// SPDX-License-Identifier: Apache-2.0
//! Operations of a plugin's own on weights, such as quantizing (`graft/custom_operation.h`).

use std::borrow::Cow;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ops::Range;
use std::os::raw::{c_int, c_void};
use std::slice::{from_raw_parts, from_raw_parts_mut};

use crate::error::{guard, Error, Result};
use crate::ffi;
use crate::number::{is_aligned, Number};
use crate::text::leaked;

/// What is known of a value before its bytes are.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// `GRAFT_DTYPE_...` of [`ffi`].
    pub dtype: i32,
    pub shape: Vec<i64>,
}

impl Value {
    pub fn new(dtype: i32, shape: &[i64]) -> Value {
        Value { dtype, shape: shape.to_vec() }
    }
}

/// Makes values for a conversion's targets of those that its sources give.
pub trait Operation: 'static {
    /// The name for plans, messages and journals; with [`crate::Plugin::operation`] for patch files, too.
    const NAME: &'static str;
    /// `GRAFT_CUSTOM_...` of [`ffi`].
    const FLAGS: u32 = 0;

    /// Types and shapes of as many outputs as there are targets; an error for inputs that it cannot work on.
    fn infer(inputs: &[Value], outputs: usize) -> Result<Vec<Value>>;

    /// Fills the outputs. With `GRAFT_CUSTOM_ROWS` these rows of them are to be done, and each array begins with the
    /// first; several threads call it at once. Otherwise the arrays are whole.
    fn apply(rows: Range<usize>, from: &[Input], to: &mut [Output]) -> Result<()>;
}

/// One that can be undone, to the bit: then the original layout can be saved.
pub trait Reversible: Operation {
    /// Fills what `apply` was given, from what it made.
    fn reverse(rows: Range<usize>, from: &[Input], to: &mut [Output]) -> Result<()>;
}

/// What is read of a value.
pub struct Input<'a> {
    value: Value,
    data: *const c_void,
    count: usize,
    life: PhantomData<&'a ()>,
}

/// What is to be filled of a value: zeros before.
pub struct Output<'a> {
    value: Value,
    data: *mut c_void,
    count: usize,
    is_zeroed: bool,
    life: PhantomData<&'a mut ()>,
}

impl<'a> Input<'a> {
    /// Type and shape of all of it.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Row-major. Where a file has them at an odd place it is a copy.
    pub fn numbers<T: Number>(&self) -> Result<Cow<'a, [T]>> {
        expect_type::<T>(&self.value)?;
        let data: *const T = self.data.cast();
        unsafe {
            Ok(if self.count == 0 {
                Cow::Owned(Vec::new())
            } else if is_aligned(data) {
                Cow::Borrowed(from_raw_parts(data, self.count))
            } else {
                Cow::Owned((0..self.count).map(|i| data.add(i).read_unaligned()).collect())
            })
        }
    }
}

impl<'a> Output<'a> {
    /// Type and shape of all of it.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Row-major.
    pub fn numbers<T: Number>(&mut self) -> Result<&mut [T]> {
        expect_type::<T>(&self.value)?;
        let data: *mut T = self.data.cast();
        if self.count == 0 {
            return Ok(&mut []);
        }
        if !is_aligned(data) {
            return Err(Error::internal("an output lies at an odd place"));
        }
        unsafe {
            if !self.is_zeroed {
                data.write_bytes(0, self.count);
                self.is_zeroed = true;
            }
            Ok(from_raw_parts_mut(data, self.count))
        }
    }
}

fn expect_type<T: Number>(value: &Value) -> Result<()> {
    if value.dtype == T::DTYPE {
        Ok(())
    } else {
        Err(Error::plugin(format!("a value has type {}, and type {} was asked for", value.dtype, T::DTYPE)))
    }
}

/// An operation as the host knows it: for [`crate::Conversion::custom`] and [`crate::Plugin::operation`].
#[derive(Clone, Copy)]
pub struct OperationRef(pub(crate) *const ffi::graft_custom_operation);

/// One without a way back.
pub fn operation<T: Operation>() -> OperationRef {
    leaked_operation::<T>(None)
}

/// One that can be undone.
pub fn reversible<T: Reversible>() -> OperationRef {
    leaked_operation::<T>(Some(reverse::<T>))
}

type Function = unsafe extern "C" fn(
    *const ffi::graft_custom_operation,
    *const ffi::graft_custom_work,
    *mut ffi::graft_error,
) -> c_int;

fn leaked_operation<T: Operation>(reverse: Option<Function>) -> OperationRef {
    OperationRef(Box::leak(Box::new(ffi::graft_custom_operation {
        struct_size: size_of::<ffi::graft_custom_operation>() as u32,
        flags: T::FLAGS,
        name: leaked(T::NAME),
        data: std::ptr::null(),
        infer: infer::<T>,
        apply: apply::<T>,
        reverse,
    })))
}

/// The host's structs, one after the other with a stride.
unsafe fn values(infos: *const ffi::graft_value_info, stride: u32, count: i32) -> Vec<Value> {
    (0..count as usize)
        .map(|i| {
            let info = &*infos.cast::<u8>().add(i * stride as usize).cast::<ffi::graft_value_info>();
            Value::new(info.dtype, &info.shape[..info.rank as usize])
        })
        .collect()
}

unsafe extern "C" fn infer<T: Operation>(
    own: *const ffi::graft_custom_operation,
    shapes: *const ffi::graft_custom_shapes,
    error: *mut ffi::graft_error,
) -> c_int {
    guard(error, (*own).name, || {
        let shapes = &*shapes;
        let made = T::infer(&values(shapes.inputs, shapes.info_stride, shapes.n_inputs), shapes.n_outputs as usize)?;
        if made.len() != shapes.n_outputs as usize {
            return Err(Error::plugin(format!("{} targets, and infer gave {} values", shapes.n_outputs, made.len())));
        }
        for (i, value) in made.iter().enumerate() {
            let at =
                &mut *shapes.outputs.cast::<u8>().add(i * shapes.info_stride as usize).cast::<ffi::graft_value_info>();
            if value.shape.is_empty() || value.shape.len() > ffi::GRAFT_MAX_RANK {
                return Err(Error::plugin(format!("infer gave a value of {} dimensions", value.shape.len())));
            }
            at.dtype = value.dtype;
            at.rank = value.shape.len() as i32;
            at.shape[..value.shape.len()].copy_from_slice(&value.shape);
        }
        Ok(())
    })
}

/// How many elements of a value are in the work: of all its rows, or of those that are to be done.
fn elements(value: &Value, rows: Option<usize>) -> usize {
    let of_a_row: i64 = value.shape[1..].iter().product();
    of_a_row as usize * rows.unwrap_or(value.shape[0] as usize)
}

unsafe fn run(
    own: &ffi::graft_custom_operation,
    work: &ffi::graft_custom_work,
    backwards: bool,
    body: fn(Range<usize>, &[Input], &mut [Output]) -> Result<()>,
) -> Result<()> {
    let inputs = values(work.inputs, work.info_stride, work.n_inputs);
    let outputs = values(work.outputs, work.info_stride, work.n_outputs);
    let (read, filled) = if backwards { (outputs, inputs) } else { (inputs, outputs) };
    let rows = work.begin as usize..work.end as usize;
    let some = if own.flags & ffi::GRAFT_CUSTOM_ROWS != 0 { Some(rows.len()) } else { None };
    let from: Vec<_> = read
        .into_iter()
        .enumerate()
        .map(|(i, value)| {
            let count = elements(&value, some);
            Input { value, data: *work.from.add(i), count, life: PhantomData }
        })
        .collect();
    let mut to: Vec<_> = filled
        .into_iter()
        .enumerate()
        .map(|(i, value)| {
            let count = elements(&value, some);
            Output { value, data: *work.to.add(i), count, is_zeroed: false, life: PhantomData }
        })
        .collect();
    body(rows, &from, &mut to)
}

unsafe extern "C" fn apply<T: Operation>(
    own: *const ffi::graft_custom_operation,
    work: *const ffi::graft_custom_work,
    error: *mut ffi::graft_error,
) -> c_int {
    guard(error, (*own).name, || run(&*own, &*work, false, T::apply))
}

unsafe extern "C" fn reverse<T: Reversible>(
    own: *const ffi::graft_custom_operation,
    work: *const ffi::graft_custom_work,
    error: *mut ffi::graft_error,
) -> c_int {
    guard(error, (*own).name, || run(&*own, &*work, true, T::reverse))
}
