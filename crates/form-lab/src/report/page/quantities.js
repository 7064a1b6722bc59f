// What curves can show, and over what: the names of the columns in the data, and how their values are written.
(() => {
  "use strict";

  const { count, measure, share, short, duration } = report.numbers;

  const percent = { tick: (value) => `${Math.round(100 * value)} %`, text: share, range: [-0.03, 1.03] };
  const number = { tick: short, text: measure };

  /** What is drawn: its name, how it stands on the axis (`tick`) and in a text, the ends of the axis where they are fixed, and what a
   * reader has to know. */
  const QUANTITIES = {
    success: {
      label: "Success rate",
      hint: "Success is that of fixed episodes, all of which count; the first point is before anything was learnt.",
      ...percent,
    },
    return: { label: "Unshaped return", ...number },
    length: { label: "Steps of an episode", ...number },
    ended_success: {
      label: "Success of episodes that ended",
      hint: "Episodes that fail take longest, so too many of those that have ended succeed.",
      ...percent,
    },
    ended_length: { label: "Steps of episodes that ended", ...number },
    shaped_return: { label: "Shaped return of episodes that ended", ...number },
    states: { label: "States of the machine", ...number },
    counterexamples: { label: "Counterexamples", ...number },
  };

  /** What it is drawn over. */
  const AXES = {
    iteration: { label: "iterations", title: "iteration", tick: short, text: count },
    steps: { label: "environment steps", title: "environment step", tick: short, text: count },
    seconds: { label: "wall time", title: "wall time", tick: duration, text: duration },
  };

  /** What the band around a mean shows. */
  const SPREADS = [
    ["deviation", "standard deviation"],
    ["range", "lowest to highest"],
    ["none", "none"],
  ];

  /** How many iterations are averaged into a point. */
  const SMOOTHINGS = [
    ["1", "none"],
    ["5", "mean of 5 points"],
    ["15", "mean of 15 points"],
  ];

  report.quantities = { QUANTITIES, AXES, SPREADS, SMOOTHINGS };
})();
