#![no_main]
//! Fuzzes `form_core` with the law `machine_form` of its integration tests.

use form_fuzz::core_laws;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| core_laws::machine_form(bytes));
