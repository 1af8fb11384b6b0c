// SPDX-License-Identifier: Apache-2.0
//! Strings on their way to C and back.

use std::ffi::{CStr, CString};
use std::os::raw::c_char;

/// For the length of a call. A NUL is nowhere allowed: what is after it is left out.
pub(crate) fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// For good: what descriptors point to stays where it is until the process ends.
pub(crate) fn leaked(text: &str) -> *const c_char {
    c_string(text).into_raw()
}

/// The same of a list that ends with NULL.
pub(crate) fn leaked_list(texts: &[&str]) -> *const *const c_char {
    let mut list: Vec<*const c_char> = texts.iter().map(|text| leaked(text)).collect();
    list.push(std::ptr::null());
    Box::leak(list.into_boxed_slice()).as_ptr()
}

/// The host's strings are UTF-8; of anything else nothing is left. NULL is the empty string.
///
/// # Safety
/// `text` is NULL, or valid and constant for 'a.
pub(crate) unsafe fn borrowed<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    CStr::from_ptr(text).to_str().unwrap_or("")
}
