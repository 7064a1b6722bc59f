//! Arrays that are handed out: copies, which say so. Who writes to one learns that nothing would come of it.

use numpy::ndarray::Dimension;
use numpy::{Element, PyArray, PyArrayMethods};
use pyo3::prelude::*;

/// A new array that cannot be written to: numpy says "assignment destination is read-only".
pub fn read_only<T: Element, D: Dimension>(
    array: Bound<'_, PyArray<T, D>>,
) -> Bound<'_, PyArray<T, D>> {
    array.readwrite().make_nonwriteable();
    array
}
