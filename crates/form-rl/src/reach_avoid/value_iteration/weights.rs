//! The weights of the network: how many there are, in which order, and the tensors of their file.

use std::ops::Range;

/// Left, right, forward.
pub(crate) const ACTIONS: usize = 3;
/// Walls, reach, avoid.
pub(super) const PLANES: usize = 3;
pub(super) const DIRECTIONS: usize = 4;
/// The cells around the agent, and its own.
pub(super) const TAPS: usize = 9;
/// A direction and an action.
pub(crate) const OUTPUTS: usize = DIRECTIONS * ACTIONS;
/// The number in a plane where something is: weights of a few units then outweigh ways of hundreds of steps.
pub(super) const MARK: f32 = 128.0;
/// Cells that are computed at once.
pub(super) const LANES: usize = 16;

/// The weights in one array, in this order. Taps are numbered `3 * (ahead + 1) + right + 1`, with `ahead` and `right` from −1 to 1; relative
/// directions count turns to the right.
pub(crate) const VALUES: Range<usize> = 0..ACTIONS * DIRECTIONS * TAPS;
/// By action, plane and tap.
pub(crate) const PLANE: Range<usize> = VALUES.end..VALUES.end + ACTIONS * PLANES * TAPS;
/// By action.
pub(crate) const BIAS: Range<usize> = PLANE.end..PLANE.end + ACTIONS;
/// The logarithm of what action values are multiplied by to give logits.
pub(crate) const SCALE: usize = BIAS.end;
/// Slope and offset of the value's sigmoid.
pub(crate) const CRITIC: Range<usize> = SCALE + 1..SCALE + 3;
/// The number of weights.
pub(crate) const WEIGHTS: usize = CRITIC.end;

/// The tensors of the weights: names, shapes, places.
pub(crate) const TENSORS: [(&str, &[usize], Range<usize>); 5] = [
    ("values.weight", &[ACTIONS, DIRECTIONS, 3, 3], VALUES),
    ("planes.weight", &[ACTIONS, PLANES, 3, 3], PLANE),
    ("bias", &[ACTIONS], BIAS),
    ("log_scale", &[1], SCALE..SCALE + 1),
    ("critic", &[2], CRITIC),
];
