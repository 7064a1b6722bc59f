//! The rules of the game, in corridors where every number can be worked out by hand.

use form_core::{Kind, Machine};
use form_env::{Copies, EpisodeOutcome, Worlds};
use form_rl::{
    AgentAssignment, Architecture, AssignmentMode, Choice, Credit, EndPotential, Episode, Error,
    Game, GameConfig, PlayConfig, Player, PpoConfig, ProgressEncoding, WrongLabels, greedy,
    nothing_known,
};

use crate::corridor::{Corridor, Method, agents, key_then_door, training};
use crate::samples::rng;
use crate::threads::with_threads;

fn game_of(
    machine: &str,
    corridor: &Corridor,
    config: GameConfig,
) -> Result<Game<Copies<Corridor>>, Error> {
    let worlds = Copies::new(vec![corridor.clone(); 4], 7).unwrap();
    let machine: Machine = machine.parse().unwrap();
    let machine = machine.bind(worlds.signature()).unwrap();
    let assignment = AgentAssignment::new(
        machine,
        AssignmentMode::PerState,
        ProgressEncoding::Bits,
        worlds.spec(),
    );
    Game::new(worlds, assignment, config, 0)
}

fn shared() -> GameConfig {
    GameConfig {
        credit: Credit::Shared,
        shaping: true,
        gamma: 0.9,
        end: EndPotential::Zero,
    }
}

fn per_state() -> Method {
    Method {
        roles: AssignmentMode::PerState,
        credit: Credit::Shared,
        shaping: true,
        memory: 0,
    }
}

#[test]
fn a_potential_is_the_share_of_the_way_that_is_done() {
    let machine: Machine = "initial u0\naccept acc\nreject rej\n\
        u0 -> u1 : a\nu1 -> u2 : a\nu2 -> acc : a\nu0 -> trap : b\nu2 -> rej : b\nu1 -> u0 : b\nu2 -> u0 : c\n\
        trap -> rej : a"
        .parse()
        .unwrap();
    let signature = form_core::Signature::parse(["a", "b", "c"]).unwrap();
    let machine = machine.bind(&signature).unwrap();
    let spec = form_env::Spec::default();
    let assignment = AgentAssignment::new(
        machine,
        AssignmentMode::PerState,
        ProgressEncoding::Bits,
        &spec,
    );
    let potential = |name: &str| {
        let state = assignment.machine().state(name).unwrap();
        assignment.potential(state)
    };
    // Six states.
    for (name, expected) in [
        ("acc", 6.0 / 6.0),
        ("u2", 5.0 / 6.0),
        ("u1", 4.0 / 6.0),
        ("u0", 3.0 / 6.0),
        ("trap", 0.0),
        ("rej", 0.0),
    ] {
        assert_eq!(potential(name), expected, "{name}");
    }
    assert!(assignment.can_accept());
    let nothing = nothing_known(form_core::StepMode::Changes)
        .unwrap()
        .bind(&signature)
        .unwrap();
    assert!(
        !AgentAssignment::new(
            nothing,
            AssignmentMode::PerState,
            ProgressEncoding::Bits,
            &spec
        )
        .can_accept()
    );
}

/// All that an episode earned, from how often its machine stood still and where it moved.
fn expected(episode: &Episode, corridor: &Corridor, gamma: f64) -> f64 {
    // Three states: 1/3 without the key, 2/3 with it, 1 stands for the open door.
    let (mut at, mut potential, mut earned) = (corridor.start, 1.0 / 3.0, 0.0);
    for action in &episode.actions {
        at = match action {
            0 => at.saturating_sub(1),
            _ => (at + 1).min(corridor.length - 1),
        };
        let next = match () {
            () if potential < 0.5 && at == 0 => 2.0 / 3.0,
            () if potential > 0.5 && at == corridor.length - 1 => 1.0,
            () => potential,
        };
        // Acceptance is a true end: nothing is left of the potential (Ng, Harada, Russell 1999).
        earned += match next == 1.0 {
            true => 1.0 - potential,
            false => gamma * next - potential,
        };
        potential = next;
    }
    earned
}

