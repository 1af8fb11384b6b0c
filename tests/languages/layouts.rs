// SPDX-License-Identifier: Apache-2.0
//! Prints what the crate takes structs and constants to be.

fn main() {
    print!("{}{}", graft::ffi::layouts(), graft::ffi::constants());
}
