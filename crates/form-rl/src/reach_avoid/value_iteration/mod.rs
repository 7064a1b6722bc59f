//! A value iteration network (Tamar et al., 2016; arXiv:1602.02867) for sub-tasks in a grid: values of all poses, improved by one learnt
//! convolution that is repeated until they settle, and the values of the three moving actions.
//!
//! There is a value `V` for each pose, a direction and a cell without a wall. One iteration computes, for each pose and action,
//! `Q = V(pose) + Σ values · (V(neighbour) − V(pose)) + Σ planes · (walls, reach, avoid)(cell) + bias`, and then `V(pose) = min(0, max Q)`.
//! Sums go over the 3 × 3 cells around the agent *as the agent sees them* (ahead, beside, behind), and over all four directions there. These
//! share their weights by rotation, so what is learnt for one direction holds for the others. Adding a constant to all values adds it to all
//! action values: however long the way, the network neither discounts nor explodes.
//!
//! Planes are stored as flat arrays over the cells, in which a neighbour is a fixed distance away: walls go all around a room. Sums run over
//! 16 cells at once, in one order on all processors.
//!
//! `weights` is their order, `grid` a sub-task laid out, `kernel` the convolution; `forward` and `backward` are the two passes, and `settled` ends
//! the iterations.

mod backward;
mod forward;
mod grid;
mod kernel;
mod settled;
mod weights;

pub(crate) use self::backward::backward;
pub(crate) use self::forward::{Forward, Iterations, forward, forward_from};
pub(crate) use self::grid::Grid;
pub(crate) use self::weights::{ACTIONS, BIAS, CRITIC, PLANE, SCALE, TENSORS, VALUES, WEIGHTS};

#[cfg(test)]
mod tests {
    use form_env::{Cell, ReachAvoid, Room, generator};
    use rand::RngExt;

    use super::weights::OUTPUTS;
    use super::*;

    fn sub_task() -> ReachAvoid {
        let rows = ["#######", "#..#..#", "#.....#", "#.#..G#", "#######"];
        let mut cells = ReachAvoid::new(&Room::from_rows(&rows).unwrap());
        cells.ask_for(Cell { x: 5, y: 3 });
        cells.forbid(Cell { x: 3, y: 2 });
        cells
    }

    /// Weights at which no maximum is close to a tie, so that differences are derivatives.
    fn weights() -> Vec<f32> {
        let mut random = generator(3, form_env::Stream::Other(7));
        let mut weights: Vec<f32> = (0..WEIGHTS)
            .map(|_| random.random_range(-0.1..0.1))
            .collect();
        for weight in &mut weights[PLANE] {
            *weight *= 0.05;
        }
        weights[BIAS].copy_from_slice(&[-0.5, -0.6, -0.4]);
        weights
    }

    /// A number that depends on all action values.
    fn objective(weights: &[f32], grid: &Grid, slopes: &[f32], iterations: usize) -> f64 {
        let forward = forward(weights, grid, Iterations::Exactly(iterations), false);
        let pairs = forward.actions.iter().zip(slopes);
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    #[test]
    fn the_gradient_through_all_iterations_is_that_of_finite_differences() {
        let (cells, weights) = (sub_task(), weights());
        let grid = Grid::new(&cells);
        let mut random = generator(4, form_env::Stream::Other(0));
        let mut slopes = vec![0.0; OUTPUTS * grid.stride];
        for cell in (0..cells.walls().len()).filter(|cell| !cells.walls()[*cell]) {
            for output in 0..OUTPUTS {
                slopes[output * grid.stride + cell] = random.random_range(-1.0..1.0);
            }
        }
        for iterations in [0, 1, 2, 7] {
            let forward = forward(&weights, &grid, Iterations::Exactly(iterations), true);
            assert_eq!(forward.iterations, iterations);
            let mut gradient = vec![0.0; WEIGHTS];
            backward(&weights, &grid, &forward, slopes.clone(), &mut gradient);
            let mut checked = 0;
            for place in 0..SCALE {
                let difference = |step: f32| {
                    let mut moved = weights.clone();
                    moved[place] += step;
                    let up = objective(&moved, &grid, &slopes, iterations);
                    moved[place] -= 2.0 * step;
                    (up - objective(&moved, &grid, &slopes, iterations)) / f64::from(2.0 * step)
                };
                // A mark in a plane is 128 times as large as a step.
                let step = if PLANE.contains(&place) { 3e-6 } else { 2e-4 };
                let (small, large) = (difference(step), difference(2.0 * step));
                // Where both disagree, a maximum changed its action.
                if (small - large).abs() > 0.02 * (1.0 + large.abs()) {
                    continue;
                }
                let found = f64::from(gradient[place]);
                let error = (found - small).abs();
                assert!(
                    error < 0.03 * (1.0 + small.abs()),
                    "{iterations} iterations, weight {place}: {found}, not {small}"
                );
                checked += 1;
            }
            assert!(checked > 150, "{iterations} iterations: only {checked}");
        }
    }

    /// Turning the room turns the values.
    #[test]
    fn all_directions_share_their_weights() {
        let turned = |rows: &[&str]| -> Vec<String> {
            let columns = rows[0].len();
            (0..columns)
                .map(|x| {
                    (rows.iter().rev())
                        .map(|row| row.as_bytes()[x] as char)
                        .collect()
                })
                .collect()
        };
        let rows = ["######", "#..#.#", "#...G#", "#.#..#", "######"];
        let upright = Room::from_rows(&rows).unwrap();
        let room = Room::from_rows(&turned(&rows)).unwrap();
        let (mut a, mut b) = (ReachAvoid::new(&upright), ReachAvoid::new(&room));
        a.ask_for(upright.goal());
        b.ask_for(room.goal());
        let weights = weights();
        let (grid_a, grid_b) = (Grid::new(&a), Grid::new(&b));
        let run = |grid: &Grid| forward(&weights, grid, Iterations::Exactly(9), false);
        let (found_a, found_b) = (run(&grid_a), run(&grid_b));
        for (x, y) in (1..5).flat_map(|x| (1..4).map(move |y| (x, y))) {
            let (here, there) = (Cell { x, y }, Cell { x: 4 - y, y: x });
            for direction in 0..4 {
                let place = grid_a.value(a.number(here), direction);
                let turned = grid_b.value(b.number(there), (direction + 1) % 4);
                let (here, there) = (found_a.values[place], found_b.values[turned]);
                assert!((here - there).abs() < 1e-4, "{here} {there}");
            }
        }
    }

    /// Whatever the padding, one more iteration after the values have settled changes nothing that has a way.
    #[test]
    fn more_iterations_than_needed_change_no_settled_value() {
        let weights = crate::reach_avoid::policy::ReachAvoidPolicy::ideal();
        let grid = Grid::new(&sub_task());
        let settled = forward(weights.weights(), &grid, Iterations::UntilSettled, false);
        let more = Iterations::Exactly(settled.iterations + 30);
        let more = forward(weights.weights(), &grid, more, false);
        for (settled, more) in settled.values.iter().zip(&more.values) {
            // Without a way, values fall by 1 per iteration.
            assert!(
                settled == more || *settled == more + 30.0,
                "{settled} {more}"
            );
        }
    }
}