#[test]
fn shaping_is_added_to_every_step() {
    let corridor = Corridor::locked();
    for gamma in [0.9, 1.0] {
        let config = GameConfig { gamma, ..shared() };
        let mut game = game_of(&key_then_door().to_string(), &corridor, config).unwrap();
        let mut agents = agents(&game, &per_state().architecture(), 1);
        let (mut random, training) = (rng(2), training());
        let collected = game
            .collect(&mut agents, 300, &training, &mut random)
            .unwrap();
        let (mut won, mut lost) = (0, 0);
        for episode in &collected.episodes {
            let expected = expected(episode, &corridor, f64::from(gamma));
            assert!(
                (episode.total_reward - expected).abs() < 1e-5,
                "{episode:?}"
            );
            won += usize::from(episode.is_success());
            lost += usize::from(!episode.is_success());
            if gamma == 1.0 && episode.is_success() {
                // The potentials in between cancel out.
                assert!((episode.total_reward - (1.0 - 1.0 / 3.0)).abs() < 1e-5);
            }
        }
        assert!(won > 5 && lost > 5);
    }
}

/// Explores with a wrong machine; every episode must be refuted, by a trace that the machine disagrees with.
fn refuted(machine: &str, corridor: &Corridor) -> Vec<Episode> {
    let text = format!("initial u0\naccept u_acc\nreject u_rej\n{machine}");
    let mut game = game_of(&text, corridor, shared()).unwrap();
    let mut agents = agents(&game, &per_state().architecture(), 1);
    let explored = game.explore(300, usize::MAX, &mut rng(3)).unwrap();
    let collected = game
        .collect(&mut agents, 300, &training(), &mut rng(3))
        .unwrap();
    let mut refuted = Vec::new();
    for episode in explored.into_iter().chain(collected.episodes) {
        if let Some(trace) = &episode.counterexample {
            let disagreement = trace.disagreement(game.assignment().bound_machine());
            assert!(disagreement.is_some(), "{episode:?}");
            assert_eq!(trace.kind(), episode.outcome.kind());
            refuted.push(episode);
        } else {
            assert_eq!(episode.outcome, EpisodeOutcome::OutOfTime);
        }
    }
    assert!(refuted.len() > 10);
    refuted
}

#[test]
fn a_machine_that_accepts_too_early_is_refuted() {
    // The key alone is not the goal.
    for episode in refuted("u0 -> u_acc : key", &Corridor::locked()) {
        assert_eq!(episode.outcome.kind(), Kind::Incomplete);
        assert!(episode.steps() >= 2);
        assert_eq!(episode.actions.last(), Some(&0));
    }
}

#[test]
fn a_machine_that_rejects_wrongly_is_refuted() {
    for episode in refuted("u0 -> u_rej : door\nu0 -> u_acc : key", &Corridor::locked()) {
        assert_eq!(episode.outcome.kind(), Kind::Incomplete);
    }
}

#[test]
fn a_machine_that_does_not_notice_the_goal_is_refuted() {
    for episode in refuted(
        "u0 -> u1 : key\nu1 -> u_acc : door and key",
        &Corridor::locked(),
    ) {
        assert_eq!(episode.outcome, EpisodeOutcome::Goal);
    }
}

#[test]
fn a_goal_mistaken_for_a_dead_end_is_refuted() {
    for episode in refuted("u0 -> u1 : key\nu1 -> u_rej : door", &Corridor::locked()) {
        assert_eq!(episode.outcome, EpisodeOutcome::Goal);
    }
}

#[test]
fn the_observation_at_reset_counts() {
    // Episodes start at the key: the machine is at its end before anything was done, and one step shows that it is wrong.
    let at_the_key = Corridor::new(2, 0, false, 5);
    for episode in refuted("u0 -> u_acc : key", &at_the_key) {
        assert_eq!(episode.steps(), 1);
        let trace = episode.counterexample.unwrap();
        let observed = match episode.outcome {
            EpisodeOutcome::Goal => 2,
            _ => 1,
        };
        assert_eq!(trace.steps().len(), observed);
    }
    // And a right one has the key from the start.
    let mut game = game_of(&key_then_door().to_string(), &at_the_key, shared()).unwrap();
    for episode in game.explore(50, usize::MAX, &mut rng(1)).unwrap() {
        assert_eq!(episode.counterexample, None);
    }
}

