// A live page: it follows a training without being touched, keeps what was chosen, and says so when the training is gone.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import readline from "node:readline";
import { test } from "node:test";
import { dataOf, texts, visit, withBrowser, withData } from "./browser.mjs";
import { folder, form, page, quick } from "./pages.mjs";
import { openTable } from "./values.mjs";

withBrowser();

/** A training of more iterations than it will ever do, once it has said where its page is. Whoever starts it ends it. */
function startTraining() {
  const out = path.join(folder, "live");
  fs.rmSync(out, { recursive: true, force: true });
  const training = spawn(form, ["train", "green-but-one", "--out", out, "--iterations", "100000", "--threads", "1", ...quick, "--live"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((done) => training.once("exit", done));
  const end = () => {
    training.kill("SIGKILL");
    return ended;
  };
  const said = [];
  return new Promise((started, failed) => {
    for (const stream of [training.stdout, training.stderr]) {
      readline.createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        const url = line.match(/http:\/\/127\.0\.0\.1:\d+\//);
        if (url) started({ url: url[0], end });
      });
    }
    ended.then(() => failed(new Error(`it ended: ${said.join("\n")}`)));
  });
}

/** Waits until the table of the run tells of more iterations than so many; how many those are. */
async function waitForMore(view, than) {
  const read = (least) => {
    const name = [...document.querySelectorAll("#facts dt")].find((node) => node.textContent === "iterations");
    const now = Number(name?.nextElementSibling.textContent ?? 0);
    return now > least ? now : null;
  };
  return (await view.waitForFunction(read, than)).jsonValue();
}

test("it follows the training by itself, keeps what was chosen, and tells when it is gone", async () => {
  const { url, end } = await startTraining();
  try {
    await visit(
      url,
      async (view, problems) => {
        assert.match(await view.locator("#live").textContent(), /^Live/);
        // Enough to zoom into, a machine that was learnt, and episodes to look at.
        const before = await waitForMore(view, 4);
        await view.waitForFunction(() => Number(document.getElementById("machine-slider").max) >= 1);
        await view.waitForSelector("#episode-list button");
        await view.selectOption("#quantity", "states");
        await view.click("#zoom-in");
        await view.locator("#machine-slider").fill("0");
        await view.click("#replay-forward");
        const position = await view.locator("#replay-position").textContent();
        const room = await view.locator("#room").innerHTML();
        await view.fill("#config-filter", "gamma");
        await waitForMore(view, await waitForMore(view, before));
        assert.equal(await view.locator("#quantity").inputValue(), "states");
        assert.equal(await view.locator("#zoom-reset").getAttribute("aria-disabled"), "false", "the zoom stays");
        assert.match(await view.locator("#machine-said").textContent(), /^Machine 0 /);
        assert.equal(await view.locator("#replay-position").textContent(), position);
        assert.equal(await view.locator("#room").innerHTML(), room, "whoever looks at an episode keeps it");
        assert.equal(await view.locator("#config-filter").inputValue(), "gamma");
        assert.equal(await view.locator("#config tbody tr").count(), 1);
        assert.equal(await view.evaluate(() => document.activeElement.id), "config-filter");
        await end();
        await view.locator("#live.over", { hasText: "does not answer any more" }).waitFor();
        assert.ok(await view.locator("#chart canvas").isVisible(), "the last data stays");
        // The browser itself notes a refused connection: three, since the page then asks no more.
        const refused = problems.filter((problem) => /net::ERR_/.test(problem));
        assert.equal(refused.length, 3, refused.join("\n"));
        problems.splice(0, problems.length, ...problems.filter((problem) => !refused.includes(problem)));
      },
      { mayAsk: (asked) => asked === `${url}data.json` },
    );
  } finally {
    await end();
  }
});

test("curves and machines grow with every answer, and the page says when the run is over", async () => {
  const whole = dataOf(page("one"));
  /** The run as it was after so many iterations. */
  const early = (iterations, live) => {
    const [run] = whole.runs;
    const curves = Object.fromEntries(
      Object.entries(run.curves).map(([name, list]) => [name, list.slice(0, iterations)]),
    );
    const machines = run.machines.filter((machine) => machine.iteration === null || machine.iteration <= iterations);
    return { ...whole, live, runs: [{ ...run, curves, machines, replays: [] }] };
  };
  const asked = { seconds: 0.05 };
  const answers = [early(4, asked), early(6, asked), { ...whole, live: null }];
  const html = fs.readFileSync(withData(page("one"), early(1, asked), path.join(folder, "growing.html")), "utf8");
  // The page of a run that is over may ask for nothing: this one is to be live.
  const live = html.replace("connect-src 'none'", "connect-src 'self'");
  assert.notEqual(live, html);
  let told = 0;
  const server = http.createServer((request, response) => {
    response.setHeader("Content-Type", request.url === "/" ? "text/html; charset=utf-8" : "application/json");
    response.end(request.url === "/" ? live : JSON.stringify(answers[told++]));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${server.address().port}/`;
  try {
    await visit(
      url,
      async (view) => {
        await view.locator("#live.over", { hasText: "The training is over" }).waitFor();
        assert.equal(told, answers.length, "it asks no more");
        await view.selectOption("#quantity", "states");
        await openTable(view);
        assert.equal(await view.locator("#curves-values tbody tr").count(), whole.runs[0].curves.iteration.length);
        const last = whole.runs[0].machines.length - 1;
        assert.equal(await view.locator("#machine-slider").inputValue(), String(last), "it followed the newest");
        assert.equal((await texts(view, "#episode-list button")).length, whole.runs[0].replays.length);
      },
      { mayAsk: (other) => other === `${url}data.json` },
    );
  } finally {
    server.close();
  }
});
