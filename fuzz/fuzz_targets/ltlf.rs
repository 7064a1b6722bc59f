#![no_main]
//! Fuzzes `form_formats` with the law `ltlf` of its integration tests.

use form_fuzz::formats;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| formats::ltlf(bytes));