/// Where labels may be wrong, the world alone ends episodes: their traces are whole, a machine that is wrong is so all the same, and
/// nothing is learnt from what follows its mistake.
#[test]
fn a_machine_that_may_be_right_begins_anew() {
    let machine = "initial u0\naccept u_acc\nu0 -> u_acc : key";
    let play = |restart| {
        let game = game_of(machine, &Corridor::locked(), shared()).unwrap();
        let mut game = game.with_wrong_labels(WrongLabels {
            noise: None,
            restart,
        });
        let mut agents = agents(&game, &per_state().architecture(), 1);
        let training = training();
        (game.collect(&mut agents, 300, &training, &mut rng(3))).unwrap()
    };
    let (cut, whole) = (play(false), play(true));
    let refuted = |episode: &&Episode| episode.counterexample.is_some();
    assert!(
        cut.episodes
            .iter()
            .any(|one| refuted(&one) && !one.is_success())
    );
    assert!(whole.episodes.iter().filter(refuted).count() > 5);
    let game = game_of(machine, &Corridor::locked(), shared()).unwrap();
    let machine = game.assignment().bound_machine();
    for episode in &whole.episodes {
        assert_ne!(episode.outcome, EpisodeOutcome::Running);
        let trace = episode.trace.as_ref().unwrap();
        assert_eq!(trace.kind(), episode.outcome.kind());
        let misjudged = trace.disagreement(machine).is_some();
        assert_eq!(episode.counterexample.is_some(), misjudged);
    }
    assert!(
        whole
            .episodes
            .iter()
            .any(|one| refuted(&one) && one.is_success())
    );
    assert!(whole.experience[0].len() < cut.experience[0].len());
}

/// A walk that is given up is incomplete, and the next one begins.
#[test]
fn walks_are_given_up() {
    let mut game = game_of(&key_then_door().to_string(), &Corridor::locked(), shared()).unwrap();
    let episodes = game.explore(300, 3, &mut rng(1)).unwrap();
    assert!(episodes.iter().all(|one| one.steps() <= 3));
    assert!(episodes.len() >= 400);
    let given_up = |one: &&Episode| one.outcome == EpisodeOutcome::Running;
    for episode in episodes.iter().filter(given_up) {
        assert_eq!(episode.trace.as_ref().unwrap().kind(), Kind::Incomplete);
        assert_eq!(episode.counterexample, None);
    }
}

/// Who knows of no machine cannot be refuted.
#[test]
fn plain_agents_find_no_counterexamples() {
    let mut game = Method::plain().game(&Corridor::new(5, 2, false, 10), 4);
    let episodes = game.explore(200, usize::MAX, &mut rng(1)).unwrap();
    assert!(episodes.iter().any(Episode::is_success));
    assert!(episodes.iter().all(|one| one.counterexample.is_none()));
}

#[test]
fn exactly_the_episodes_that_were_asked_for_are_played() {
    let method = per_state();
    for choice in [Choice::Sample, Choice::Greedy] {
        let mut game = method.game(&Corridor::locked(), 5);
        let mut agents = agents(&game, &method.architecture(), 1);
        let mut play = |episodes| {
            let config = PlayConfig {
                episodes,
                choice,
                seed: 1,
            };
            game.play(&mut agents, config).unwrap()
        };
        assert_eq!(play(0), []);
        let mut first = play(3);
        first.sort_by_key(|episode| (episode.world, episode.number));
        let numbers: Vec<(usize, u64)> = (first.iter())
            .map(|episode| (episode.world, episode.number))
            .collect();
        let expected: Vec<(usize, u64)> = (0..5)
            .flat_map(|world| (0..3).map(move |number| (world, number)))
            .collect();
        assert_eq!(numbers, expected);
        // The next ones are others.
        assert!(
            play(2)
                .iter()
                .all(|episode| (3..5).contains(&episode.number))
        );
    }
}

