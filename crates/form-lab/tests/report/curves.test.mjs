// The curves against metrics.csv: every quantity over every axis, means and spreads computed here a second time, smoothing,
// hovering, zooming by drag, button and key, and the legend.

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { readCsv, texts, visit, withBrowser } from "./browser.mjs";
import { page, runOf, runs, seeds } from "./pages.mjs";

withBrowser();

const ROWS = "#curves-values tbody tr";
const close = (a, b, room) => assert.ok(Math.abs(a - b) <= room, `${a} is not ${b}`);
const numberOf = (text) => Number(text.replace(/[,%\s]/g, "").replace("−", "-"));

async function openTable(view) {
  await view.locator("#curves-values summary").click();
  await view.waitForSelector(ROWS);
}

/** The rows of the table: the texts of their cells. */
async function tableRows(view) {
  return view.locator(ROWS).evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
}

async function waitForTitle(view, text) {
  await view.locator("#curves-values caption", { hasText: text }).waitFor({ state: "attached" });
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const deviation = (values) => Math.sqrt(values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - 1));

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
    for (const [axis, title] of [["iteration", "over iterations"], ["steps", "over environment steps"]]) {
      await view.selectOption("#axis", axis);
      for (const [quantity, label, scale] of [
        ["success", "Success rate", 100], ["return", "Unshaped return", 1], ["length", "Steps of an episode", 1],
        ["shaped_return", "Shaped return", 1], ["states", "States of the machine", 1], ["counterexamples", "Counterexamples", 1],
      ]) {
        await view.selectOption("#quantity", quantity);
        await waitForTitle(view, `${label} ${title}`);
        const known = rows.filter((row) => row[quantity] !== null);
        const shown = await tableRows(view);
        assert.equal(shown.length, known.length);
        known.forEach((row, at) => {
          assert.equal(numberOf(shown[at][0]), row[axis]);
          close(numberOf(shown[at][1]), scale * row[quantity], scale === 100 ? 0.0501 : 1e-3 * Math.abs(row[quantity]) + 1e-9);
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
  const places = [...new Set([...points, readCsv(path.join(runs, "ppo-1/metrics.csv")).filter((row) => row.success !== null).map((row) => [row.steps])].flat().map(([x]) => x))].sort((a, b) => a - b);
  await visit(page("several"), async (view) => {
    await view.selectOption("#axis", "steps");
    await openTable(view);
    await waitForTitle(view, "over environment steps");
    const column = (await texts(view, "#curves-values thead th")).indexOf("form");
    const shown = (await tableRows(view)).map((row) => [numberOf(row[0]), row[column]]);
    assert.deepEqual(shown.map(([x]) => x), places);
    const start = Math.min(...points.map((run) => run[0][0]));
    for (const [x, text] of shown.filter(([place]) => place >= start)) {
      const values = points.map((run) => valueAt(run, x));
      const [middle, spread] = text.split("±").map(numberOf);
      close(middle, 100 * mean(values), 0.0501);
      close(spread, 100 * deviation(values), 0.0501);
    }
    await view.selectOption("#spread", "range");
    const [, last] = [await tableRows(view)].flat().at(-1).slice(column - 1);
    const ends = points.map((run) => run.at(-1)[1]);
    const [low, high] = last.match(/\((.*) to (.*)\)/).slice(1).map(numberOf);
    close(low, 100 * Math.min(...ends), 0.0501);
    close(high, 100 * Math.max(...ends), 0.0501);
    await view.selectOption("#spread", "none");
    close(numberOf((await tableRows(view)).at(-1)[column]), 100 * mean(ends), 0.0501);
  });
});

test("smoothing is the mean of the last iterations", async () => {
  const rows = readCsv(path.join(runOf(1), "metrics.csv"));
  await visit(page("one"), async (view) => {
    await openTable(view);
    await view.selectOption("#quantity", "length");
    await view.selectOption("#smoothing", "5");
    const shown = await tableRows(view);
    rows.forEach((row, at) => {
      const window = rows.slice(Math.max(0, at - 4), at + 1).map((one) => one.length).filter((value) => value !== null);
      close(numberOf(shown[at][1]), mean(window), 1e-3 * mean(window));
    });
    await view.selectOption("#smoothing", "15");
    close(numberOf((await tableRows(view)).at(-1)[1]), mean(rows.map((row) => row.length).filter((value) => value !== null)), 0.1);
  });
});

test("hovering shows the value there, and where a machine was learnt", async () => {
  const rows = readCsv(path.join(runOf(1), "metrics.csv"));
  const learnt = rows.findIndex((row, at) => at > 0 && row.relearnings > rows[at - 1].relearnings);
  assert.ok(learnt > 0, "the run learns a second machine later on");
  await visit(page("one"), async (view) => {
    await view.selectOption("#quantity", "states");
    const area = await view.locator("#chart .u-over").boundingBox();
    const at = (place) => [area.x + (area.width * place) / (rows.length - 1), area.y + 60];
    await view.mouse.move(...at(learnt));
    const box = view.locator("#chart .tooltip");
    await box.waitFor({ state: "visible" });
    const said = await box.textContent();
    assert.match(said, new RegExp(`iteration ${rows[learnt].iteration}`));
    assert.match(said, new RegExp(`form ${rows[learnt].states}`));
    assert.match(said, new RegExp(`machine ${rows[learnt].relearnings} learnt in `));
    await view.mouse.move(...at(learnt + 2));
    await box.filter({ hasText: `iteration ${rows[learnt + 2].iteration}` }).waitFor();
    assert.doesNotMatch(await box.textContent(), /machine/);
  });
});

/** The numbers along the horizontal axis cannot be read from a canvas: the places that the keyboard reaches tell what is seen. */
async function seen(view) {
  await view.locator("#chart").focus();
  const said = view.locator("#chart-reading");
  const read = async (key) => {
    await view.keyboard.press(key);
    return Number((await said.textContent()).match(/iteration ([\d,]+)/)[1].replace(",", ""));
  };
  let before = null;
  for (let now = await read("ArrowLeft"); now !== before; now = await read("ArrowLeft")) before = now;
  const first = before;
  before = null;
  for (let now = await read("ArrowRight"); now !== before; now = await read("ArrowRight")) before = now;
  return [first, before];
}

test("zoom: by drag, double click, buttons and keys", async () => {
  await visit(page("one"), async (view) => {
    await view.selectOption("#quantity", "states");
    assert.deepEqual(await seen(view), [1, 8]);
    const area = await view.locator("#chart .u-over").boundingBox();
    const at = (place) => area.x + (area.width * (place - 1)) / 7;
    const reset = view.locator("#zoom-reset");
    assert.equal(await reset.getAttribute("aria-disabled"), "true");
    await view.mouse.move(at(2.5), area.y + 50);
    await view.mouse.down();
    await view.mouse.move(at(5.5), area.y + 60, { steps: 5 });
    await view.mouse.up();
    assert.equal(await reset.getAttribute("aria-disabled"), "false");
    assert.deepEqual(await seen(view), [3, 5]);
    await view.click("#zoom-right");
    assert.deepEqual(await seen(view), [4, 6]);
    await view.click("#zoom-left");
    assert.deepEqual(await seen(view), [3, 5]);
    await reset.click();
    assert.deepEqual(await seen(view), [1, 8]);
    await view.click("#zoom-in");
    assert.deepEqual(await seen(view), [3, 6]);
    await view.click("#zoom-out");
    assert.deepEqual(await seen(view), [1, 8]);
    await view.keyboard.press("+");
    assert.deepEqual(await seen(view), [3, 6]);
    await view.keyboard.press("0");
    assert.deepEqual(await seen(view), [1, 8]);
    await view.keyboard.press("+");
    await view.mouse.dblclick(at(4), area.y + 50);
    assert.deepEqual(await seen(view), [1, 8]);
  });
});

test("the legend hides and shows groups and runs, and the mean follows", async () => {
  const last = (seed) => readCsv(path.join(runOf(seed), "metrics.csv")).at(-1).counterexamples;
  await visit(page("several"), async (view) => {
    await view.selectOption("#quantity", "counterexamples");
    await openTable(view);
    const titles = () => texts(view, "#curves-values thead th");
    assert.deepEqual(await titles(), ["iteration", "form", "ppo"]);
    const group = view.locator("#legend button.group", { hasText: "ppo" });
    await group.click();
    assert.equal(await group.getAttribute("aria-pressed"), "false");
    assert.deepEqual(await titles(), ["iteration", "form"]);
    await view.locator("#legend button.single", { hasText: "seed 2" }).click();
    close(numberOf((await tableRows(view)).at(-1)[1].split("±")[0]), mean([last(1), last(3)]), 0.06);
    for (const seed of [1, 3]) await view.locator("#legend button.single", { hasText: `seed ${seed}` }).click();
    await view.waitForSelector("#chart-empty:not([hidden])");
    assert.match(await view.locator("#chart-empty").textContent(), /No run that is shown has a/);
    await group.click();
    await view.waitForSelector("#chart canvas");
    assert.deepEqual(await titles(), ["iteration", "ppo"]);
  });
});

test("hovering tells the values of the single runs too, while they are shown", async () => {
  const last = (run) => readCsv(path.join(runs, run, "metrics.csv")).at(-1).counterexamples.toLocaleString("en-GB");
  await visit(page("several"), async (view) => {
    await view.selectOption("#quantity", "counterexamples");
    const area = await view.locator("#chart .u-over").boundingBox();
    const said = async () => {
      await view.mouse.move(area.x + 5, area.y + 50);
      await view.mouse.move(area.x + area.width - 2, area.y + 50);
      return view.locator("#chart .tooltip").textContent();
    };
    assert.doesNotMatch(await said(), /seed/);
    await view.check("#single-runs");
    const text = await said();
    for (const seed of seeds) assert.ok(text.includes(`seed ${seed} ${last(`form-${seed}`)}`), text);
    assert.ok(text.includes(`ppo ${last("ppo-1")}`), text);
  });
});

test("lines are drawn: in their colours, and single runs when they are asked for", async () => {
  /** How many pixels of the chart are painted about like this, once uPlot has drawn what it was asked for. */
  const painted = (view, [red, green, blue], [least, most] = [201, 255]) => view.locator("#chart canvas").evaluate(async (canvas, [wanted, alpha]) => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) {
      const far = wanted.reduce((sum, value, at) => sum + Math.abs(data[i + at] - value), 0);
      if (far < 30 && data[i + 3] >= alpha[0] && data[i + 3] <= alpha[1]) found += 1;
    }
    return found;
  }, [[red, green, blue], [least, most]]);
  await visit(page("several"), async (view) => {
    await view.selectOption("#quantity", "length");
    await view.selectOption("#spread", "none");
    const blue = [0x00, 0x72, 0xb2];
    assert.ok(await painted(view, blue) > 300, "the first group's line");
    assert.ok(await painted(view, [0xc0, 0x4f, 0x00]) > 300, "the second group's line");
    const before = await painted(view, blue, [60, 150]);
    await view.check("#single-runs");
    assert.ok(await painted(view, blue, [60, 150]) > before + 300, "thin lines came");
    const thin = await painted(view, blue, [20, 50]);
    await view.selectOption("#spread", "range");
    assert.ok(await painted(view, blue, [20, 50]) > thin + 3000, "a band came");
  });
});
