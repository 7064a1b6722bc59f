//! The same bits, whatever the number of threads and however the samples are arranged into calls.

use form_rl::{Batch, Engine, Network, Outputs};
use rayon::ThreadPoolBuilder;

use crate::samples::{Weighted, numbers, observations, paper, rng, small};

fn with_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    let pool = ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(run)
}

#[test]
fn gradients_and_outputs_do_not_depend_on_the_number_of_threads() {
    let network = Network::new(&paper(), &mut rng(1)).unwrap();
    let samples = 700;
    let (images, vectors) = observations(&network, samples, 2);
    let loss = Weighted::new(&network, samples, 3);
    let batch = Batch::all(&images, &vectors);
    let run = || {
        let mut engine = Engine::new(&network, 1);
        let mut outputs = Outputs::default();
        engine.evaluate(&network, &batch, &mut outputs).unwrap();
        let sum = engine.gradient(&network, &batch, &loss).unwrap();
        (sum.to_bits(), engine.last_gradient().to_vec(), outputs)
    };
    let alone = with_threads(1, run);
    for threads in [2, 3] {
        assert_eq!(alone, with_threads(threads, run), "{threads} threads");
    }
}

#[test]
fn a_room_used_before_gives_the_same_as_a_fresh_one() {
    let network = Network::new(&small(false), &mut rng(1)).unwrap();
    let (images, vectors) = observations(&network, 40, 2);
    let loss = Weighted::new(&network, 40, 3);
    let batch = Batch::some(&images, &vectors, &[3, 1, 39]);
    let mut engine = Engine::new(&network, 1);
    engine.gradient(&network, &batch, &loss).unwrap();
    let fresh = engine.last_gradient().to_vec();
    (engine.gradient(&network, &Batch::all(&images, &vectors), &loss)).unwrap();
    assert_ne!(engine.last_gradient(), fresh);
    engine.gradient(&network, &batch, &loss).unwrap();
    assert_eq!(engine.last_gradient(), fresh);
}

/// Step by step with the state carried over is the same as all at once: what rollouts do and what training does agree.
#[test]
fn a_recurrent_network_says_the_same_step_by_step() {
    let network = Network::new(&small(true), &mut rng(1)).unwrap();
    let (sequences, steps) = (3, 6);
    let (images, vectors) = observations(&network, sequences * steps, 2);
    let starts: Vec<bool> = (0..sequences * steps).map(|place| place % 8 == 2).collect();
    let first = numbers(sequences * network.state(), 3);
    let mut engine = Engine::new(&network, steps);
    let (mut at_once, mut stepwise) = (Outputs::default(), Outputs::default());
    let batch = Batch {
        images: &images,
        vectors: &vectors,
        select: None,
        steps,
        starts: &starts,
        states: &first,
    };
    engine.evaluate(&network, &batch, &mut at_once).unwrap();
    let mut states = first.clone();
    for step in 0..steps {
        let select: Vec<usize> = (0..sequences)
            .map(|sequence| sequence * steps + step)
            .collect();
        let batch = Batch {
            select: Some(&select),
            steps: 1,
            states: &states,
            ..batch
        };
        engine.evaluate(&network, &batch, &mut stepwise).unwrap();
        for (value, place) in stepwise.values.iter().zip(&select) {
            assert!((value - at_once.values[*place]).abs() < 1e-6);
        }
        states.clone_from(&stepwise.states);
    }
    for (state, expected) in states.iter().zip(&at_once.states) {
        assert!((state - expected).abs() < 1e-6);
    }
    assert_ne!(states, first);
}