#[test]
fn playing_is_deterministic_and_greedy_play_takes_no_chances() {
    let method = per_state();
    let play = |choice, seed| {
        let mut game = method.game(&Corridor::locked(), 5);
        let mut agents = agents(&game, &method.architecture(), 1);
        let config = PlayConfig {
            episodes: 3,
            choice,
            seed,
        };
        game.play(&mut agents, config).unwrap()
    };
    assert_eq!(play(Choice::Sample, 1), play(Choice::Sample, 1));
    assert_ne!(play(Choice::Sample, 1), play(Choice::Sample, 2));
    assert_eq!(play(Choice::Greedy, 1), play(Choice::Greedy, 2));
}

/// Worlds are divided among more parts where there are more threads: all that is collected, explored or played is the same.
#[test]
fn parts_change_nothing() {
    let method = per_state();
    let run = || {
        let mut game = method.game(&Corridor::locked(), 11);
        let mut agents = agents(&game, &method.architecture(), 1);
        let (mut random, mut seen) = (rng(5), Vec::new());
        for _ in 0..3 {
            let training = PpoConfig::default();
            let collected = game.collect(&mut agents, 16, &training, &mut random);
            let collected = collected.unwrap();
            seen.push((collected.episodes, collected.experience));
            seen.push((game.explore(9, 5, &mut random).unwrap(), Vec::new()));
        }
        let config = PlayConfig {
            episodes: 3,
            choice: Choice::Sample,
            seed: 1,
        };
        seen.push((game.play(&mut agents, config).unwrap(), Vec::new()));
        seen
    };
    let alone = with_threads(1, run);
    assert!(alone.iter().all(|(episodes, _)| !episodes.is_empty()));
    for threads in [2, 3, 5, 16] {
        assert_eq!(alone, with_threads(threads, run), "{threads} threads");
    }
}

/// An episode is the same whatever is played beside it: two policies can be compared on the same draws.
#[test]
fn an_episode_does_not_depend_on_the_others() {
    let method = per_state();
    for choice in [Choice::Sample, Choice::Uniform] {
        let config = PlayConfig {
            episodes: 2,
            choice,
            seed: 3,
        };
        let play = |worlds| {
            let mut game = method.game(&Corridor::locked(), worlds);
            let mut agents = agents(&game, &method.architecture(), 1);
            let mut played = game.play(&mut agents, config).unwrap();
            played.sort_by_key(|episode| (episode.world, episode.number));
            played
        };
        let (few, many) = (play(3), play(40));
        assert_eq!(few[..], many[..few.len()], "{choice:?}");
    }
}

/// From the middle of three cells, with one step and the door at one end: every policy that takes the most probable action wins always
/// or never, and random play wins half of the episodes.
#[test]
fn uniform_play_ignores_the_policies() {
    let corridor = Corridor::new(3, 1, false, 1);
    let method = Method::plain();
    let mut game = method.game(&corridor, 2000);
    let mut agents = agents(&game, &method.architecture(), 1);
    let mut rate = |choice| {
        let config = PlayConfig {
            episodes: 1,
            choice,
            seed: 5,
        };
        let played = game.play(&mut agents, config).unwrap();
        played.iter().filter(|one| one.is_success()).count() as f64 / played.len() as f64
    };
    let (greedy, uniform) = (rate(Choice::Greedy), rate(Choice::Uniform));
    assert!(greedy == 0.0 || greedy == 1.0, "{greedy}");
    assert!((uniform - 0.5).abs() < 0.05, "{uniform}");
}

#[test]
fn playing_stops_when_it_is_told_to() {
    for threads in [1, 3] {
        with_threads(threads, || stop_playing(threads));
    }
}

