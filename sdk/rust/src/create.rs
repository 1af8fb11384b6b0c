// SPDX-License-Identifier: Apache-2.0
//! What `create` is given: children, and weights.

use std::marker::PhantomData;
use std::ptr::null;

use crate::describe::{Args, Config};
use crate::error::{check, Error, Result};
use crate::ffi;
use crate::modules::{ActivationModule, LinearModule, MlpModule, NormModule, SelfAttentionModule};
use crate::number::{is_aligned, Number};
use crate::text::{borrowed, c_string};

/// What an instance is made of (`struct graft_build`).
pub struct Build<'a> {
    pub(crate) raw: &'a ffi::graft_build,
    pub(crate) error: *mut ffi::graft_error,
}

impl<'a> Build<'a> {
    /// The module's path: "model.layers.0.mlp".
    pub fn path(&self) -> &'a str {
        unsafe { borrowed(self.raw.path) }
    }

    /// What `describe` was given.
    pub fn args(&self) -> Args<'a> {
        self.args_of(self.raw.args)
    }

    pub fn config(&self) -> Config<'a> {
        Config { raw: unsafe { &*self.raw.config }, error: self.error }
    }

    /// A child that was described as a Linear.
    pub fn linear(&self, name: &str) -> Result<LinearModule> {
        let (module, args) = self.child(name)?;
        LinearModule::new(module, &args)
    }

    /// The same of one that may not have been described.
    pub fn find_linear(&self, name: &str) -> Result<Option<LinearModule>> {
        let module = unsafe { (self.raw.child)(self.raw.data, c_string(name).as_ptr()) };
        if module.is_null() {
            return Ok(None);
        }
        self.linear(name).map(Some)
    }

    /// A child that was described as an activation.
    pub fn activation(&self, name: &str) -> Result<ActivationModule> {
        Ok(ActivationModule::new(self.child(name)?.0))
    }

    /// A child that was described as a norm.
    pub fn norm(&self, name: &str) -> Result<NormModule> {
        let (module, args) = self.child(name)?;
        NormModule::new(module, &args)
    }

    /// A child that was described as an MLP.
    pub fn mlp(&self, name: &str) -> Result<MlpModule> {
        let (module, args) = self.child(name)?;
        MlpModule::new(module, &args)
    }

    /// The Linear that this one wraps: of a class with `GRAFT_CLASS_CALLS_SUPER`.
    pub fn super_linear(&self) -> Result<LinearModule> {
        LinearModule::new(self.super_module()?, &self.args())
    }

    /// The MLP that this one wraps.
    pub fn super_mlp(&self) -> Result<MlpModule> {
        MlpModule::new(self.super_module()?, &self.args())
    }

    /// The norm that this one wraps.
    pub fn super_norm(&self) -> Result<NormModule> {
        NormModule::new(self.super_module()?, &self.args())
    }

    /// The activation that this one wraps.
    pub fn super_activation(&self) -> Result<ActivationModule> {
        Ok(ActivationModule::new(self.super_module()?))
    }

    /// The attention that this one wraps.
    pub fn super_self_attention(&self) -> Result<SelfAttentionModule> {
        Ok(SelfAttentionModule::new(self.super_module()?))
    }

    /// A parameter that was described.
    pub fn weight(&self, name: &str) -> Result<Weight> {
        let raw = unsafe { ffi::graft_build_weight(self.raw, c_string(name).as_ptr(), self.error) };
        check(unsafe { (*self.error).code }).map(|()| Weight { raw })
    }

    /// The same of one that may be absent.
    pub fn find_weight(&self, name: &str) -> Option<Weight> {
        let raw = unsafe { (self.raw.weight)(self.raw.data, c_string(name).as_ptr()) };
        (!raw.is_null()).then(|| Weight { raw })
    }

    fn super_module(&self) -> Result<*const ffi::graft_module> {
        if self.raw.super_.is_null() {
            Err(Error::plugin("the class wraps none: GRAFT_CLASS_CALLS_SUPER is not among its FLAGS"))
        } else {
            Ok(self.raw.super_)
        }
    }

    fn child(&self, name: &str) -> Result<(*const ffi::graft_module, Args<'a>)> {
        let name = c_string(name);
        unsafe {
            let module = ffi::graft_build_child(self.raw, name.as_ptr(), self.error);
            check((*self.error).code)?;
            Ok((module, self.args_of((self.raw.child_args)(self.raw.data, name.as_ptr()))))
        }
    }

    fn args_of(&self, raw: *const ffi::graft_args) -> Args<'a> {
        Args { raw, path: self.raw.path, error: self.error, life: PhantomData }
    }
}

/// A parameter: a matrix of rows over row blocks (`graft/tensor.h`).
pub struct Weight {
    pub(crate) raw: *const ffi::graft_weight,
}

// The host's, which nobody writes to.
unsafe impl Send for Weight {}
unsafe impl Sync for Weight {}

impl Weight {
    /// The product of all dimensions but the last; of a vector its length.
    pub fn rows(&self) -> usize {
        unsafe { (*self.raw).rows as usize }
    }

    /// The last dimension; of a vector 1.
    pub fn columns(&self) -> usize {
        unsafe { (*self.raw).columns as usize }
    }

    /// Its numbers, where they lie in one block of that type: what a custom operation made, or what was described as
    /// `GRAFT_PARAMETER_CONTIGUOUS` and is of that type in the file.
    pub fn numbers<T: Number>(&self) -> Option<&[T]> {
        unsafe {
            let weight = &*self.raw;
            let block = weight.blocks;
            if weight.n_blocks != 1 || (*block).dtype != T::DTYPE || !is_aligned::<T>((*block).data.cast()) {
                return None;
            }
            Some(std::slice::from_raw_parts((*block).data.cast(), self.rows() * self.columns()))
        }
    }
}

/// What `describe` kept, or nothing.
pub(crate) unsafe fn kept<T>(build: &ffi::graft_build) -> Result<&T> {
    if std::mem::size_of::<T>() == 0 {
        return Ok(&*std::ptr::NonNull::dangling().as_ptr());
    }
    if build.kept == null() {
        return Err(Error::internal("what `describe` found is gone"));
    }
    Ok(&*build.kept.cast())
}
