//! Tests of the tables: what is written is read back, and what a killed process leaves is cut off.

use std::fs;

use proptest::prelude::*;

use super::{MetricsRow, PoliciesRow, Table, TimingsRow, read_rows};

const TIMINGS: &str = "iteration,seconds,steps_per_second,rollout_seconds,update_seconds,learning_seconds,evaluation_seconds\n";
const POLICIES: &str =
    "iteration,state,samples,policy_loss,value_loss,entropy,kl,clipped,gradient\n";

fn metrics(iteration: u64) -> MetricsRow {
    MetricsRow {
        iteration,
        steps: iteration * 2048,
        episodes: 3,
        success: Some(1.0 / 3.0),
        states: 3,
        edges: 2,
        ..MetricsRow::default()
    }
}

fn policy(iteration: u64, state: &str) -> PoliciesRow {
    PoliciesRow {
        iteration,
        state: state.to_owned(),
        kl: Some(1e-9),
        ..PoliciesRow::default()
    }
}

fn said<T: std::fmt::Debug>(result: anyhow::Result<T>) -> String {
    format!("{:#}", result.unwrap_err())
}

#[test]
fn the_files_look_like_this() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.csv");
    let mut table = Table::create(&path).unwrap();
    table.append(&metrics(1)).unwrap();
    table.append(&MetricsRow::default()).unwrap();
    table.sync().unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "iteration,steps,evaluated,success,return,length,episodes,ended_success,ended_length,shaped_return,states,edges,relearnings,counterexamples,traces\n\
         1,2048,,0.3333333333333333,,,3,,,,3,2,0,0,0\n\
         0,0,,,,,0,,,,0,0,0,0,0\n"
    );
}

/// Version 0.1 knew only what ended episodes did: that is what its columns are, whatever they were called.
#[test]
fn tables_of_version_0_1_are_read_for_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.csv");
    fs::write(
        &path,
        "iteration,steps,episodes,success,return,length,shaped_return,states,edges,relearnings,counterexamples,traces\n\
         1,131072,10,1.0,1.0,640.6,0.0,3,2,1,10,10\n\
         2,147456,0,,,,,3,2,1,10,10\n",
    )
    .unwrap();
    let rows: Vec<MetricsRow> = read_rows(&path).unwrap();
    let first = MetricsRow {
        iteration: 1,
        steps: 131_072,
        episodes: 10,
        ended_success: Some(1.0),
        ended_length: Some(640.6),
        shaped_return: Some(0.0),
        states: 3,
        edges: 2,
        relearnings: 1,
        counterexamples: 10,
        traces: 10,
        ..MetricsRow::default()
    };
    assert_eq!(rows[0], first);
    assert_eq!(rows.len(), 2);
    // A run that goes on writes it in the new columns.
    drop(Table::<MetricsRow>::resume(&path, Some(1)).unwrap());
    assert_eq!(read_rows::<MetricsRow>(&path).unwrap(), [first]);
    assert!(
        fs::read_to_string(&path)
            .unwrap()
            .starts_with("iteration,steps,evaluated,")
    );
    let path = folder.path().join("timings.csv");
    fs::write(
        &path,
        "iteration,seconds,steps_per_second,rollout_seconds,update_seconds,learning_seconds\n1,2,3,4,5,6\n",
    )
    .unwrap();
    let rows: Vec<TimingsRow> = read_rows(&path).unwrap();
    assert_eq!(
        (rows[0].learning_seconds, rows[0].evaluation_seconds),
        (6.0, 0.0)
    );
}

/// Going on from any iteration, after a kill at any byte, gives the table of a run that was not disturbed.
#[test]
fn a_resumed_table_is_that_of_an_undisturbed_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policies.csv");
    let rows: Vec<PoliciesRow> = (1..=4)
        .flat_map(|k| ["u0", "u1"].map(|state| policy(k, state)))
        .collect();
    let mut table = Table::create(&path).unwrap();
    for row in &rows {
        table.append(row).unwrap();
    }
    let whole = fs::read_to_string(&path).unwrap();
    assert_eq!(read_rows::<PoliciesRow>(&path).unwrap(), rows);
    for end in 0..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let present: Vec<PoliciesRow> = read_rows(&path).unwrap();
        assert_eq!(present, rows[..present.len()], "cut at {end}");
        // The checkpoint is not ahead of the table.
        let iteration = present.len() as u64 / 2;
        let mut table = Table::resume(&path, Some(iteration)).unwrap();
        for row in rows.iter().filter(|row| row.iteration > iteration) {
            table.append(row).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), whole, "cut at {end}");
    }
}

#[test]
fn a_missing_table_is_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("timings.csv");
    Table::<TimingsRow>::resume(&path, Some(7)).unwrap();
    assert_eq!(read_rows::<TimingsRow>(&path).unwrap(), []);
    assert_eq!(fs::read_to_string(&path).unwrap(), TIMINGS);
}

#[test]
fn mistakes_are_shown_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policies.csv");
    let check = |text: &str, expected: &str| {
        fs::write(&path, text).unwrap();
        let before = said(read_rows::<PoliciesRow>(&path));
        assert!(before.contains(expected), "{before}");
        // A table with a mistake is not repaired behind anyone's back.
        assert_eq!(said(Table::<PoliciesRow>::resume(&path, Some(0))), before);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    };
    check(
        &format!("{POLICIES}1,u0,5,,,,,,\n2,\"u,1\",5,x,,,,,\n3,u0,1,,,,,,\n"),
        "policies.csv:3:11: policy_loss: invalid float literal",
    );
    check(
        &format!("{POLICIES}1,u0,-5,,,,,,\n"),
        "policies.csv:2:6: samples: invalid digit",
    );
    check(
        &format!("{POLICIES}1,u0,5,,\n2,u0,5,,,,,,\n"),
        "policies.csv:2:9: 5 fields, not 9",
    );
    check("iteration,stat\n", "policies.csv:1:15: the columns are");
    check("\n", "policies.csv:1:1: the columns are");
    let missing = folder.path().join("no.csv");
    let missing = said(read_rows::<PoliciesRow>(&missing));
    assert!(
        missing.contains("cannot read") && missing.contains("no.csv"),
        "{missing}"
    );
}

proptest! {
    // Each case waits for the disk.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(
        numbers in prop::collection::vec(any::<(u64, Option<f64>, Option<f64>)>(), 0..5),
        state in "[a-z_,\"\n ]{0,5}",
    ) {
        let some = |value: &Option<f64>| value.filter(|value| value.is_finite());
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("m"), folder.path().join("p"));
        let metrics: Vec<MetricsRow> = numbers.iter().map(|(n, a, b)| MetricsRow {
            steps: *n, success: some(a), return_: some(b), ..MetricsRow::default()
        }).collect();
        let policies: Vec<PoliciesRow> = numbers.iter().map(|(n, a, b)| PoliciesRow {
            samples: *n, state: state.clone(), entropy: some(a), gradient: some(b), ..PoliciesRow::default()
        }).collect();
        let (mut m, mut p) = (Table::create(&first).unwrap(), Table::create(&second).unwrap());
        for (metrics, policy) in metrics.iter().zip(&policies) {
            m.append(metrics).unwrap();
            p.append(policy).unwrap();
        }
        prop_assert_eq!(read_rows::<MetricsRow>(&first).unwrap(), metrics);
        prop_assert_eq!(read_rows::<PoliciesRow>(&second).unwrap(), policies);
    }
}
