// The fourth section: what there is to know about a run besides its pictures. Facts, evaluations, policies, settings, files.
(() => {
  "use strict";

  const { byId, make, say, changed, table } = report.dom;
  const { count, measure, share, bytes, plural } = report.numbers;

  let settings = [];

  function none(text) {
    return make("p", { class: "empty" }, text);
  }

  function facts(run) {
    if (run.facts.length === 0) return none("Nothing is known about this run.");
    return make(
      "dl",
      { class: "facts" },
      ...run.facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]),
    );
  }

  /** Only a link to a file next to the page, or above it, is one: whatever else stands there is shown as text. */
  function isRelative(href) {
    return href !== null && !/^[^/]*:/.test(href) && !href.startsWith("//");
  }

  function files(run) {
    if (run.files.length === 0) return none("No files were found.");
    const item = (file) =>
      make(
        "li",
        {},
        isRelative(file.href) ? make("a", { href: file.href }, file.name) : file.name,
        make("span", { class: "size" }, bytes(file.bytes)),
      );
    return make("ul", { class: "files" }, ...run.files.map(item));
  }

  function evaluations(run) {
    if (run.evaluations.length === 0) return none("Its policies were not evaluated.");
    const titles = [
      "maps",
      "actions",
      "measured",
      "episodes",
      "success",
      "95 % interval",
      "random",
      "steps, mean",
      "shortest",
      "steps ÷ shortest",
      "dead ends",
      "out of time",
      "cut off",
    ];
    // What was proven only in part is a bound.
    const bound = (one, sign, text) => (text === "–" || one.shortest_exact ? text : `${sign} ${text}`);
    const row = (one) => [
      one.held_out ? "held-out" : "training",
      one.greedy ? "greedy" : "sampled",
      one.when,
      count(one.episodes),
      share(one.success),
      `${share(one.low)} to ${share(one.high)}`,
      share(one.random),
      measure(one.length),
      bound(one, "≥", measure(one.shortest)),
      bound(one, "≤", measure(one.ratio)),
      count(one.dead_ends),
      count(one.out_of_time),
      count(one.cut_off),
    ];
    const numeric = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    return table("Evaluations", titles, run.evaluations.map(row), numeric);
  }

  /** Where episodes fail, set by set. */
  function failures(run) {
    const said = run.evaluations
      .filter((one) => one.failures.length > 0)
      .map((one) => `${one.held_out ? "Held-out" : "Training"} maps: ${one.failures.join("; ")}.`);
    return make("ul", { class: "hint" }, ...said.map((text) => make("li", {}, text)));
  }

  function policies(run) {
    if (run.policies.length === 0) return none("No policy has been updated.");
    const titles = [
      "state",
      "updates",
      "samples",
      "policy loss",
      "value loss",
      "entropy",
      "KL divergence",
      "clipped",
      "gradient norm",
    ];
    const row = (one) => [
      one.state,
      count(one.updates),
      count(one.samples),
      measure(one.policy_loss),
      measure(one.value_loss),
      measure(one.entropy),
      measure(one.kl),
      share(one.clipped),
      measure(one.gradient),
    ];
    return table("The last update of each policy", titles, run.policies.map(row), [1, 2, 3, 4, 5, 6, 7, 8]);
  }

  /** A wide table scrolls by itself, with the keyboard too. */
  function scrolling(label, content) {
    return content.localName === "table"
      ? make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, content)
      : content;
  }

  function drawSettings() {
    const wanted = byId("config-filter").value.trim().toLowerCase();
    const found = settings.filter(
      ([name, value]) => name.toLowerCase().includes(wanted) || value.toLowerCase().includes(wanted),
    );
    const host = byId("config");
    host.hidden = found.length === 0;
    say(
      byId("config-count"),
      settings.length === 0
        ? "Its settings could not be read."
        : `${found.length} of ${plural(settings.length, "setting")}`,
    );
    if (changed(host, JSON.stringify(found))) {
      host.replaceChildren(
        table(
          "Settings",
          ["setting", "value"],
          found.map(([name, value]) => [make("code", {}, name), make("code", {}, value)]),
        ),
      );
    }
  }

  /** Prepares the section, once. */
  function start() {
    byId("config-filter").addEventListener("input", drawSettings);
  }

  /** Shows a run; what has not changed is left as it is. */
  function update(run) {
    if (!run) {
      byId("run").hidden = true;
      return;
    }
    if (changed(byId("failures"), JSON.stringify([run.name, run.evaluations]))) {
      byId("failures").replaceChildren(failures(run));
    }
    const parts = { facts, files, evaluations, policies };
    for (const [id, content] of Object.entries(parts)) {
      if (!changed(byId(id), JSON.stringify([run.name, run[id]]))) continue;
      byId(id).replaceChildren(scrolling(id === "policies" ? "Policies" : "Evaluations", content(run)));
    }
    settings = run.config;
    drawSettings();
  }

  report.table = { start, update };
})();
