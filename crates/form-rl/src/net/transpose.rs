//! Matrices stored row by row, turned into their transposes.

/// Writes rows of that length as columns.
pub(crate) fn transpose(from: &[f32], length: usize, to: &mut [f32]) {
    each_transposed(from, length, to, |from, to| *to = from);
}

/// Adds rows of that length to columns.
pub(crate) fn add_transposed(from: &[f32], length: usize, to: &mut [f32]) {
    each_transposed(from, length, to, |from, to| *to += from);
}

fn each_transposed(from: &[f32], length: usize, to: &mut [f32], with: impl Fn(f32, &mut f32)) {
    let height = from.len() / length;
    // A few rows at a time: what is written is then adjacent, and what is read stays in cache.
    for first in (0..height).step_by(16) {
        let rows = first..(first + 16).min(height);
        for column in 0..length {
            let to = &mut to[column * height..][rows.clone()];
            for (to, row) in to.iter_mut().zip(rows.clone()) {
                with(from[row * length + column], to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let mut to = [0.0; 6];
        transpose(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, &mut to);
        assert_eq!(to, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        add_transposed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, &mut to);
        assert_eq!(to, [2.0, 8.0, 4.0, 10.0, 6.0, 12.0]);
    }
}
