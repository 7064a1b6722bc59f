#![no_main]
//! Fuzzes `form_env` with the law `tasks` of its integration tests.

use form_fuzz::tasks;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tasks::tasks(bytes));
