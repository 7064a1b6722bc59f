// The top of the page: whose runs these are and what came of them. One run has its main figures there, several have a table
// of their groups. Whatever is wrong with a run's folder stands here too, before anything that was drawn from it.
(() => {
  "use strict";

  const { byId, make, say, changed, table } = report.dom;
  const { count, share, short, duration, plural } = report.numbers;
  const { groupsOf, nameOf } = report.series;

  const STATUS = {
    converged: ["good", "converged"],
    fell: ["bad", "fell back"],
    "out-of-iterations": ["plain", "out of iterations"],
    "no-machine": ["bad", "no machine found"],
    unfinished: ["plain", "unfinished"],
  };
  const MOST_NOTES = 6;

  /** The last value of a list that is one. */
  function lastOf(values) {
    for (let i = (values ?? []).length - 1; i >= 0; i--) if (Number.isFinite(values[i])) return values[i];
    return null;
  }

  function badge(run) {
    const [kind, text] = STATUS[run.status] ?? ["plain", run.status ?? "unknown"];
    return make("span", { class: `badge ${kind}` }, text);
  }

  function partsOf(run) {
    return [run.task ?? run.name, run.method, run.seed === null ? null : `seed ${run.seed}`].filter(
      (part) => part !== null,
    );
  }

  /** What a run is called in a list of runs. */
  function titleOf(run) {
    return partsOf(run).join(" · ");
  }

  /** Texts side by side; whatever direction one is written in, the next is not drawn into it. */
  function write(host, parts, between) {
    if (!changed(host, JSON.stringify(parts))) return;
    host.replaceChildren(...parts.flatMap((part, at) => [at > 0 ? between : "", make("bdi", {}, part)]));
  }

  /** The figures that matter most, side by side. */
  function figures(run) {
    const machine = run.machines[run.machines.length - 1];
    const seconds = lastOf(run.curves.seconds);
    const success = run.random === null ? share(run.success) : `${share(run.success)} (random ${share(run.random)})`;
    const found = [
      [run.status === "unfinished" ? "success in the last evaluation" : "success", success],
      ["environment steps", short(lastOf(run.curves.steps) ?? 0)],
      ["iterations", count(lastOf(run.curves.iteration) ?? 0)],
      seconds === null ? null : ["of training", duration(seconds)],
      machine
        ? ["in its machine", `${plural(machine.states.length, "state")}, ${plural(machine.edges.length, "edge")}`]
        : null,
    ];
    const figure = ([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value));
    return make(
      "dl",
      { class: "figures" },
      make("div", {}, make("dt", {}, "ended"), make("dd", {}, badge(run))),
      ...found.filter(Boolean).map(figure),
    );
  }

  function median(values) {
    const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
    if (sorted.length === 0) return null;
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** A row a group; each of its runs is a button that shows it below. */
  function groupTable(groups, choose) {
    const mean = (values) => {
      const known = values.filter((value) => value !== null);
      return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
    };
    const row = (group) => {
      const steps = median(group.runs.map((run) => lastOf(run.curves.steps)));
      const converged = group.runs.filter((run) => run.status === "converged").length;
      const button = (run) =>
        make(
          "button",
          {
            type: "button",
            class: "toggle single",
            "data-run": run.name,
            title: run.name,
            on: { click: () => choose(run.name) },
          },
          nameOf(run, group),
        );
      return [
        group.label,
        `${converged} of ${group.runs.length}`,
        share(mean(group.runs.map((run) => run.success))),
        share(mean(group.runs.map((run) => run.random))),
        steps === null ? "–" : short(steps),
        make("span", { class: "buttons" }, ...group.runs.map(button)),
      ];
    };
    const titles = ["task and method", "converged", "success, mean", "random", "steps, median", "look at"];
    return make(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Groups of runs" },
      table("Groups of runs", titles, groups.map(row), [1, 2, 3, 4]),
    );
  }

  function noteBox(runs) {
    const lines = (run) => {
      const item = (note) => make("li", {}, note);
      const rest = run.notes.slice(MOST_NOTES);
      const more =
        rest.length === 0
          ? null
          : make(
              "li",
              {},
              make("details", {}, make("summary", {}, `${rest.length} more`), make("ul", {}, ...rest.map(item))),
            );
      return [make("h3", {}, run.name), make("ul", {}, ...run.notes.slice(0, MOST_NOTES).map(item), more)];
    };
    // What is the same of many runs is said once.
    const alike = new Map();
    for (const run of runs) {
      const key = JSON.stringify(run.notes);
      if (!alike.has(key)) alike.set(key, []);
      alike.get(key).push(run);
    }
    const said = [...alike.values()].map(([first, ...others]) => ({
      notes: first.notes,
      name: others.length === 0 ? first.name : `${first.name} and ${others.length} more`,
    }));
    return make(
      "section",
      { class: "notes", "aria-labelledby": "notes-heading" },
      make("h2", { id: "notes-heading" }, "Not everything could be read"),
      ...said.flatMap(lines),
    );
  }

  /** Shows the data's title, figures and notes; `choose` takes the name of a run. */
  function update(data, choose) {
    const { runs } = data;
    const alone = runs.length === 1 ? runs[0] : null;
    const groups = groupsOf(runs);
    const tasks = [...new Set(runs.map((run) => run.task ?? "unknown task"))];
    const title = alone ? partsOf(alone) : [`${plural(runs.length, "run")}: ${tasks.join(", ")}`];
    write(byId("title"), title, " · ");
    write(byId("subtitle"), alone ? [alone.name, alone.message] : [], ": ");
    if (
      changed(
        byId("headline"),
        JSON.stringify(alone && [alone.status, alone.success, alone.curves.iteration.length, alone.machines.length]),
      )
    ) {
      byId("headline").replaceChildren(...(alone ? [figures(alone)] : []));
    }
    const shape = groups.map((group) => group.runs.map((run) => [run.name, run.status, run.success, run.curves.iteration.length]));
    if (changed(byId("groups"), JSON.stringify(shape))) {
      byId("groups").replaceChildren(...(runs.length > 1 ? [groupTable(groups, choose)] : []));
    }
    const noted = runs.filter((run) => run.notes.length > 0);
    if (changed(byId("notes"), JSON.stringify(noted.map((run) => [run.name, run.notes])))) {
      byId("notes").replaceChildren(...(noted.length > 0 ? [noteBox(noted)] : []));
    }
    say(byId("made-by"), `Made by form ${data.version}`);
  }

  /** Shows which run the sections below are about. */
  function point(name) {
    for (const button of byId("groups").querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.run === name));
    }
  }

  report.overview = { update, point, titleOf };
})();
