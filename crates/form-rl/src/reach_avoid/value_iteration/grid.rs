//! A sub-task laid out for the network: planes as flat arrays, in which a neighbour is a fixed distance away.

use form_env::ReachAvoid;

use super::weights::{ACTIONS, DIRECTIONS, LANES, MARK, PLANES, TAPS};

/// A sub-task laid out for the network.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// What to add to a cell's number for a neighbour: `3 * (dx + 1) + dy + 1`.
    pub(super) neighbours: [isize; TAPS],
    /// The first cell that is computed, and the number of blocks of [`LANES`].
    first: usize,
    blocks: usize,
    /// The length of a plane: cells, and padding.
    pub(super) stride: usize,
    /// 1 for cells without a wall.
    pub(super) free: Vec<f32>,
    pub(super) planes: Vec<f32>,
}

impl Grid {
    pub(crate) fn new(sub_task: &ReachAvoid) -> Self {
        let (height, cells) = (sub_task.height(), sub_task.walls().len());
        let first = height + 1;
        let blocks = (cells - 2 * first).div_ceil(LANES);
        let stride = first + blocks * LANES + first;
        let mut planes = vec![0.0; PLANES * stride];
        let mut free = vec![0.0; stride];
        for cell in 0..cells {
            let (wall, avoid) = (sub_task.walls()[cell], sub_task.avoid()[cell]);
            // A cell both to reach and to avoid is one to avoid.
            let reach = sub_task.reach()[cell] && !avoid;
            free[cell] = f32::from(u8::from(!wall));
            for (plane, is_there) in [wall, reach, avoid].into_iter().enumerate() {
                planes[plane * stride + cell] = if is_there { MARK } else { 0.0 };
            }
        }
        let column = height as isize;
        let neighbours =
            std::array::from_fn(|n| (n as isize / 3 - 1) * column + (n as isize % 3 - 1));
        Self {
            neighbours,
            first,
            blocks,
            stride,
            free,
            planes,
        }
    }

    /// The number of poses without a wall.
    pub(super) fn poses(&self) -> usize {
        DIRECTIONS * self.free.iter().filter(|free| **free > 0.0).count()
    }

    /// The first cells of all blocks.
    #[inline(always)]
    pub(super) fn starts(&self) -> impl Iterator<Item = usize> + use<> {
        let first = self.first;
        (0..self.blocks).map(move |block| first + block * LANES)
    }

    /// The place of an output (direction and action) of a cell.
    pub(crate) fn output(&self, cell: usize, direction: usize, action: usize) -> usize {
        (direction * ACTIONS + action) * self.stride + cell
    }

    /// The place of the value of a pose.
    pub(crate) fn value(&self, cell: usize, direction: usize) -> usize {
        direction * self.stride + cell
    }

    /// The length of the values of all poses.
    pub(crate) fn values_len(&self) -> usize {
        DIRECTIONS * self.stride
    }
}

/// 16 numbers from here.
#[inline(always)]
pub(super) fn lanes(numbers: &[f32], at: usize) -> [f32; LANES] {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&numbers[at..at + LANES]);
    lanes
}
