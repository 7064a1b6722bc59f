// The chart in use: hovering, zooming by drag, button and key, the legend, and that lines are there at all.

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { readCsv, texts, visit, withBrowser } from "./browser.mjs";
import { page, runOf, runs, seeds } from "./pages.mjs";
import { close, mean, numberOf, openTable, tableRows } from "./values.mjs";

withBrowser();

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
    assert.deepEqual(await seen(view), [0, 8]);
    const area = await view.locator("#chart .u-over").boundingBox();
    const at = (place) => area.x + (area.width * place) / 8;
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
    assert.deepEqual(await seen(view), [0, 8]);
    await view.click("#zoom-in");
    assert.deepEqual(await seen(view), [2, 6]);
    await view.click("#zoom-out");
    assert.deepEqual(await seen(view), [0, 8]);
    await view.keyboard.press("+");
    assert.deepEqual(await seen(view), [2, 6]);
    await view.keyboard.press("0");
    assert.deepEqual(await seen(view), [0, 8]);
    await view.keyboard.press("+");
    await view.mouse.dblclick(at(4), area.y + 50);
    assert.deepEqual(await seen(view), [0, 8]);
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
  const last = (run) =>
    readCsv(path.join(runs, run, "metrics.csv"))
      .at(-1)
      .counterexamples.toLocaleString("en-GB");
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
  const painted = (view, [red, green, blue], [least, most] = [201, 255]) =>
    view.locator("#chart canvas").evaluate(
      async (canvas, [wanted, alpha]) => {
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
      },
      [
        [red, green, blue],
        [least, most],
      ],
    );
  await visit(page("several"), async (view) => {
    await view.selectOption("#quantity", "length");
    await view.selectOption("#spread", "none");
    const blue = [0x00, 0x72, 0xb2];
    assert.ok((await painted(view, blue)) > 300, "the first group's line");
    assert.ok((await painted(view, [0xc0, 0x4f, 0x00])) > 300, "the second group's line");
    const before = await painted(view, blue, [60, 150]);
    await view.check("#single-runs");
    assert.ok((await painted(view, blue, [60, 150])) > before + 300, "thin lines came");
    const thin = await painted(view, blue, [20, 50]);
    await view.selectOption("#spread", "range");
    assert.ok((await painted(view, blue, [20, 50])) > thin + 3000, "a band came");
  });
});
