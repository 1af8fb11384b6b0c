// SPDX-License-Identifier: Apache-2.0
//! Errors, and the boundary that none of them crosses in another form than the ABI's.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Display;
use std::os::raw::{c_char, c_int};
use std::panic::{self, AssertUnwindSafe};
use std::ptr::null;

use crate::ffi;
use crate::text::c_string;

/// Why something failed: a status, which is the program's exit status, and one line. `?` makes one of every
/// `std::error::Error`, as a fault of the plugin.
#[derive(Debug)]
pub struct Error {
    status: c_int,
    message: Option<String>, // None: a function of the host has recorded it
    source: Option<String>,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A fault of the plugin, or of who uses its class.
    pub fn plugin(message: impl Display) -> Error {
        Error::new(ffi::GRAFT_ERROR_PLUGIN, message)
    }

    /// A fault of an option or argument of the user's.
    pub fn usage(message: impl Display) -> Error {
        Error::new(ffi::GRAFT_ERROR_USAGE, message)
    }

    /// A fault of a file of the model.
    pub fn model(message: impl Display) -> Error {
        Error::new(ffi::GRAFT_ERROR_MODEL, message)
    }

    /// Memory that ran out, or a promise of the plugin's own that it broke.
    pub fn internal(message: impl Display) -> Error {
        Error::new(ffi::GRAFT_ERROR_INTERNAL, message)
    }

    /// What is at fault, instead of the module: a file, a tensor.
    pub fn at(mut self, source: impl Display) -> Error {
        self.source = Some(source.to_string());
        self
    }

    fn new(status: c_int, message: impl Display) -> Error {
        Error { status, message: Some(message.to_string()), source: None }
    }

    /// Records it and returns its status.
    unsafe fn record(&self, error: *mut ffi::graft_error, source: *const c_char) -> c_int {
        if let Some(message) = &self.message {
            let message = c_string(message);
            let own = self.source.as_deref().map(c_string);
            let source = own.as_ref().map_or(source, |own| own.as_ptr());
            ffi::graft_error_set(error, self.status, source, b"%s\0".as_ptr().cast(), message.as_ptr());
        }
        self.status
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Error {
        Error::plugin(error)
    }
}

/// The status of a function that records its errors itself.
pub(crate) fn check(status: c_int) -> Result<()> {
    if status == ffi::GRAFT_OK {
        Ok(())
    } else {
        Err(Error { status, message: None, source: None })
    }
}

/// A pointer that such a function gave, which is NULL where it failed.
pub(crate) fn check_pointer<T>(pointer: *mut T) -> Result<*mut T> {
    check(if pointer.is_null() { ffi::GRAFT_ERROR_INTERNAL } else { ffi::GRAFT_OK }).map(|()| pointer)
}

thread_local! {
    static PLACE: RefCell<String> = RefCell::new(String::new());
}

/// Panics of this plugin print nothing from here on: they become errors. (Each plugin has a standard library of its
/// own, and so a hook of its own.)
pub(crate) fn catch_panics() {
    panic::set_hook(Box::new(|information| {
        let place = information.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        let _ = PLACE.try_with(|last| *last.borrow_mut() = place.unwrap_or_default());
    }));
}

pub(crate) fn panic_error(payload: &(dyn Any + Send)) -> Error {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let place = PLACE.try_with(|last| last.borrow().clone()).unwrap_or_default();
    Error::plugin(format!("panic: {}{}", text.as_deref().unwrap_or("of unknown cause"), place))
}

/// Runs `body` and returns the status.
///
/// # Safety
/// `error` and `source` are NULL or valid.
pub(crate) unsafe fn guard(
    error: *mut ffi::graft_error,
    source: *const c_char,
    body: impl FnOnce() -> Result<()>,
) -> c_int {
    match panic::catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => ffi::GRAFT_OK,
        Ok(Err(fault)) => fault.record(error, source),
        Err(payload) => panic_error(payload.as_ref()).record(error, source),
    }
}

/// The same of a function that returns nothing and so cannot fail.
pub(crate) unsafe fn guard_silently(body: impl FnOnce()) {
    let _ = guard(std::ptr::null_mut(), null(), || {
        body();
        Ok(())
    });
}
