#![no_main]
//! Fuzzes `form_core` with the law `machine_semantics` of its integration tests.

use form_fuzz::laws;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| laws::machine_semantics(bytes));
