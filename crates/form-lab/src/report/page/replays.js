// The third section: the list of recorded episodes, failures first, and which of them the player shows.
(() => {
  "use strict";

  const { byId, make, say, changed } = report.dom;
  const { plural } = report.numbers;
  const { length, outcome, place } = report.episode;

  let run = null;
  let chosen = 0;

  /** The numbers of the episodes that the filters let through. */
  function listed() {
    const set = byId("episode-set").value;
    const failures = byId("failures-only").checked;
    return run.replays
      .map((_, at) => at)
      .filter((at) => (set === "all" || run.replays[at].set === set) && (!failures || !run.replays[at].success));
  }

  function item(at) {
    const replay = run.replays[at];
    return make(
      "li",
      {},
      make(
        "button",
        {
          type: "button",
          class: replay.success ? "episode good" : "episode bad",
          "data-episode": at,
          on: { click: () => choose(at) },
        },
        make("span", { class: "outcome" }, `${replay.success ? "✓" : "✗"} ${outcome(replay)}`),
        make("span", { class: "where" }, `${place(replay)} · ${plural(length(replay), "step")}`),
        replay.refuted ? make("span", { class: "tag" }, "refuted the machine") : null,
      ),
    );
  }

  function drawList() {
    const shown = listed();
    const host = byId("episode-list");
    if (changed(host, JSON.stringify([run.name, shown.map((at) => run.replays[at])]))) {
      const focused = host.contains(document.activeElement) ? document.activeElement.dataset.episode : null;
      host.replaceChildren(...shown.map(item));
      if (focused) host.querySelector(`[data-episode="${focused}"]`)?.focus();
    }
    const failed = run.replays.filter((replay) => !replay.success).length;
    const failures = failed === 0 ? "none failed" : `${failed} failed`;
    say(
      byId("episode-count"),
      shown.length === 0
        ? `None of ${plural(run.replays.length, "episode")} is like that.`
        : `${shown.length} of ${plural(run.replays.length, "episode")}, ${failures}`,
    );
    for (const button of host.querySelectorAll("button")) {
      const current = Number(button.dataset.episode) === chosen;
      if (current) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  function choose(at) {
    chosen = at;
    drawList();
    report.player.show(run, run.replays[chosen]);
  }

  /** Other filters: the episode stays if it is still listed, else the first that is. */
  function filter() {
    const shown = listed();
    if (shown.length > 0 && !shown.includes(chosen)) choose(shown[0]);
    else drawList();
  }

  /** Prepares the section, once. */
  function start() {
    report.player.start();
    byId("episode-set").addEventListener("change", filter);
    byId("failures-only").addEventListener("change", filter);
  }

  /** Shows a run's episodes. */
  function update(next) {
    const same = run !== null && next !== null && run.name === next.name;
    const watched = same && report.player.isWatched() ? JSON.stringify(run.replays[chosen]) : null;
    run = next;
    const none = !run || run.replays.length === 0;
    byId("player").hidden = none;
    byId("replays-empty").hidden = !none;
    if (none) {
      report.player.stop();
      say(byId("replays-empty"), run ? "No episodes of this run have been played." : "There is no run.");
      return;
    }
    if (watched) {
      // Whoever looks at an episode keeps it, even if new ones have taken its place in the list.
      chosen = run.replays.findIndex((replay) => JSON.stringify(replay) === watched);
      drawList();
      return;
    }
    chosen = listed()[0] ?? 0;
    drawList();
    report.player.show(run, run.replays[chosen]);
  }

  report.replays = { start, update };
})();
