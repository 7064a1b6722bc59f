// The second section: the machines of a run as they were learnt, one at a time. The slider starts at the last; on a live
// page it follows the newest for as long as it stands there.
(() => {
  "use strict";

  const { byId, make, setDisabled, say, changed } = report.dom;
  const { count, duration, plural, measure } = report.numbers;

  let run = null;
  let shown = 0;

  /** When a machine was learnt and how long that took, in words. */
  function story(machine, of) {
    const size = `${plural(machine.states.length, "state")}, ${plural(machine.edges.length, "edge")}`;
    const parts = [`Machine ${machine.number} (${shown + 1} of ${of}): ${size}`];
    if (machine.iteration !== null) parts.push(`learnt in iteration ${count(machine.iteration)}`);
    if (machine.iteration === null) parts.push("the machine it began with");
    if (machine.steps !== null) parts.push(`after ${count(machine.steps)} steps`);
    if (machine.seconds !== null) parts.push(`in ${duration(machine.seconds)}`);
    return `${parts.join(" · ")}.`;
  }

  /** The edges as a list of formulae in the paper's notation. */
  function edgeList(machine) {
    if (machine.edges.length === 0) return make("p", { class: "empty" }, "It has no edges: nothing is known yet.");
    const state = (at) => make("span", { class: "state-name" }, machine.states[at] ?? "?");
    const own = (edge) => edge.reward === (edge.to === machine.accept ? 1 : 0);
    const item = (edge, at) =>
      make(
        "li",
        { class: edge.is_new ? "new" : null, "data-edge-row": at },
        state(edge.from),
        " → ",
        state(edge.to),
        " ",
        make("code", {}, edge.formula),
        own(edge) ? null : make("span", { class: "tag" }, `reward ${measure(edge.reward)}`),
        edge.is_new ? make("span", { class: "tag new" }, "new") : null,
      );
    return make("ul", { class: "edges" }, ...machine.edges.map(item));
  }

  function draw() {
    const machines = run.machines;
    const machine = machines[shown];
    const slider = byId("machine-slider");
    slider.max = String(machines.length - 1);
    slider.value = String(shown);
    const said = story(machine, machines.length);
    slider.setAttribute("aria-valuetext", `Machine ${machine.number}`);
    say(byId("machine-said"), said);
    setDisabled(byId("machine-previous"), shown === 0);
    setDisabled(byId("machine-next"), shown === machines.length - 1);
    if (!changed(byId("machine-panel"), JSON.stringify([run.name, shown, machine]))) return;
    const previous = machines[shown - 1] ?? null;
    const fresh = report.changes.newStates(machine, previous);
    const graph = report.graph.place(byId("machine-drawing"), machine);
    graph.mark(
      "is-new",
      fresh,
      machine.edges.flatMap((edge, at) => (edge.is_new ? [at] : [])),
    );
    byId("machine-edges").replaceChildren(edgeList(machine));
    byId("machine-changes").replaceChildren(report.changes.list(machine, previous, fresh));
    byId("machine-counterexample").replaceChildren(...report.changes.refutation(machine, previous));
  }

  function go(to) {
    if (!run || to < 0 || to >= run.machines.length) return;
    shown = to;
    draw();
  }

  /** Prepares the section, once. */
  function start() {
    byId("machine-slider").addEventListener("input", (event) => go(Number(event.target.value)));
    byId("machine-previous").addEventListener("click", () => go(shown - 1));
    byId("machine-next").addEventListener("click", () => go(shown + 1));
  }

  /** Shows a run's machines. */
  function update(next) {
    const same = run !== null && next !== null && run.name === next.name;
    const at_end = !same || shown >= run.machines.length - 1;
    run = next;
    const none = !run || run.machines.length === 0;
    byId("machine-panel").hidden = none;
    byId("machine-empty").hidden = !none;
    if (none) {
      say(byId("machine-empty"), run ? "This run has no machine." : "There is no run.");
      return;
    }
    shown = at_end ? run.machines.length - 1 : Math.min(shown, run.machines.length - 1);
    draw();
  }

  report.machines = { start, update };
})();
