// The values of the curves against metrics.csv: every quantity over every axis, means and spreads computed here a second time,
// and smoothing.

import path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { dataOf, readCsv, texts, visit, withBrowser, withData } from "./browser.mjs";
import { folder, page, runOf, runs, seeds } from "./pages.mjs";
import { close, mean, numberOf, openTable, tableRows, waitForTitle } from "./values.mjs";

withBrowser();

const deviation = (values) =>
  Math.sqrt(values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - 1));

/** A second account of a run's value at a place, by looking through all its points. */
function valueAt(points, x) {
  const before = points.filter((point) => point[0] <= x).pop();
  const after = points.find((point) => point[0] > x);
  if (!before) return after[1];
  if (!after) return before[1];
  return before[1] + ((after[1] - before[1]) * (x - before[0])) / (after[0] - before[0]);
}

test("a single run: every quantity over iterations and steps is what metrics.csv says", async () => {
  const rows = readCsv(path.join(runOf(1), "metrics.csv"));
  await visit(page("one"), async (view) => {
    await openTable(view);
    for (const [axis, title] of [
      ["iteration", "over iterations"],
      ["steps", "over environment steps"],
    ]) {
      await view.selectOption("#axis", axis);
      for (const [quantity, label, scale] of [
        ["success", "Success rate", 100],
        ["return", "Unshaped return", 1],
        ["length", "Steps of an episode", 1],
        ["shaped_return", "Shaped return of episodes that ended", 1],
        ["states", "States of the machine", 1],
        ["counterexamples", "Counterexamples", 1],
      ]) {
        await view.selectOption("#quantity", quantity);
        await waitForTitle(view, `${label} ${title}`);
        const known = rows.filter((row) => row[quantity] !== null);
        const shown = await tableRows(view);
        assert.equal(shown.length, known.length);
        known.forEach((row, at) => {
          assert.equal(numberOf(shown[at][0]), row[axis]);
          close(
            numberOf(shown[at][1]),
            scale * row[quantity],
            scale === 100 ? 0.0501 : 1e-3 * Math.abs(row[quantity]) + 1e-9,
          );
        });
      }
    }
  });
});

test("wall time comes from timings.csv", async () => {
  const rows = readCsv(path.join(runOf(1), "timings.csv"));
  await visit(page("one"), async (view) => {
    await openTable(view);
    await view.selectOption("#quantity", "states");
    await view.selectOption("#axis", "seconds");
    await waitForTitle(view, "over wall time");
    const shown = await tableRows(view);
    assert.equal(shown.length, rows.length);
    rows.forEach((row, at) => {
      const [value, unit] = shown[at][0].split(" ");
      close(Number(value) * (unit === "ms" ? 0.001 : 1), row.seconds, 0.006 * row.seconds);
    });
  });
});

test("several runs: mean and spread are those of the seeds", async () => {
  const all = seeds.map((seed) => readCsv(path.join(runOf(seed), "metrics.csv")));
  const points = all.map((rows) => rows.filter((row) => row.success !== null).map((row) => [row.steps, row.success]));
  const places = [
    ...new Set(
      [
        ...points,
        readCsv(path.join(runs, "ppo-1/metrics.csv"))
          .filter((row) => row.success !== null)
          .map((row) => [row.steps]),
      ]
        .flat()
        .map(([x]) => x),
    ),
  ].sort((a, b) => a - b);
  await visit(page("several"), async (view) => {
    await view.selectOption("#axis", "steps");
    await openTable(view);
    await waitForTitle(view, "over environment steps");
    const column = (await texts(view, "#curves-values thead th")).indexOf("form");
    const shown = (await tableRows(view)).map((row) => [numberOf(row[0]), row[column]]);
    assert.deepEqual(
      shown.map(([x]) => x),
      places,
    );
    const start = Math.min(...points.map((run) => run[0][0]));
    for (const [x, text] of shown.filter(([place]) => place >= start)) {
      const values = points.map((run) => valueAt(run, x));
      const [middle, spread] = text.split("±").map(numberOf);
      close(middle, 100 * mean(values), 0.0501);
      close(spread, 100 * deviation(values), 0.0501);
    }
    await view.selectOption("#spread", "range");
    const [, last] = [await tableRows(view)]
      .flat()
      .at(-1)
      .slice(column - 1);
    const ends = points.map((run) => run.at(-1)[1]);
    const [low, high] = last
      .match(/\((.*) to (.*)\)/)
      .slice(1)
      .map(numberOf);
    close(low, 100 * Math.min(...ends), 0.0501);
    close(high, 100 * Math.max(...ends), 0.0501);
    await view.selectOption("#spread", "none");
    close(numberOf((await tableRows(view)).at(-1)[column]), 100 * mean(ends), 0.0501);
  });
});

