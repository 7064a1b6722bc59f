// What set a machine apart from the one before it, and the trace that refuted that one: the counterexample, with the states
// that the refuted machine went through.
(() => {
  "use strict";

  const { make } = report.dom;
  const { plural, count } = report.numbers;

  /** What a trace of a kind is, and what a machine says of it. */
  const WORDS = { goal: "had completed the task", "dead-end": "had run into a dead end", incomplete: "was not over" };

  /** The states that no state of the previous machine became. */
  function newStates(machine, previous) {
    if (!previous) return [];
    const renamed = new Map(machine.renamed);
    const kept = new Set(previous.states.map((state) => renamed.get(state) ?? state));
    return machine.states.filter((state) => !kept.has(state));
  }

  /** New and renamed states, new and gone edges, as a list. */
  function list(machine, previous, fresh) {
    if (!previous) return make("p", { class: "empty" }, "It is the first machine of the run.");
    const edge = ({ from, to, formula }) => [`${from} → ${to} `, make("code", {}, formula)];
    const named = (one) => ({ from: machine.states[one.from], to: machine.states[one.to], formula: one.formula });
    const item = (kind, sign, what) =>
      make("li", { class: kind }, make("span", { class: "sign" }, sign), make("span", {}, ...what));
    const added = machine.edges.filter((one) => one.is_new);
    const items = [
      ...fresh.map((state) => item("added", "new state", [make("span", { class: "state-name" }, state)])),
      ...machine.renamed.map(([from, to]) => item("renamed", "renamed", [`${from} is now ${to}`])),
      ...added.map((one) => item("added", "new edge", edge(named(one)))),
      ...machine.gone.map((one) => item("gone", "gone", edge(one))),
    ];
    return items.length === 0 ? make("p", { class: "empty" }, "Nothing.") : make("ul", { class: "changes" }, ...items);
  }

  /** An observation as chips between braces, as in the paper's traces. */
  function observation(atoms) {
    return make("span", { class: "observation" }, ...atoms.map((atom) => make("span", { class: "chip" }, atom)));
  }

  /** The trace that refuted the previous machine: its observations, with that machine's states between them. */
  function refutation(machine, previous) {
    const found = machine.counterexample;
    const traces =
      machine.counterexamples > 0 ? `It was learnt from ${plural(machine.counterexamples, "new trace")}. ` : "";
    if (!found)
      return [make("p", { class: "empty" }, `${traces}No trace that refuted the machine before it is known.`)];
    const about = previous ? `machine ${previous.number}` : "the machine before it";
    const wrong = found.states.length - 1;
    const when =
      wrong < found.steps.length ? ` After ${plural(wrong, "observation")} of ${found.steps.length}` : " At its end";
    const said = make(
      "p",
      {},
      `${traces}Line ${count(found.line)} of traces.jsonl refuted ${about}.${when} the episode `,
      make("strong", {}, WORDS[found.expected] ?? found.expected),
      ", but the machine said that it ",
      make("strong", {}, WORDS[found.said] ?? found.said),
      ".",
    );
    // The states end where the machine is wrong; what was observed afterwards is there, but paler.
    const state = (at) =>
      make(
        "li",
        { class: at === wrong ? "said-wrong" : null },
        make("span", { class: "state-name" }, found.states[at]),
      );
    const steps = found.steps.flatMap((atoms, at) => [
      make("li", { class: at < wrong ? "step" : "step after" }, observation(atoms)),
      at < wrong ? state(at + 1) : null,
    ]);
    return [
      said,
      make(
        "ol",
        { class: "trace", "aria-label": `Trace ${found.line}, with the states of ${about}` },
        state(0),
        ...steps,
      ),
    ];
  }

  report.changes = { newStates, list, refutation };
})();
