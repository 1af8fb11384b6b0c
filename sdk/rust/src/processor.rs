// SPDX-License-Identifier: Apache-2.0
//! Logits processors (`graft/logits_processor.h`): what changes the scores of the next token before one is chosen.

use std::marker::PhantomData;
use std::mem::size_of;
use std::os::raw::{c_int, c_void};
use std::ptr::null;
use std::slice::{from_raw_parts, from_raw_parts_mut};

use crate::error::{guard, guard_silently, Result};
use crate::ffi;
use crate::text::{borrowed, leaked};

const ONLY_LARGEST: u64 = 1; // GRAFT_LOGITS_ONLY_LARGEST, a macro of the header

/// A processor. An instance is the state of a sequence, and its clone that of a beam that parts.
pub trait LogitsProcessor: Clone + Send + 'static {
    /// By which users choose it: letters, digits, '_', '.' and '-'.
    const NAME: &'static str;
    /// One line.
    const DESCRIPTION: &'static str;

    /// Makes the state of a sequence that begins.
    fn create(sequence: &Sequence) -> Result<Self>;

    /// Changes the scores of the next token. The same ids in the same state have to give the same scores, because a
    /// failed step is tried again.
    fn process(&self, args: LogitsArgs) -> Result<()>;

    /// Is called once for each token that the sequence gets after the prompt.
    fn accept(&mut self, _id: i32) -> Result<()> {
        Ok(())
    }
}

/// A sequence that begins.
pub struct Sequence<'a> {
    /// The prompt.
    pub ids: &'a [i32],
    /// How many scores there are.
    pub vocab_size: usize,
    /// Those that end the sequence.
    pub eos_ids: &'a [i32],
    /// What a program asks of the processor for this sequence; empty for nothing.
    pub setting: &'a str,
}

/// The next token of a sequence.
pub struct LogitsArgs<'a> {
    /// Those so far, with the prompt.
    pub ids: &'a [i32],
    /// How many of them are the prompt.
    pub prompt: usize,
    /// [vocab_size]; -∞ forbids a token.
    pub scores: &'a mut [f32],
    /// Nothing but the largest score matters.
    pub only_largest: bool,
}

/// A processor as the host knows it; for [`crate::Plugin::logits_processor`].
#[derive(Clone, Copy)]
pub struct ProcessorRef(pub(crate) *const ffi::graft_logits_processor);

/// An array of the host's, which may be NULL where it has no elements.
unsafe fn slice<'a, T>(data: *const T, count: i64) -> &'a [T] {
    if count == 0 {
        &[]
    } else {
        from_raw_parts(data, count as usize)
    }
}

/// The functions that the host calls for `T`.
struct Calls<T>(PhantomData<T>);

impl<T: LogitsProcessor> Calls<T> {
    unsafe extern "C" fn create(
        sequence: *const ffi::graft_logits_sequence,
        state: *mut *mut c_void,
        error: *mut ffi::graft_error,
    ) -> c_int {
        guard(error, null(), || {
            let sequence = &*sequence;
            let made = T::create(&Sequence {
                ids: slice(sequence.ids, sequence.count),
                vocab_size: sequence.vocab_size as usize,
                eos_ids: slice(sequence.eos_ids, sequence.n_eos_ids),
                setting: borrowed(sequence.setting),
            })?;
            *state = Box::into_raw(Box::new(made)).cast();
            Ok(())
        })
    }

    unsafe extern "C" fn process(
        state: *mut c_void,
        args: *const ffi::graft_logits_args,
        error: *mut ffi::graft_error,
    ) -> c_int {
        guard(error, null(), || {
            let args = &*args;
            (*state.cast::<T>()).process(LogitsArgs {
                ids: slice(args.ids, args.count),
                prompt: args.prompt as usize,
                scores: from_raw_parts_mut(args.scores, args.vocab_size as usize),
                only_largest: args.flags & ONLY_LARGEST != 0,
            })
        })
    }

    unsafe extern "C" fn accept(state: *mut c_void, id: i32, error: *mut ffi::graft_error) -> c_int {
        guard(error, null(), || (*state.cast::<T>()).accept(id))
    }

    unsafe extern "C" fn fork(state: *const c_void, copy: *mut *mut c_void, error: *mut ffi::graft_error) -> c_int {
        guard(error, null(), || {
            *copy = Box::into_raw(Box::new((*state.cast::<T>()).clone())).cast();
            Ok(())
        })
    }

    unsafe extern "C" fn destroy(state: *mut c_void) {
        guard_silently(|| drop(Box::from_raw(state.cast::<T>())));
    }
}

/// The processor `T`.
pub fn logits_processor<T: LogitsProcessor>() -> ProcessorRef {
    ProcessorRef(Box::leak(Box::new(ffi::graft_logits_processor {
        struct_size: size_of::<ffi::graft_logits_processor>() as u32,
        flags: 0,
        interface_id: leaked("graft.logits_processor/1"),
        name: leaked(T::NAME),
        description: leaked(T::DESCRIPTION),
        create: Some(Calls::<T>::create),
        process: Some(Calls::<T>::process),
        accept: Some(Calls::<T>::accept),
        fork: Some(Calls::<T>::fork),
        destroy: Some(Calls::<T>::destroy),
    })))
}
