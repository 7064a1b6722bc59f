//! What the methods can learn, and what they cannot: a corridor, and one in which the right way depends on the past.

use form_rl::{AssignmentMode, Credit};

use crate::corridor::{Corridor, Method, result};

#[test]
fn a_corridor_is_solved_by_plain_ppo() {
    let corridor = Corridor::open();
    let (before, _) = result(&Method::plain().learn(&corridor, 0, 1));
    assert!(before < 0.8, "solved by chance: {before}");
    let (won, steps) = result(&Method::plain().learn(&corridor, 20, 1));
    assert!(won >= 0.95, "{won}");
    assert!(steps <= 1.2 * corridor.shortest() as f64, "{steps} steps");
}

/// No policy that looks at the present alone wins more than now and then: in the cell between key and start it has to go left
/// first and right later.
#[test]
fn a_corridor_that_needs_memory_is_beyond_plain_ppo() {
    let (won, _) = result(&Method::plain().learn(&Corridor::locked(), 60, 1));
    assert!(won < 0.4, "{won}");
}

fn expect_solved(method: &Method, batches: usize) {
    let corridor = Corridor::locked();
    let (won, steps) = result(&method.learn(&corridor, batches, 1));
    assert!(won >= 0.95, "{won}");
    assert!(steps <= 1.2 * corridor.shortest() as f64, "{steps} steps");
}

#[test]
fn it_is_solved_by_recurrent_ppo() {
    let method = Method {
        memory: 16,
        ..Method::plain()
    };
    expect_solved(&method, 60);
}

#[test]
fn it_is_solved_by_one_agent_a_machine_state() {
    for credit in [Credit::Shared, Credit::HandOver] {
        let method = Method {
            roles: AssignmentMode::PerState,
            credit,
            shaping: true,
            memory: 0,
        };
        expect_solved(&method, 30);
    }
}

/// The paper's reward alone, without shaping: the agent that fetches the key earns its share when the other opens the door.
#[test]
fn it_is_solved_by_shares_of_the_last_reward_alone() {
    let method = Method {
        roles: AssignmentMode::PerState,
        ..Method::plain()
    };
    expect_solved(&method, 40);
}

#[test]
fn it_is_solved_by_one_agent_that_is_shown_the_state() {
    let method = Method {
        roles: AssignmentMode::Single,
        shaping: true,
        ..Method::plain()
    };
    expect_solved(&method, 30);
}
