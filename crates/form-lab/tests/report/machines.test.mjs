// The machines through time against their files: states, edges and formulae, what changed, and the counterexample, which is
// replayed here by `form check` on the machine it refuted.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { dataOf, readCsv, texts, visit, withBrowser } from "./browser.mjs";
import { folder, form, page, runOf } from "./pages.mjs";

withBrowser();

const files = fs
  .readdirSync(path.join(runOf(1), "machines"))
  .filter((name) => name.endsWith(".form"))
  .sort();
const fileOf = (at) => path.join(runOf(1), "machines", files[at]);
const read = (at) => JSON.parse(execFileSync(form, ["show", fileOf(at), "--format", "json"], { encoding: "utf8" }));
const paper = (formula) =>
  formula
    .replaceAll("forall ", "∀")
    .replaceAll("exists ", "∃")
    .replaceAll(" and ", " ∧ ")
    .replaceAll(" or ", " ∨ ")
    .replaceAll("not ", "¬");
const lineOf = (edge) => `${edge.from} → ${edge.to} ${paper(edge.formula)}`;

/** The edges listed on the page, without the word that they are new. */
async function listed(view) {
  return (await texts(view, "#machine-edges li")).map((text) => text.replace(/new$/, "").trim());
}

test("every machine of the slider is its file, drawn and listed", async () => {
  assert.ok(files.length >= 3, "the run has a first machine and learns two");
  await visit(page("one"), async (view) => {
    const slider = view.locator("#machine-slider");
    assert.equal(await slider.getAttribute("max"), String(files.length - 1));
    assert.equal(await slider.inputValue(), String(files.length - 1), "it begins with the last");
    for (let at = 0; at < files.length; at++) {
      await slider.fill(String(at));
      const machine = read(at);
      await view.locator("#machine-said", { hasText: `Machine ${at} (${at + 1} of ${files.length})` }).waitFor();
      assert.deepEqual(await listed(view), machine.edges.map(lineOf));
      const drawn = await view
        .locator("#machine-drawing [data-state]")
        .evaluateAll((nodes) => nodes.map((node) => node.dataset.state));
      assert.deepEqual(drawn.sort(), [...machine.states].sort());
      assert.equal(await view.locator("#machine-drawing [data-edge]").count(), machine.edges.length);
      assert.match(
        await view.locator("#machine-said").textContent(),
        new RegExp(`${machine.states.length} states, ${machine.edges.length} edges?`),
      );
    }
  });
});

test("when it was learnt and how long that took is what the tables say", async () => {
  const metrics = readCsv(path.join(runOf(1), "metrics.csv"));
  const timings = readCsv(path.join(runOf(1), "timings.csv"));
  await visit(page("one"), async (view) => {
    const row = metrics.find((one) => one.relearnings === 2);
    const { learning_seconds: seconds } = timings.find((one) => one.iteration === row.iteration);
    await view.locator("#machine-slider").fill("2");
    const said = await view.locator("#machine-said").textContent();
    assert.match(
      said,
      new RegExp(`learnt in iteration ${row.iteration} · after ${row.steps.toLocaleString("en-GB")} steps`),
    );
    const [, value, unit] = said.match(/in ([\d.]+) (µs|ms|s)\.$/);
    const shown = Number(value) * { µs: 1e-6, ms: 1e-3, s: 1 }[unit];
    assert.ok(Math.abs(shown - seconds) <= 0.06 * seconds, `${said}: ${seconds}`);
  });
});

test("what is new is marked in the drawing and the lists, what is gone is listed", async () => {
  const [before, after] = [read(1), read(2)];
  const key = (edge) => lineOf(edge);
  const fresh = after.edges.filter((edge) => !before.edges.some((old) => key(old) === key(edge)));
  const gone = before.edges.filter((edge) => !after.edges.some((one) => key(one) === key(edge)));
  assert.ok(fresh.length > 0 && gone.length > 0, "something changed");
  await visit(page("one"), async (view) => {
    await view.locator("#machine-slider").fill("2");
    const marked = await view
      .locator("#machine-drawing [data-edge].is-new")
      .evaluateAll((nodes) => nodes.map((node) => Number(node.dataset.edge)));
    assert.deepEqual(
      marked.map((edge) => key(after.edges[edge])),
      fresh.map(key),
    );
    assert.ok((await view.locator("#machine-drawing [data-link].is-new").count()) > 0, "their arrows too");
    assert.deepEqual(
      (await texts(view, "#machine-edges li.new")).map((text) => text.replace(/new$/, "").trim()),
      fresh.map(key),
    );
    assert.deepEqual(await texts(view, "#machine-changes .gone > :last-child"), gone.map(key));
    assert.deepEqual(await texts(view, "#machine-changes .added > :last-child"), fresh.map(key));
    await view.locator("#machine-slider").fill("0");
    assert.equal(await view.locator("#machine-drawing .is-new").count(), 0);
    assert.match(await view.locator("#machine-changes").textContent(), /first machine/);
  });
});

test("the counterexample is a line of traces.jsonl that the machine before is wrong about", async () => {
  const found = dataOf(page("one")).runs[0].machines[2].counterexample;
  const lines = fs
    .readFileSync(path.join(runOf(1), "traces.jsonl"), "utf8")
    .trim()
    .split("\n");
  const trace = JSON.parse(lines[found.line - 1]);
  const alone = path.join(folder, "counterexample.jsonl");
  fs.writeFileSync(alone, `${lines[0]}\n${lines[found.line - 1]}\n`);
  assert.equal(spawnSync(form, ["check", fileOf(1), alone]).status, 1, "machine 1 disagrees");
  assert.equal(spawnSync(form, ["check", fileOf(2), alone]).status, 0, "machine 2 agrees");
  await visit(page("one"), async (view) => {
    await view.locator("#machine-slider").fill("2");
    const said = await view.locator("#machine-counterexample p").textContent();
    assert.match(said, new RegExp(`Line ${found.line} of traces.jsonl refuted machine 1`));
    const observed = await view
      .locator("#machine-counterexample .step")
      .evaluateAll((nodes) => nodes.map((node) => [...node.querySelectorAll(".chip")].map((chip) => chip.textContent)));
    assert.deepEqual(
      observed.map((atoms) => atoms.sort()),
      trace.steps.map((atoms) => [...atoms].sort()),
    );
    const states = await texts(view, "#machine-counterexample .state-name");
    assert.equal(states[0], read(1).initial);
    assert.deepEqual(states, found.states);
    assert.ok(states.length <= trace.steps.length + 1);
  });
});

test("buttons go one machine back and forth and stop at the ends; another run can be chosen", async () => {
  await visit(page("several"), async (view) => {
    const said = view.locator("#machine-said");
    await view.selectOption("#run-select", "runs/form-1");
    for (let at = files.length - 2; at >= 0; at--) {
      await view.click("#machine-previous");
      assert.match(await said.textContent(), new RegExp(`^Machine ${at} `));
    }
    assert.equal(await view.locator("#machine-previous").getAttribute("aria-disabled"), "true");
    await view.click("#machine-previous", { force: true });
    assert.match(await said.textContent(), /^Machine 0 /);
    await view.click("#machine-next");
    assert.match(await said.textContent(), /^Machine 1 /);
    await view.selectOption("#run-select", "runs/ppo-1");
    await view.waitForSelector("#machine-empty:not([hidden])");
    assert.equal(await said.isVisible(), false);
    await view.locator("#groups button", { hasText: "seed 3" }).click();
    assert.equal(await view.locator("#run-select").inputValue(), "runs/form-3");
    assert.equal(await said.isVisible(), true);
  });
});