fn stop_playing(threads: usize) {
    let method = per_state();
    let mut game = method.game(&Corridor::locked(), 5);
    let mut agents = agents(&game, &method.architecture(), 1);
    let config = PlayConfig {
        episodes: 3,
        choice: Choice::Uniform,
        seed: 1,
    };
    let whole = game.play(&mut agents, config).unwrap();
    let mut game = method.game(&Corridor::locked(), 5);
    let mut asked = Vec::new();
    let some = game
        .play_while(&mut agents, config, |progress| {
            asked.push(progress);
            progress.steps < 20
        })
        .unwrap();
    let (first, last) = (asked[0], asked[asked.len() - 1]);
    assert_eq!((first.steps, first.episodes, first.of), (0, 0, 15));
    assert!((20..25).contains(&last.steps), "{last:?}");
    let (over, running): (Vec<&Episode>, Vec<&Episode>) =
        (some.iter()).partition(|one| one.outcome.is_over());
    assert!(over.iter().all(|one| whole.contains(one)));
    // On more threads, other parts of the worlds may have been in the middle of a step, or even at their end.
    if threads == 1 {
        assert_eq!(over.len(), last.episodes);
        assert!(!running.is_empty());
    }
    assert!((last.episodes..=last.episodes + 5).contains(&over.len()));
    // Those that were going on are the beginnings of what they would have been.
    for one in running {
        let same = |other: &&Episode| (other.world, other.number) == (one.world, one.number);
        let other = whole.iter().find(same).unwrap();
        assert!(other.actions.starts_with(&one.actions) && one.counterexample.is_none());
    }
    let steps: usize = some.iter().map(Episode::steps).sum();
    assert_eq!(steps as u64, last.steps);
    assert_eq!(game.play(&mut agents, config).unwrap().len(), 15);
}

/// Whole episodes, even if a game stands in the middle of them; and what is collected afterwards is not about them.
#[test]
fn playing_in_the_middle_of_a_game_begins_with_new_episodes() {
    for credit in [Credit::Shared, Credit::HandOver] {
        let method = Method {
            credit,
            ..per_state()
        };
        let mut game = method.game(&Corridor::locked(), 5);
        let mut agents = agents(&game, &method.architecture(), 1);
        let mut random = rng(1);
        game.collect(&mut agents, 3, &training(), &mut random)
            .unwrap();
        let config = PlayConfig {
            episodes: 2,
            choice: Choice::Sample,
            seed: 1,
        };
        let played = game.play(&mut agents, config).unwrap();
        assert_eq!(played.len(), 10);
        assert!(played.iter().all(|one| (1..3).contains(&one.number)));
        // Shorter than it takes to win: too few steps for anything but open trajectories.
        let collected = game
            .collect(&mut agents, 2, &training(), &mut random)
            .unwrap();
        let samples: usize = collected
            .experience
            .iter()
            .map(form_rl::Experience::len)
            .sum();
        let waiting = 10 - samples;
        assert!(waiting <= 5, "{samples} samples of 10 steps");
    }
}

#[test]
fn rules_by_which_nobody_can_play_are_refused() {
    let machine = key_then_door().to_string();
    let unshaped = GameConfig {
        credit: Credit::HandOver,
        shaping: false,
        gamma: 0.9,
        end: EndPotential::Zero,
    };
    let error = game_of(&machine, &Corridor::locked(), unshaped.clone());
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("credit = hand-over")
    );
    // One agent alone may be rewarded without shaping, until others join it.
    let alone = "initial u0\naccept u_acc\nu0 -> u_acc : door";
    let mut game = game_of(alone, &Corridor::locked(), unshaped).unwrap();
    let bound = key_then_door().bind(game.worlds().signature()).unwrap();
    let assignment = AgentAssignment::new(
        bound,
        AssignmentMode::PerState,
        ProgressEncoding::Bits,
        game.worlds().spec(),
    );
    assert!(game.reassign(assignment).is_err());
    assert_eq!(game.assignment().roles().len(), 1);
}

#[test]
fn agents_that_do_not_fit_are_refused_by_name() {
    let method = per_state();
    let mut game = method.game(&Corridor::locked(), 2);
    let mut elsewhere = agents(
        &method.game(&Corridor::open(), 2),
        &method.architecture(),
        1,
    );
    let error = (game.collect(&mut elsewhere, 4, &training(), &mut rng(1))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "agent `u0`: numbers of vectors: 8 given, 5 needed"
    );
    let config = PlayConfig {
        episodes: 1,
        choice: Choice::Sample,
        seed: 1,
    };
    let error = game.play(&mut elsewhere[..1], config);
    assert!(error.is_err());
    // Batches have to consist of whole sequences.
    let recurrent = Method {
        memory: 4,
        ..Method::plain()
    };
    let mut game = recurrent.game(&Corridor::locked(), 2);
    let architecture = Architecture {
        sequence: 4,
        ..recurrent.architecture()
    };
    let mut agents = agents(&game, &architecture, 1);
    let error = game.collect(&mut agents, 6, &training(), &mut rng(1));
    assert!(error.unwrap_err().to_string().contains("whole sequences"));
}

