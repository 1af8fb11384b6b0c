// SPDX-License-Identifier: Apache-2.0
//! What a forward is given beside its arguments.

use std::ops::Range;
use std::os::raw::c_void;
use std::panic::{self, AssertUnwindSafe};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::Mutex;

use crate::create::Weight;
use crate::error::{check, check_pointer, panic_error, Error, Result};
use crate::ffi;

/// Kernels, threads and scratch memory of one forward (`struct graft_call`).
pub struct Call<'a> {
    pub(crate) raw: &'a ffi::graft_call,
    pub(crate) error: *mut ffi::graft_error,
}

impl<'a> Call<'a> {
    /// Zeroed scratch memory for rows * columns numbers, the host's again when the forward returns.
    pub fn floats(&self, rows: usize, columns: usize) -> Result<&'a mut [f32]> {
        let (n_rows, n_columns) = (i64::try_from(rows)?, i64::try_from(columns)?);
        let floats = unsafe { ffi::graft_scratch_floats(self.raw, n_rows, n_columns, self.error) };
        let floats = check_pointer(floats)?;
        // The host has checked the product, and gives each of its blocks once.
        unsafe {
            floats.write_bytes(0, rows * columns);
            Ok(from_raw_parts_mut(floats, rows * columns))
        }
    }

    /// A weight as f32, of whatever type it is: in scratch memory, the host's again when the forward returns.
    pub fn widened(&self, weight: &Weight) -> Result<&'a [f32]> {
        let floats = unsafe { ffi::graft_scratch_widened(self.raw, weight.raw, self.error) };
        let floats = check_pointer(floats as *mut f32)?;
        Ok(unsafe { from_raw_parts(floats, weight.rows() * weight.columns()) })
    }

    /// y = x W^T (+ bias), x [tokens, columns of the weight], y [tokens, rows of the weight].
    pub fn product(&self, weight: &Weight, bias: Option<&Weight>, x: &[f32], y: &mut [f32]) -> Result<()> {
        let tokens = if weight.columns() == 0 { 0 } else { x.len() / weight.columns() };
        length("x", x, tokens, weight.columns())?;
        length("y", y, tokens, weight.rows())?;
        let product = ffi::graft_product {
            struct_size: std::mem::size_of::<ffi::graft_product>() as u32,
            required_features: 0,
            weight: weight.raw,
            bias: bias.map_or(std::ptr::null(), |bias| bias.raw),
            first_row: 0,
            rows: weight.rows() as i64,
            x: x.as_ptr(),
            x_stride: weight.columns() as i64,
            tokens: tokens as i64,
            y: y.as_mut_ptr(),
            y_stride: weight.rows() as i64,
        };
        let size = std::mem::size_of::<ffi::graft_product>() as u32;
        check(unsafe { ((*self.raw.kernels).linear)(self.raw, &product, 1, size, self.error) })
    }

    /// body(first, rows) for runs of rows of `columns` numbers, at least `grain` rows each, on the host's threads. The
    /// first error or panic of a body is returned; the others still run.
    pub fn for_rows<F>(&self, y: &mut [f32], columns: usize, grain: usize, body: F) -> Result<()>
    where
        F: Fn(usize, &mut [f32]) -> Result<()> + Sync,
    {
        let rows = if columns == 0 { 0 } else { y.len() / columns };
        length("rows", y, rows, columns)?;
        let shared = Rows { y: y.as_mut_ptr(), columns, body: &body, fault: Mutex::new(None) };
        unsafe {
            let data = &shared as *const Rows<F> as *mut c_void;
            ((*self.raw.threads).parallel_for)(rows as i64, grain.max(1) as i64, Rows::<F>::run, data);
        }
        match shared.fault.into_inner() {
            Ok(Some(fault)) => Err(fault),
            _ => Ok(()),
        }
    }
}

struct Rows<'a, F> {
    y: *mut f32,
    columns: usize,
    body: &'a F,
    fault: Mutex<Option<Error>>,
}

impl<'a, F> Rows<'a, F>
where
    F: Fn(usize, &mut [f32]) -> Result<()> + Sync,
{
    /// Runs do not overlap, so each thread has rows of its own.
    unsafe extern "C" fn run(data: *mut c_void, begin: i64, end: i64) {
        let shared = &*(data as *const Rows<F>);
        let Range { start, end } = begin as usize..end as usize;
        let rows = from_raw_parts_mut(shared.y.add(start * shared.columns), (end - start) * shared.columns);
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| (shared.body)(start, rows)));
        let fault = match outcome {
            Ok(Ok(())) => return,
            Ok(Err(fault)) => fault,
            Err(payload) => panic_error(payload.as_ref()),
        };
        if let Ok(mut first) = shared.fault.lock() {
            first.get_or_insert(fault);
        }
    }
}

/// That a slice has rows * columns numbers.
pub(crate) fn length(name: &str, slice: &[f32], rows: usize, columns: usize) -> Result<()> {
    if rows.checked_mul(columns) == Some(slice.len()) {
        Ok(())
    } else {
        Err(Error::plugin(format!("{}: expected {} x {} numbers, got {}", name, rows, columns, slice.len())))
    }
}
