//! Tells the linker, where it has to be told, that Python's own symbols come from the interpreter that loads the module.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
