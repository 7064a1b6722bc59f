#![no_main]
//! Fuzzes `form_core` and `form_formats` with the laws `machine_semantics` of their integration tests.

use form_fuzz::{core_laws, formats};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    core_laws::machine_semantics(bytes);
    formats::machine_semantics(bytes);
});
