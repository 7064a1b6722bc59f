// The player: an episode step by step against its data, by buttons, slider, keys and on its own, and the list with its filters.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dataOf, texts, visit, withBrowser } from "./browser.mjs";
import { page } from "./pages.mjs";

withBrowser();

const [run] = dataOf(page("one")).runs;
/** The entry that holds at a step, by looking through all of them. */
const holding = (entries, step) => entries.filter(([t]) => t <= step).at(-1)?.[1];
const exactly = (entries, step) => entries.find(([t]) => t === step)?.[1];
/** An episode in which the machine moves, with its place in the list. */
const eventful = run.replays
  .map((replay, at) => ({ replay, at }))
  .reduce((best, one) => (one.replay.poses.length > best.replay.poses.length ? one : best));

/** Everything that the player shows, against what the data says of the step. */
async function agrees(view, replay, step) {
  const last = replay.poses.length - 1;
  const machine = run.machines[replay.machine];
  const state = machine.states[holding(replay.states, step)];
  await view
    .locator("#replay-position", { hasText: new RegExp(`^Step ${step} of ${last} · .* · state ${state}$`) })
    .waitFor();
  if (step > 0)
    assert.match(await view.locator("#replay-position").textContent(), new RegExp(`· ${replay.actions[step - 1]} ·`));
  assert.equal(await view.locator("#replay-slider").inputValue(), String(step));
  const [x, y, facing] = replay.poses[step];
  assert.equal(
    await view.locator("#room .agent").getAttribute("transform"),
    `translate(${x + 0.5} ${y + 0.5}) rotate(${90 * facing})`,
  );
  const lit = await view
    .locator("#replay-machine [data-state].lit")
    .evaluateAll((nodes) => nodes.map((node) => node.dataset.state));
  assert.deepEqual(lit, [state]);
  const taken = await view
    .locator("#replay-machine [data-edge].taken")
    .evaluateAll((nodes) => nodes.map((node) => Number(node.dataset.edge)));
  const edge = exactly(replay.edges, step);
  assert.deepEqual(taken, edge === undefined ? [] : [edge]);
  assert.deepEqual((await texts(view, "#replay-labels .lit")).sort(), [...(exactly(replay.labels, step) ?? [])].sort());
  assert.deepEqual(await texts(view, "#replay-buffer .chip"), holding(replay.buffer, step) ?? []);
}

async function choose(view, at) {
  await view.click(`#episode-list [data-episode="${at}"]`);
}

test("failures come first, and the filters leave what they say", async () => {
  const { replays } = run;
  const failed = replays.filter((replay) => !replay.success);
  assert.ok(
    failed.length > 0 && replays.some((one) => one.set === "training") && replays.some((one) => one.set === "held-out"),
  );
  await visit(page("one"), async (view) => {
    const classes = () =>
      view.locator("#episode-list button").evaluateAll((nodes) => nodes.map((node) => node.className));
    assert.deepEqual(
      await classes(),
      replays.map((replay) => (replay.success ? "episode good" : "episode bad")),
    );
    assert.ok(
      (await classes()).slice(0, failed.length).every((kind) => kind === "episode bad"),
      "failures first",
    );
    await view.check("#failures-only");
    assert.equal(await view.locator("#episode-list button").count(), failed.length);
    for (const set of ["training", "held-out"]) {
      await view.selectOption("#episode-set", set);
      const wanted = failed.filter((replay) => replay.set === set);
      assert.equal(await view.locator("#episode-list button").count(), wanted.length);
      for (const text of await texts(view, "#episode-list .where")) assert.match(text, new RegExp(`^${set} map`));
      if (wanted.length > 0) assert.equal(await view.locator('#episode-list button[aria-current="true"]').count(), 1);
    }
    await view.uncheck("#failures-only");
    await view.selectOption("#episode-set", "all");
    assert.equal(await view.locator("#episode-list button").count(), replays.length);
    assert.match(
      await view.locator("#episode-count").textContent(),
      new RegExp(`^${replays.length} of ${replays.length} episodes, ${failed.length} failed$`),
    );
  });
});

test("buttons, slider and keys: every step shows what was recorded", async () => {
  const { replay, at } = eventful;
  const last = replay.poses.length - 1;
  assert.ok(last >= 4, "an episode of some steps");
  await visit(page("one"), async (view) => {
    await choose(view, at);
    await agrees(view, replay, 0);
    const steps = [
      ...new Set([1, 2, ...replay.labels.map(([t]) => t).slice(0, 6), ...replay.edges.map(([t]) => t), last]),
    ].filter((t) => t > 0);
    for (const step of steps) {
      await view.locator("#replay-slider").fill(String(step));
      await agrees(view, replay, step);
    }
    await view.click("#replay-first");
    await agrees(view, replay, 0);
    await view.click("#replay-back", { force: true });
    await agrees(view, replay, 0);
    await view.click("#replay-forward");
    await agrees(view, replay, 1);
    await view.click("#replay-last");
    await agrees(view, replay, last);
    await view.click("#replay-forward", { force: true });
    await agrees(view, replay, last);
    await view.click("#replay-back");
    await agrees(view, replay, last - 1);
    await view.keyboard.press("Home");
    await agrees(view, replay, 0);
    await view.keyboard.press("ArrowRight");
    await view.keyboard.press("ArrowRight");
    await agrees(view, replay, 2);
    await view.keyboard.press("ArrowLeft");
    await agrees(view, replay, 1);
    await view.keyboard.press("End");
    await agrees(view, replay, last);
    const events = view.locator("#replay-events button");
    assert.equal(await events.count(), new Set([...replay.labels, ...replay.edges].map(([t]) => t)).size);
    const jump = Number(await events.first().getAttribute("data-step"));
    await events.first().click();
    await agrees(view, replay, jump);
  });
});

test("it plays at the speed asked for, pauses, goes on, and ends at the end", async () => {
  const { replay, at } = eventful;
  const last = replay.poses.length - 1;
  await visit(page("one"), async (view) => {
    await choose(view, at);
    const play = view.locator("#replay-play");
    const step = async () => Number(await view.locator("#replay-slider").inputValue());
    await view.selectOption("#replay-speed", "64");
    await play.click();
    assert.equal(await play.textContent(), "Pause");
    await view.waitForFunction(() => Number(document.getElementById("replay-slider").value) >= 2);
    await view.locator("#replay-slider").focus();
    await view.keyboard.press(" ");
    assert.equal(await play.textContent(), "Play");
    const stood = await step();
    await agrees(view, replay, stood);
    await view.locator("#replay-slider").fill(String(last - 1));
    await view.keyboard.press(" ");
    await view.waitForFunction((end) => Number(document.getElementById("replay-slider").value) === end, last);
    await view.locator("#replay-play", { hasText: "Play" }).waitFor();
    await agrees(view, replay, last);
  });
});

test("every episode opens, with its outcome and its room", async () => {
  await visit(page("one"), async (view) => {
    for (const [at, replay] of run.replays.entries()) {
      await choose(view, at);
      await agrees(view, replay, 0);
      assert.match(await view.locator("#episode-title").textContent(), new RegExp(`${replay.set} map`, "i"));
      assert.ok((await view.locator("#room svg path").count()) > 5, "a room");
    }
  });
});

test("a method without a machine has replays too", async () => {
  await visit(page("several"), async (view) => {
    await view.selectOption("#run-select", "runs/ppo-1");
    await view.locator("#replay-machine", { hasText: "no machine" }).waitFor();
    await view.click("#replay-last");
    assert.match(await view.locator("#replay-position").textContent(), /^Step (\d+) of \1/);
  });
});
