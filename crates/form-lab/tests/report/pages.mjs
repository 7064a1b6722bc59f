// Makes what the tests look at: runs trained in seconds, a run damaged on purpose, one of 1,000 iterations, and their pages,
// all by `form` itself. `.ci/report` runs this once, before the tests.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, "../../../..");
export const form = path.join(root, "target/debug/form");
export const folder = path.join(root, "target/report");
export const runs = path.join(folder, "runs");
/** A run's folder whose very name is markup, turns the direction of writing round, and has letters of all sorts. */
export const hostileName = '<script>alert(1)<!--"onload=alert(1) \u202Etxet 😀';
export const seeds = [1, 2, 3];
export const longRun = { iterations: 1000 };

/** Settings that make a run a matter of seconds in a build without optimisation. */
export const quick = [
  "worlds=16",
  "ppo.train_batch=2048",
  "ppo.epochs=1",
  "network.filters=[4,4,4]",
  "network.hidden=[16]",
  "network.vector_units=16",
].flatMap((setting) => ["--set", setting]);

export const page = (name) => path.join(folder, `${name}.html`);
export const runOf = (seed) => path.join(runs, `form-${seed}`);

/** Runs `form` from the folder, so that names on the page are short; its answer. */
function call(...args) {
  return execFileSync(form, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function train(name, task, seed, ...more) {
  call("train", task, "--seed", String(seed), "--out", `runs/${name}`, "--iterations", "8", ...quick, ...more);
}

const few = ["--episodes", "16", "--replays", "4"];

/** A copy of the first run with half of a table, without its times, and with a machine, a state and a result that are markup. */
function makeHostile() {
  const run = path.join(folder, "hostile", hostileName);
  fs.cpSync(runOf(1), run, { recursive: true });
  const metrics = path.join(run, "metrics.csv");
  fs.writeFileSync(metrics, fs.readFileSync(metrics, "utf8").split("\n").slice(0, 5).join("\n") + "\n5,24576,<b>");
  fs.rmSync(path.join(run, "timings.csv"));
  fs.rmSync(path.join(run, "checkpoints"), { recursive: true });
  fs.appendFileSync(path.join(run, "policies.csv"), '8,"<img src=x onerror=alert(1)>",1,0,0,0,0,0,0\n');
  fs.writeFileSync(
    path.join(run, "machines/001.form"),
    "machine m\ninitial u0\naccept u_acc\nu0 -> u_acc : <script>alert(1)</script>\n",
  );
  const result = path.join(run, "result.json");
  const said = JSON.parse(fs.readFileSync(result, "utf8"));
  fs.writeFileSync(result, JSON.stringify({ ...said, message: "</script><script>alert(1)</script>" }));
}

/** The first run with its tables drawn out: as many rows as a long run has. */
function makeLong() {
  const run = path.join(folder, "long");
  fs.cpSync(runOf(1), run, { recursive: true });
  for (const name of ["metrics.csv", "timings.csv"]) {
    const [head, ...rows] = fs.readFileSync(path.join(run, name), "utf8").trim().split("\n");
    const last = rows[rows.length - 1].split(",");
    for (let i = rows.length + 1; i <= longRun.iterations; i++) {
      const row = [...last];
      row[0] = String(i);
      row[1] = name === "metrics.csv" ? String(Number(last[1]) + 2048 * (i - 8)) : String(Number(last[1]) + i - 8);
      if (name === "metrics.csv") row[3] = row[4] = i % 7 === 0 ? "" : String((i % 100) / 100);
      rows.push(row.join(","));
    }
    fs.writeFileSync(path.join(run, name), [head, ...rows, ""].join("\n"));
  }
}

function makeAll() {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  for (const seed of seeds) train(`form-${seed}`, "green-but-one", seed, "--set", "learning.explore=128");
  train("ppo-1", "green-but-one", 1, "--method", "ppo");
  makeHostile();
  makeLong();
  call("report", "runs/form-1", ...few, "--out", "one.html");
  call("report", "runs", ...few, "--out", "several.html");
  call("report", `hostile/${hostileName}`, ...few, "--out", "hostile.html");
  call("report", "long", "--out", "long.html");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) makeAll();
