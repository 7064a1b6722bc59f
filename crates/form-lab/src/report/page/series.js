// The arithmetic of the curves: the points of a run, their smoothing, and the mean and spread of several runs. Runs are
// compared on a common grid, on which each is interpolated linearly; before its first point a run has its first value, after
// its last it keeps its last. Iterations without a value have no point.
(() => {
  "use strict";

  /** More places than this are not drawn one by one: a grid of `GRID` places stands for them. */
  const MOST_PLACES = 6000;
  const GRID = 2000;

  /** The points of a run from left to right, as two lists; `window` iterations are averaged into each. */
  function points(run, quantity, axis, window) {
    const all_x = run.curves[axis] || [];
    const all_y = smooth(run.curves[quantity] || [], window);
    const found = { x: [], y: [] };
    let sorted = true;
    for (let i = 0; i < Math.min(all_x.length, all_y.length); i++) {
      if (!Number.isFinite(all_x[i]) || !Number.isFinite(all_y[i])) continue;
      sorted = sorted && (found.x.length === 0 || all_x[i] >= found.x[found.x.length - 1]);
      found.x.push(all_x[i]);
      found.y.push(all_y[i]);
    }
    return sorted ? found : inOrder(found);
  }

  function inOrder(found) {
    const order = found.x.map((_, i) => i).sort((a, b) => found.x[a] - found.x[b]);
    return { x: order.map((i) => found.x[i]), y: order.map((i) => found.y[i]) };
  }

  /** Each value replaced by the mean of those of the last `window` iterations; where there is none, there is none. */
  function smooth(values, window) {
    if (window <= 1) return values;
    let sum = 0;
    let known = 0;
    return values.map((value, i) => {
      if (Number.isFinite(value)) {
        sum += value;
        known += 1;
      }
      const gone = i >= window ? values[i - window] : null;
      if (Number.isFinite(gone)) {
        sum -= gone;
        known -= 1;
      }
      return Number.isFinite(value) ? sum / known : null;
    });
  }

  /** The values of a run at ascending places; those before its first point are its first, those after its last its last. */
  function valuesAt(run, places) {
    const { x, y } = run;
    let after = 0;
    return places.map((place) => {
      while (after < x.length && x[after] <= place) after += 1;
      if (after === x.length) return x.length === 0 ? null : y[after - 1];
      if (after === 0) return y[0];
      const share = (place - x[after - 1]) / (x[after] - x[after - 1]);
      return y[after - 1] + (y[after] - y[after - 1]) * share;
    });
  }

  /** All places where one of the runs has a point, ascending, or a grid over them if they are very many. */
  function placesOf(runs) {
    const all = [];
    for (const run of runs) for (const x of run.x) all.push(x);
    const places = [...new Set(all)].sort((a, b) => a - b);
    if (places.length <= MOST_PLACES) return places;
    const first = places[0];
    const step = (places[places.length - 1] - first) / GRID;
    return Array.from({ length: GRID + 1 }, (_, i) => first + i * step);
  }

  /** Mean and band of the runs at the places, from the first point of any on; `spread` is deviation, range or none. */
  function averages(runs, places, spread) {
    const known = runs.filter((run) => run.x.length > 0);
    const start = Math.min(...known.map((run) => run.x[0]));
    const values = known.map((run) => valuesAt(run, places));
    const result = { mean: [], low: [], high: [] };
    places.forEach((place, i) => {
      const here = values.map((list) => list[i]);
      const [mean, low, high] = place < start || here.length === 0 ? [null, null, null] : average(here, spread);
      result.mean.push(mean);
      result.low.push(low);
      result.high.push(high);
    });
    return result;
  }

  function average(values, spread) {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    if (spread === "range") return [mean, Math.min(...values), Math.max(...values)];
    if (spread !== "deviation" || values.length < 2) return [mean, mean, mean];
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const deviation = Math.sqrt(squares / (values.length - 1));
    return [mean, mean - deviation, mean + deviation];
  }

  /** A single run at the places, between its first point and its last; as its own line would have it. */
  function within(run, places) {
    const first = run.x[0];
    const last = run.x[run.x.length - 1];
    return valuesAt(run, places).map((value, i) => (places[i] < first || places[i] > last ? null : value));
  }

  /** Settings that runs of one group may differ in. */
  const OF_A_RUN = ["seed", "task", "transfer.checkpoint"];

  /** The settings that make a run what it is, apart from its seed. */
  function settingsOf(run) {
    return (run.config ?? []).filter(([name]) => !OF_A_RUN.includes(name));
  }

  /** How a group differs from others of the same task and method: its settings that not all of them have. */
  function apart(group, others) {
    const own = settingsOf(group.runs[0]);
    const has = (other, [name, value]) => settingsOf(other.runs[0]).some(([n, v]) => n === name && v === value);
    const special = own.filter((setting) => others.some((other) => !has(other, setting)));
    const shown = special.slice(0, 3).map(([name, value]) => `${name} ${value}`);
    return shown.length === 0 ? [`group ${group.number + 1}`] : shown;
  }

  /** The runs by task, method and settings, in the order in which they come, each group with a number and a name. */
  function groupsOf(runs) {
    const groups = new Map();
    const tasks = new Set(runs.map((run) => run.task));
    for (const run of runs) {
      const key = JSON.stringify([run.task, run.method, settingsOf(run)]);
      if (!groups.has(key)) {
        const names = [tasks.size > 1 ? (run.task ?? "unknown task") : null, run.method ?? "unknown method"];
        groups.set(key, {
          key,
          label: names.filter((name) => name !== null).join(" · "),
          number: groups.size,
          runs: [],
        });
      }
      groups.get(key).runs.push(run);
    }
    const all = [...groups.values()];
    const labels = all.map((group) => {
      const others = all.filter((other) => other !== group && other.label === group.label);
      return others.length === 0 ? group.label : [group.label, ...apart(group, others)].join(" · ");
    });
    labels.forEach((label, i) => (all[i].label = label));
    return all;
  }

  /** What a run is called inside its group: by its seed, or its folder where that is not enough. */
  function nameOf(run, group) {
    const alone = group.runs.filter((other) => other.seed === run.seed).length === 1;
    return run.seed !== null && run.seed !== undefined && alone ? `seed ${run.seed}` : run.name;
  }

  report.series = { points, smooth, valuesAt, placesOf, averages, within, groupsOf, nameOf };
})();