/// A new machine begins with new episodes; the agents are others.
#[test]
fn a_game_goes_on_with_another_machine() {
    let mut game = per_state().game(&Corridor::locked(), 3);
    game.explore(4, usize::MAX, &mut rng(1)).unwrap();
    let before: Vec<u64> = (0..3).map(|world| game.worlds().episode(world)).collect();
    let machine: Machine = "initial v\naccept acc\nv -> acc : door".parse().unwrap();
    let bound = machine.bind(game.worlds().signature()).unwrap();
    let assignment = AgentAssignment::new(
        bound,
        AssignmentMode::PerState,
        ProgressEncoding::Bits,
        game.worlds().spec(),
    );
    game.reassign(assignment).unwrap();
    for (world, before) in before.iter().enumerate() {
        assert_eq!(game.worlds().episode(world), before + 1);
    }
    let mut agents = agents(&game, &per_state().architecture(), 1);
    assert_eq!(agents[0].name(), "v");
    let collected = game.collect(&mut agents, 10, &training(), &mut rng(1));
    assert_eq!(collected.unwrap().experience[0].len(), 30);
}

/// Data of one agent teach that agent and nobody else, whether others learn beside it or not.
#[test]
fn agents_learn_from_their_own_steps_alone() {
    let method = per_state();
    let fresh = || {
        let game = method.game(&Corridor::locked(), 8);
        let agents = agents(&game, &method.architecture(), 1);
        (game, agents)
    };
    let (mut game, mut both) = fresh();
    let collected = game.collect(&mut both, 40, &training(), &mut rng(2));
    let experience = collected.unwrap().experience;
    assert!(experience.iter().all(|one| !one.is_empty()));
    for (agent, experience) in both.iter_mut().zip(experience.clone()) {
        let report = agent.learn(experience, &training(), 1, &mut rng(3));
        assert!(report.unwrap().is_some());
    }
    for (number, experience) in experience.into_iter().enumerate() {
        let (_, mut alone) = fresh();
        let untouched = alone[1 - number].network().weights().to_vec();
        let before = alone[number].network().weights().to_vec();
        let report = alone[number].learn(experience, &training(), 1, &mut rng(3));
        assert!(report.unwrap().is_some());
        let bits = |weights: &[f32]| -> Vec<u32> { weights.iter().map(|x| x.to_bits()).collect() };
        let own = alone[number].network().weights();
        assert_eq!(bits(own), bits(both[number].network().weights()));
        assert_ne!(bits(own), bits(&before));
        assert_eq!(
            bits(alone[1 - number].network().weights()),
            bits(&untouched)
        );
    }
}

/// Asked step by step in a world that is stepped elsewhere, agents act as in a game: with a machine or without, with memory or without.
#[test]
fn a_player_acts_as_in_a_game() {
    let unaided = |memory| Method {
        memory,
        ..Method::plain()
    };
    for method in [per_state(), unaided(0), unaided(3)] {
        let corridor = Corridor::locked();
        let mut game = method.game(&corridor, 1);
        let mut trained = agents(&game, &method.architecture(), 3);
        let mut worlds = game.worlds().clone();
        let mut player = Player::new(
            &worlds,
            game.assignment().clone(),
            shared(),
            agents(&game, &method.architecture(), 3),
            2 * method.memory,
        )
        .unwrap();
        let config = PlayConfig {
            episodes: 3,
            choice: Choice::Greedy,
            seed: 1,
        };
        for episode in game.play(&mut trained, config).unwrap() {
            worlds.start(0, episode.number).unwrap();
            player.begin(&worlds);
            for (step, action) in episode.actions.iter().enumerate() {
                // Asked twice, a recurrent layer still takes the step once.
                for _ in 0..2 {
                    let logits = player.logits(&worlds).unwrap().unwrap();
                    assert_eq!(greedy(logits), usize::from(*action), "step {step}");
                }
                worlds.step(&[*action]).unwrap();
                player.observe(&worlds, *action);
            }
            assert_eq!(worlds.outcome(0), episode.outcome);
        }
    }
}
