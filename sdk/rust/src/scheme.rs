// SPDX-License-Identifier: Apache-2.0
//! Formats of quantized checkpoints whose codes the host knows (`graft/quant_format.h`).

use std::ffi::CString;
use std::mem::zeroed;
use std::os::raw::c_char;

use crate::describe::{Args, Sink};
use crate::error::{check, Error, Result};
use crate::ffi;
use crate::text::c_string;

/// The weight of a Linear as codes: which tensors it has, and what their numbers mean. A class that describes it is
/// [`Derived`](crate::Derived) from Linear, since the host makes an ordinary weight of it.
pub struct Scheme<'a> {
    raw: ffi::graft_scheme,
    names: Vec<CString>, // of the tensors, for as long as they are described
    args: &'a Args<'a>,
}

impl<'a> Scheme<'a> {
    /// That of a Linear with these arguments, with one scale for each row. Codes are `GRAFT_CODE_...` of [`ffi`], of
    /// so many bits.
    pub fn linear(args: &'a Args<'a>, code: i32, bits: i32) -> Result<Scheme<'a>> {
        if !(1..=8).contains(&bits) {
            return Err(Error::plugin(format!("expected codes of 1 to 8 bits, got {bits}")));
        }
        // What nobody sets is 0.
        let mut raw: ffi::graft_scheme = unsafe { zeroed() };
        check(unsafe { ffi::graft_scheme_of_linear(&mut raw, args.raw, args.path, args.error) })?;
        raw.codec.kind = code;
        raw.codec.bits = bits;
        Ok(Scheme { raw, names: Vec::new(), args })
    }

    /// A scale for each so many inputs, instead of one for each row.
    pub fn groups_of(mut self, inputs: usize) -> Result<Scheme<'a>> {
        self.raw.codec.group_size = match i64::try_from(inputs)? {
            0 => return Err(Error::plugin("a group has at least one input")),
            inputs => inputs,
        };
        Ok(self)
    }

    /// The tensor with codes, [out, in], of integers of 8 bits.
    pub fn codes(mut self, name: &str, dtype: i32) -> Result<Scheme<'a>> {
        let columns = self.raw.codec.columns;
        let name = self.name(name)?;
        unsafe { ffi::graft_scheme_codes(&mut self.raw, name, columns, dtype) };
        Ok(self)
    }

    /// The tensor with scales, [out, groups]; `GRAFT_DTYPE_NONE`: of any float type.
    pub fn scales(mut self, name: &str, dtype: i32) -> Result<Scheme<'a>> {
        let name = self.name(name)?;
        unsafe { ffi::graft_scheme_scales(&mut self.raw, name, dtype) };
        Ok(self)
    }

    /// Declares the Linear.
    pub fn describe(self, sink: &Sink) -> Result<()> {
        check(unsafe { ffi::graft_scheme_describe_linear(&self.raw, self.args.raw, sink.raw, sink.error) })
    }

    /// A name for one more tensor.
    fn name(&mut self, name: &str) -> Result<*const c_char> {
        if self.names.len() == ffi::GRAFT_SCHEME_TENSORS {
            return Err(Error::plugin("a weight has too many tensors"));
        }
        let name = c_string(name);
        let pointer = name.as_ptr(); // of the heap: it stays where it is when the list grows
        self.names.push(name);
        Ok(pointer)
    }
}