test("smoothing is the mean of the evaluations in the last iterations", async () => {
  const rows = readCsv(path.join(runOf(1), "metrics.csv"));
  const known = rows.filter((row) => row.length !== null);
  await visit(page("one"), async (view) => {
    await openTable(view);
    await view.selectOption("#quantity", "length");
    await view.selectOption("#smoothing", "5");
    const shown = await tableRows(view);
    known.forEach((row, at) => {
      const end = rows.indexOf(row) + 1;
      const window = rows.slice(Math.max(0, end - 5), end).filter((one) => one.length !== null);
      const expected = mean(window.map((one) => one.length));
      close(numberOf(shown[at][1]), expected, 1e-3 * expected);
    });
    await view.selectOption("#smoothing", "15");
    close(
      numberOf((await tableRows(view)).at(-1)[1]),
      mean(known.map((row) => row.length)),
      0.1,
    );
  });
});

test("runs that begin and end elsewhere: their first value before, their last after, missing ones skipped", async () => {
  const data = dataOf(page("one"));
  const [run] = data.runs;
  const made = (seed, points) => {
    const empty = Object.fromEntries(Object.keys(run.curves).map((name) => [name, points.map(() => null)]));
    const iteration = points.map((_, at) => at + 1);
    const [steps, success] = [0, 1].map((part) => points.map((point) => point[part]));
    return { ...run, name: `run ${seed}`, seed, curves: { ...empty, iteration, steps, success } };
  };
  const runsOf = [
    made(1, [
      [10, 0],
      [20, 0.5],
      [30, 1],
    ]),
    made(2, [
      [15, 0.2],
      [25, null],
      [40, 0.6],
    ]),
  ];
  const file = withData(page("one"), { ...data, runs: runsOf }, path.join(folder, "elsewhere.html"));
  await visit(file, async (view) => {
    await view.selectOption("#axis", "steps");
    await openTable(view);
    await waitForTitle(view, "over environment steps");
    const shown = (await tableRows(view)).map(([x, text]) => [x, text.split(" ±")[0]]);
    // By hand: the second run is at 0.2 before 15, at 0.28 and 0.44 at 20 and 30; the first stays at 1 after 30.
    assert.deepEqual(shown, [
      ["10", "10.0 %"],
      ["15", "22.5 %"],
      ["20", "39.0 %"],
      ["30", "72.0 %"],
      ["40", "80.0 %"],
    ]);
  });
});

test("runs of other settings are no seeds of the same group, and notes of many runs are said once", async () => {
  const data = dataOf(page("one"));
  const [run] = data.runs;
  const other = (name, seed, worlds) => ({
    ...run,
    name,
    seed,
    notes: ["not in its folder: timings.csv"],
    config: run.config.map(([key, value]) => (key === "worlds" ? [key, worlds] : key === "seed" ? [key, seed] : [key, value])),
  });
  const runs = [other("a", 1, "16"), other("b", 2, "16"), other("c", 1, "99")];
  const file = withData(page("one"), { ...data, runs }, path.join(folder, "settings.html"));
  await visit(file, async (view) => {
    const names = await texts(view, "#legend button.group");
    assert.deepEqual(names.map((name) => name.trim()), ["form · worlds 16", "form · worlds 99"]);
    assert.deepEqual(await texts(view, "#notes h3"), ["a and 2 more"]);
    const choices = await texts(view, "#run-select option");
    assert.equal(new Set(choices).size, 3, "every run can be told from the others");
  });
});
