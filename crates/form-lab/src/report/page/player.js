// The player: an episode step by step, with the machine's state, the edge it takes, the labels and the buffer beside it. It
// plays only when asked to.
(() => {
  "use strict";

  const { byId, make, makeSvg, drawing, setOptions, setDisabled, say } = report.dom;
  const { at, length, labels, events, outcome, place } = report.episode;

  const SPEEDS = [2, 4, 8, 16, 64, 250];
  const USUAL_SPEED = 4;
  const FACING = ["east", "south", "west", "north"];

  let replay = null;
  let machine = null;
  let graph = null;
  let agent = null;
  /** The labels that occur in the episode. */
  let known = [];
  let step = 0;
  /** The next step's timer while it plays. */
  let timer = null;

  function chips(host, atoms, lit) {
    const chip = (atom) => make("li", { class: lit.includes(atom) ? "chip lit" : "chip" }, atom);
    host.replaceChildren(...(atoms.length === 0 ? [make("li", { class: "empty" }, "nothing")] : atoms.map(chip)));
  }

  function stateName(number) {
    return number === null ? null : (machine?.states[number] ?? null);
  }

  /** What happened at a step, in words. */
  function sentence(now) {
    const parts = [];
    if (now.labels.length > 0) parts.push(`observed ${now.labels.join(", ")}`);
    const edge = now.edge === null ? null : machine?.edges[now.edge];
    if (edge) parts.push(`${machine.states[edge.from]} → ${machine.states[edge.to]}`);
    return parts.join("; ");
  }

  function draw() {
    const now = at(replay, step);
    const last = length(replay);
    const slider = byId("replay-slider");
    slider.max = String(last);
    slider.value = String(step);
    const [x, y, facing] = now.pose ?? [0, 0, 0];
    agent?.setAttribute("transform", `translate(${x + 0.5} ${y + 0.5}) rotate(${90 * facing})`);
    const state = stateName(now.state);
    const doing = now.action === null ? "at the start" : now.action;
    const words = [`Step ${step} of ${last}`, doing, state === null ? null : `state ${state}`];
    const position = words.filter((word) => word !== null).join(" · ");
    say(byId("replay-position"), position);
    slider.setAttribute("aria-valuetext", `${position}; at column ${x}, row ${y}, facing ${FACING[facing] ?? "?"}`);
    graph?.mark("lit", state === null ? [] : [state], []);
    graph?.mark("taken", [], now.edge === null ? [] : [now.edge]);
    chips(byId("replay-labels"), known, now.labels);
    chips(byId("replay-buffer"), now.buffer, now.labels);
    // While it plays, only what matters is said aloud.
    const happened = sentence(now);
    if (timer === null || happened !== "")
      say(byId("replay-said"), happened === "" ? position : `${position}: ${happened}`);
    for (const button of byId("replay-events").querySelectorAll("button")) {
      const current = Number(button.dataset.step) === step;
      if (current) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    for (const id of ["replay-first", "replay-back"]) setDisabled(byId(id), step === 0);
    for (const id of ["replay-forward", "replay-last"]) setDisabled(byId(id), step === last);
  }

  function drawEvents() {
    const item = (t) =>
      make(
        "li",
        {},
        make(
          "button",
          { type: "button", "data-step": t, on: { click: () => go(t) } },
          make("span", { class: "when" }, String(t)),
          sentence(at(replay, t)),
        ),
      );
    const found = events(replay);
    byId("replay-events").replaceChildren(
      ...(found.length === 0 ? [make("li", { class: "empty" }, "nothing was observed")] : found.map(item)),
    );
  }

  function go(to) {
    stop();
    step = Math.min(Math.max(to, 0), length(replay));
    draw();
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    say(byId("replay-play"), "Play");
  }

  function tick() {
    step += 1;
    draw();
    if (step >= length(replay)) stop();
    else timer = setTimeout(tick, 1000 / Number(byId("replay-speed").value));
  }

  function playOrPause() {
    if (timer !== null) {
      stop();
      draw();
      return;
    }
    if (step >= length(replay)) step = 0;
    say(byId("replay-play"), "Pause");
    timer = setTimeout(tick, 1000 / Number(byId("replay-speed").value));
    draw();
  }

  function drawRoom(text) {
    const room = text ? drawing(text) : null;
    agent = makeSvg("polygon", {
      class: "agent",
      points: "0.4,0 -0.4,0.3 -0.4,-0.3",
    });
    if (!room) {
      byId("room").replaceChildren(make("p", { class: "empty" }, "The room cannot be drawn."));
      return;
    }
    room.removeAttribute("width");
    room.removeAttribute("height");
    room.setAttribute("role", "img");
    room.setAttribute("aria-label", `Room of the ${place(replay)}`);
    room.append(agent);
    byId("room").replaceChildren(room);
  }

  /** Shows an episode of a run from its start. */
  function show(run, next) {
    stop();
    replay = next;
    machine = replay.machine === null ? null : (run.machines[replay.machine] ?? null);
    known = labels(replay);
    step = 0;
    say(
      byId("episode-title"),
      `${place(replay)}: ${outcome(replay)}`.replace(/^./, (letter) => letter.toUpperCase()),
    );
    drawRoom(run.rooms[replay.room]);
    graph = report.graph.place(byId("replay-machine"), machine);
    drawEvents();
    draw();
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
    const on_button = event.target.matches("button");
    const actions = {
      " ": on_button ? null : playOrPause,
      ArrowLeft: () => go(step - 1),
      ArrowRight: () => go(step + 1),
      Home: () => go(0),
      End: () => go(length(replay)),
    };
    if (!replay || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** Prepares the player, once. */
  function start() {
    setOptions(
      byId("replay-speed"),
      SPEEDS.map((speed) => [String(speed), `${speed} steps/s`]),
    );
    byId("replay-speed").value = String(USUAL_SPEED);
    byId("replay-play").addEventListener("click", playOrPause);
    const moves = {
      "replay-first": () => 0,
      "replay-back": () => step - 1,
      "replay-forward": () => step + 1,
      "replay-last": () => length(replay),
    };
    for (const [id, to] of Object.entries(moves)) byId(id).addEventListener("click", () => go(to()));
    byId("replay-slider").addEventListener("input", (event) => go(Number(event.target.value)));
    byId("stage").addEventListener("keydown", press);
  }

  /** Whether somebody has begun to look at the episode. */
  function isWatched() {
    return timer !== null || step > 0;
  }

  report.player = { start, show, stop, isWatched };
})();
