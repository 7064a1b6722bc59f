// A recorded episode: what holds at a step of it. Nothing here touches the page.
(() => {
  "use strict";

  /** The last entry `[t, value]` of an ascending list with `t` at most the step, or null. */
  function lastBefore(entries, step) {
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (entries[middle][0] <= step) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? null : entries[low - 1];
  }

  /** The value of the entry exactly at the step, or null. */
  function exactly(entries, step) {
    const entry = lastBefore(entries, step);
    return entry && entry[0] === step ? entry[1] : null;
  }

  /** Where the agent is, what it observes, and where its machine stands. */
  function at(replay, step) {
    return {
      pose: replay.poses[step],
      action: step === 0 ? null : replay.actions[step - 1],
      labels: exactly(replay.labels, step) ?? [],
      state: lastBefore(replay.states, step)?.[1] ?? null,
      edge: exactly(replay.edges, step),
      buffer: lastBefore(replay.buffer, step)?.[1] ?? [],
    };
  }

  /** How many steps it has. */
  function length(replay) {
    return Math.max(0, replay.poses.length - 1);
  }

  /** All labels that occur in it, in the order of the alphabet. */
  function labels(replay) {
    return [...new Set(replay.labels.flatMap(([, atoms]) => atoms))].sort((a, b) =>
      a.localeCompare(b, "en", { numeric: true }),
    );
  }

  /** The steps at which something was observed or the machine moved, ascending. */
  function events(replay) {
    return [...new Set([...replay.labels.map(([t]) => t), ...replay.edges.map(([t]) => t)])].sort((a, b) => a - b);
  }

  const OUTCOMES = {
    goal: "task completed",
    "dead-end": "dead end",
    "out-of-time": "out of time",
    "cut-off": "cut off",
  };

  /** How it ended, in words. */
  function outcome(replay) {
    return OUTCOMES[replay.outcome] ?? replay.outcome;
  }

  /** Where it took place. A run that plays a new map every episode has no numbers for them. */
  function place(replay) {
    return replay.map === null ? `${replay.set} map` : `${replay.set} map ${replay.map}`;
  }

  report.episode = { at, length, labels, events, outcome, place };
})();
