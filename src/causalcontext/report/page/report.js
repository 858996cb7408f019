"use strict";
// Everything shown here comes from the data block as text: nothing is ever parsed as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const EM = 16, SVG = "http://www.w3.org/2000/svg", ROWS_SHOWN = 300, LONG_LABEL = 20;
  const ALONG = [0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75, 0.2, 0.8]; // where on its line a label may lie
  const ROOM = { "<": 12, ">": 12, "+": 12, o: 9, x: 6, "-": 0 };
  const byId = (id) => document.getElementById(id);
  const several = data.contexts.length > 1;
  const state = { view: several ? "union" : 0, compare: "", pair: null, first: null, zoom: data.time ? 1 : 0, alpha: data.alpha, asked: null, lag: "all" };
  let scene = data; // where boxes and lines are: as laid out, or moved together for one lag
  const slotOf = new Map(data.pairs.map((pair, slot) => [pair.join(","), slot]));

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  function shape(tag, attributes = {}, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  const chance = (p) => p !== null && p < 1e-16 ? "< 1e-16" : number(p), withSign = (p) => p < 1e-16 ? "p < 1e-16" : `p = ${number(p)}`;
  const number = (value) => value === null ? "–" : Math.abs(value) >= 1e-3 || value === 0 ? String(Number(value.toPrecision(3))) : value.toExponential(0);
  const key = (i, j) => i < j ? `${i},${j}` : `${j},${i}`;
  const ends = (name) => name.split(",").map(Number);
  // The first letter of a mark is the end at the first variable, the last one that at the second.
  const turned = (mark) => [...mark].reverse().map((end) => ({ "<": ">", ">": "<" })[end] ?? end).join("");
  const rank = (end) => "-ox+>".indexOf(end === "<" ? ">" : end);
  const towardsArrow = (mark) => rank(mark[0]) > rank(mark[2]) ? turned(mark) : mark;
  const dashes = (mark) => mark.includes("x") ? "8 5" : mark === "<->" ? "18 6" : "";
  const backwards = (mark) => mark[0] === "<" && mark[2] !== ">";
  const markText = (mark, i, j) => backwards(mark) ? `${data.names[j]} ${turned(mark)} ${data.names[i]}` : `${data.names[i]} ${mark} ${data.names[j]}`;
  // Bare marks would be read from left to right, wherever their variables stand; between two names they can be read one way only.
  function twoMarks(marks, i, j) {
    const turn = backwards(marks[0]), [first, second] = (turn ? [j, i] : [i, j]).map((place) => short(data.names[place], 12));
    return `${first} ${marks.map((mark) => turn ? turned(mark) : mark).join(" | ")} ${second}`;
  }
  const having = (pair) => data.graphs.map((graph, place) => graph[pair] ? place : -1).filter((place) => place >= 0);
  const colour = (place) => `var(--c${data.contexts.length <= 6 ? place : 0})`;
  const titleOf = (place) => data.titles[place];

  // What lies on a path from the cause to the effect that were asked for: the contexts are held, unless one is the cause.
  const mayCause = (mark, forward) => (forward ? mark[0] : mark[2]) !== (forward ? "<" : ">");
  function litPairs() {
    const found = new Set();
    if (!state.asked) return found;
    const places = state.view === "union" ? data.graphs.keys() : state.compare === "" ? [state.view] : [state.view, Number(state.compare)];
    for (const place of places) for (const pair of onPaths(data.graphs[place], ...state.asked)) found.add(pair);
    return found;
  }
  function onPaths(graph, cause, effect) {
    const held = new Set(data.contextVariables.filter((one) => one !== cause)), steps = [];
    for (const [pair, mark] of Object.entries(graph)) for (const [i, j] of repeated(ends(pair))) {
      if (held.has(i) || held.has(j)) continue;
      if (mayCause(mark, true) && j !== cause && i !== effect) steps.push([i, j, pair]);
      if (mayCause(mark, false) && i !== cause && j !== effect) steps.push([j, i, pair]);
    }
    const reached = (start, from, to) => { const found = new Set([start]); for (const one of found) for (const step of steps) if (step[from] === one) found.add(step[to]); return found; };
    const below = reached(cause, 0, 1), above = reached(effect, 1, 0);
    return steps.filter(([a, b]) => below.has(a) && above.has(b)).map((step) => step[2]);
  }

  // Rows that follow each other in time: links are drawn into the present and repeat; one lag can be looked at by itself.
  function repeated([i, j]) {
    if (!data.time) return [[i, j]];
    const { earlier } = data.time, found = [[i, j]];
    for (let [a, b] = [earlier[i], earlier[j]]; a >= 0 && b >= 0; [a, b] = [earlier[a], earlier[b]]) found.push([a, b]);
    return found;
  }
  const lagOf = (pair) => Math.max(...ends(pair).map((place) => data.time.lag[place]));
  const seen = (place) => data.boxes[place][2] > 0 && (state.lag === "all" || data.time.lag[place] === 0 || data.time.lag[place] === state.lag);
  function arranged() {
    if (state.lag === "all") return data;
    const { lag } = data.time, GAP = 9, EDGE = .6;
    const column = (wanted) => data.boxes.filter((_, place) => lag[place] === wanted), widest = (wanted) => Math.max(...column(wanted).map((box) => box[2]));
    const past = state.lag ? widest(state.lag) + GAP : 0, now = EDGE + past + widest(0) / 2;
    const shift = now - column(0)[0][0];
    const boxes = data.boxes.map(([x, ...rest], place) => [lag[place] === 0 ? x + shift : EDGE + (state.lag ? widest(state.lag) / 2 : 0), ...rest]);
    const across = (pair) => { const [a, b] = ends(pair).map((place) => boxes[place]), x = a[0] + a[2] / 2, to = b[0] - b[2] / 2, half = (x + to) / 2, from = data.routes[pair][1], into = data.routes[pair].at(-1); return [x, from, half, from, half, into, to, into]; };
    const moved = (pair, route) => lagOf(pair) ? across(pair) : route.map((value, place) => place % 2 ? value : value + shift);
    const routes = Object.fromEntries(Object.entries(data.routes).map(([pair, route]) => [pair, moved(pair, route)]));
    return { boxes, routes, width: state.lag ? now + widest(0) / 2 + EDGE : data.width + shift, height: data.height };
  }
  function setLag(lag) {
    state.lag = lag;
    if (state.pair && !state.pair.every(seen)) { state.pair = null; fillPickers(); tellStory(); markRows(); }
    update();
    byId("stage").scrollLeft = byId("stage").scrollWidth;
  }
  const lagWords = (lag) => lag === "all" ? "all" : lag === 0 ? "0, same step" : String(lag);
  function buildLags() {
    byId("lags").hidden = !data.time || data.time.lags > 6; byId("lag-field").hidden = !data.time || data.time.lags <= 6;
    if (!data.time) return;
    const linked = Object.keys(data.union).map(lagOf), choices = ["all", ...Array(data.time.lags + 1).keys()].filter((lag) => !lag || lag === "all" || linked.includes(lag));
    for (const lag of choices) {
      const input = element("input", { type: "radio", name: "lag", value: lag });
      input.addEventListener("change", () => setLag(lag));
      byId("lags").append(element("label", {}, input, lagWords(lag)));
      byId("lag").append(element("option", { value: lag }, lagWords(lag)));
    }
    byId("lag").addEventListener("change", () => setLag(byId("lag").value === "all" ? "all" : Number(byId("lag").value)));
  }

  // What to draw: for every pair its mark, colours, strength, label.
  function strokes() {
    const all = Object.keys(data.union).filter((pair) => state.lag === "all" || lagOf(pair) === state.lag);
    if (state.view === "union") return all.map((pair) => unionStroke(pair));
    if (state.compare !== "") return all.map((pair) => comparedStroke(pair, state.view, Number(state.compare))).filter(Boolean);
    return all.map((pair) => contextStroke(pair, state.view));
  }
  function unionStroke(pair) {
    const places = having(pair), everywhere = places.length === data.contexts.length;
    const own = data.contexts.length <= 6;
    return { pair, mark: data.union[pair], colours: everywhere ? ["var(--ink)"] : own ? places.map(colour) : [colour(0)],
      places, label: everywhere ? "" : placesText(places) };
  }
  function placesText(places) {
    const names = places.map((place) => short(data.contexts[place], data.time ? 24 / places.length : 12)).join(", ");
    return places.length > 2 || [...names].length > LONG_LABEL ? `${places.length} of ${data.contexts.length}` : names;
  }
  function contextStroke(pair, place) {
    const mark = data.graphs[place][pair] || "";
    const everywhere = having(pair).length === data.contexts.length;
    if (!mark) return { pair, mark, colours: ["var(--pale)"], places: [], label: "", ghost: true };
    return { pair, mark, colours: [everywhere ? "var(--ink)" : colour(place)], places: [place], label: "" };
  }
  function comparedStroke(pair, a, b) {
    const marks = [a, b].map((place) => data.graphs[place][pair] || "");
    if (!marks[0] && !marks[1]) return null;
    const shades = data.contexts.length <= 6 ? [colour(a), colour(b)] : ["var(--c0)", "var(--c1)"];
    const same = marks[0] === marks[1], [i, j] = ends(pair), two = marks[0] && marks[1] && !same;
    return { pair, mark: marks[0] || marks[1], places: [a, b].filter((place, number) => marks[number]),
      colours: same ? ["var(--pale)"] : shades.filter((shade, number) => marks[number]), marks: two ? marks : null,
      label: two ? twoMarks(marks, i, j) : "" };
  }
  const short = (text, most) => [...text].length <= most ? text : [...text].slice(0, most - 1).join("") + "…";
  function strengthOf(stroke) {
    const slot = slotOf.get(stroke.pair);
    const found = slot === undefined ? [] : stroke.places.map((place) => data.log[place].strength[slot]).filter((value) => value !== null).map(Math.abs);
    return found.length ? Math.min(1, ...found) : null;
  }
  function doubtful(stroke) {
    const slot = slotOf.get(stroke.pair);
    if (slot === undefined || !stroke.places.length) return false;
    return stroke.places.every((place) => data.log[place].decision[slot] === "untestable" || (data.log[place].p[slot] ?? 0) > data.alpha / 5);
  }

  function untested(stroke) {
    const slot = slotOf.get(stroke.pair);
    return slot !== undefined && stroke.places.length > 0 && !stroke.ghost && stroke.places.every((place) => data.log[place].decision[slot] === "untestable");
  }
  const doubtWords = (stroke) => (untested(stroke) ? "not tested" : doubtful(stroke) ? "?" : "");

  const suspected = (stroke) => !stroke.ghost && data.suspected.includes(stroke.pair);

  // The picture.
  function drawGraph() {
    scene = arranged();
    const width = scene.width * EM, height = scene.height * EM;
    const stage = byId("stage"), focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : undefined;
    const room = (stage.clientWidth - 4) / width, fit = Math.min(1.25, Math.max(room, data.time ? 0.65 : 0.85)); // smaller text is hard to read: the stage scrolls, "Fit" shows all
    if (state.zoom === 0) state.zoom = Math.min(1, room / fit);
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width: width * fit * state.zoom, height: height * fit * state.zoom });
    const lit = litPairs(), shown = strokes().filter((stroke) => !stroke.ghost || byId("ghosts").checked);
    for (const stroke of shown) svg.append(drawEdge(stroke, lit.has(stroke.pair)));
    if (state.pair && state.pair.every(seen) && !(key(...state.pair) in data.union)) svg.append(drawAbsent(state.pair));
    scene.boxes.forEach((box, place) => { if (seen(place)) svg.append(drawNode(box, place)); });
    stage.replaceChildren(svg);
    const said = (stroke) => [stroke.label, doubtWords(stroke), suspected(stroke) ? "hidden?" : "", alphaFlag(stroke)].filter(Boolean).join(" ");
    placeLabels(svg, scene.boxes.filter((_, place) => seen(place)), shown.map((stroke) => [stroke, said(stroke), scene.routes[stroke.pair]]));
    squeezeNames(svg);
    if (focused) { const again = [...svg.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused); if (again) again.focus({ preventScroll: true }); }
  }
  function drawEdge(stroke, lit) {
    const [i, j] = ends(stroke.pair), route = scene.routes[stroke.pair].map((value) => value * EM);
    const strength = strengthOf(stroke), doubt = doubtful(stroke), flag = alphaFlag(stroke);
    const words = describe(stroke, strength, doubt);
    const group = shape("g", { class: `edge${stroke.ghost ? " ghost" : ""}${lit ? " lit" : ""}${picked(i, j) ? " picked" : ""}`, tabindex: 0, role: "button", "aria-label": words, "data-key": stroke.pair, "data-pair": stroke.pair });
    const whole = pathOf(route), width = stroke.ghost ? 1.6 : strength === null ? 2 : 1.2 + 4.6 * strength;
    group.append(shape("path", { class: "halo", d: whole }));
    paintEdge(group, route, stroke, width, stroke.ghost ? "2 6" : flag ? "10 7" : untested(stroke) ? "2 9" : doubt ? "3 5" : dashes(stroke.mark));
    group.append(shape("path", { class: "hit", d: whole }));
    interactive(group, words, () => choose(i, j));
    return group;
  }
  function paintEdge(group, route, stroke, width, dash) {
    const path = pathOf(trimmed(route, stroke.mark)), many = stroke.colours.length;
    stroke.colours.forEach((shade, turn) => {
      const line = shape("path", { class: "line", d: path, "stroke-width": width });
      line.style.stroke = shade;
      if (many > 1) { line.setAttribute("stroke-dasharray", `12 ${12 * (many - 1)}`); line.setAttribute("stroke-dashoffset", String(-12 * turn)); }
      else if (dash) line.setAttribute("stroke-dasharray", dash);
      group.append(line);
    });
    if (!stroke.ghost) { drawEnd(group, route, 0, stroke.mark, stroke.colours[0]); drawEnd(group, route, 1, stroke.mark, stroke.colours[many - 1]); }
  }
  function drawAbsent([i, j]) {
    const [a, b] = [scene.boxes[i], scene.boxes[j]].map((box) => box.map((value) => value * EM));
    const line = shape("path", { class: "line", d: `M${a[0]} ${a[1]} Q${(a[0] + b[0]) / 2} ${(a[1] + b[1]) / 2 - 30} ${b[0]} ${b[1]}`, "stroke-width": 2.5, "stroke-dasharray": "2 7" });
    line.style.stroke = "var(--accent)";
    return shape("g", { class: "edge absent" }, line);
  }
  function drawNode(box, place) {
    const context = data.contextVariables.includes(place);
    const chosen = state.pair ? state.pair.includes(place) : state.first === place;
    const group = shape("g", { class: `node${context ? " context" : ""}${state.asked && state.asked.includes(place) ? " lit" : ""}${chosen ? " picked" : ""}`, tabindex: 0, role: "button", "aria-pressed": String(chosen), "aria-label": `${data.names[place]}${context ? ", the context" : ""}`, "data-key": `n${place}`, "data-node": place });
    paintBox(group, box, data.shown[place], context);
    const links = Object.keys(data.union).filter((pair) => ends(pair).includes(place)).length;
    interactive(group, `${data.names[place]}${context ? " (context)" : ` (${data.kinds[place]})`}\n${links} edges in some context`, () => chooseNode(place));
    return group;
  }
  function paintBox(group, box, lines, context) {
    const [x, y, width, height] = box.map((value) => value * EM), text = shape("text", { x, y, "data-room": width - 8 });
    group.append(shape("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: context ? 0 : 10 }));
    lines.forEach((line, number) => text.append(shape("tspan", { x, dy: number ? "1.15em" : `${-0.575 * (lines.length - 1)}em` }, line)));
    group.append(text);
  }
  function squeezeNames(svg) {
    for (const text of svg.querySelectorAll(".node text")) {
      const room = Number(text.dataset.room);
      for (const line of text.children) if (line.getComputedTextLength() > room) { line.setAttribute("textLength", room); line.setAttribute("lengthAdjust", "spacingAndGlyphs"); }
    }
  }
  function pathOf(points) {
    let path = `M${points[0]} ${points[1]}`;
    for (let at = 2; at < points.length; at += 6) path += ` C${points.slice(at, at + 6).join(" ")}`;
    return path;
  }
  function trimmed(route, mark) {
    const body = route.slice(), last = route.length - 2;
    const room = (end) => ROOM[mark[2 * end]] ?? 0;
    body[0] += Math.sign(route[2] - route[0]) * room(0);
    body[last] += Math.sign(route[last - 2] - route[last]) * room(1);
    return body;
  }
  function drawEnd(group, route, end, mark, shade) {
    const at = end ? route.length - 2 : 0, next = end ? at - 2 : 2;
    const x = route[at], y = route[at + 1], away = Math.sign(route[next] - x) || 1;
    const letter = mark[2 * end];
    if (letter === "-") return;
    let made;
    if (letter === "o") made = shape("circle", { class: "end", cx: x + away * 5, cy: y, r: 4.2, "stroke-width": 1.7 });
    else if (letter === "x") made = shape("path", { class: "end", d: `M${x + away * 2} ${y - 4.5} l${away * 9} 9 m0 -9 l${-away * 9} 9`, "stroke-width": 2 });
    else if (letter === "+") made = shape("polygon", { class: "end", points: `${x + away},${y} ${x + away * 12},${y + 5.6} ${x + away * 12},${y - 5.6}`, "stroke-width": 1.7 });
    else made = shape("polygon", { class: "end", points: `${x},${y} ${x + away * 15},${y + 6.4} ${x + away * 12},${y} ${x + away * 15},${y - 6.4}` });
    const filled = letter === "<" || letter === ">";
    made.style.fill = filled ? shade : letter === "x" ? "none" : "var(--card)";
    if (!filled) made.style.stroke = shade;
    group.append(made);
  }
  // Labels lie above all lines, each on its own line where it hides no variable and no other label, near the middle.
  function placeLabels(svg, boxes, labelled) {
    const taken = boxes.map((box) => box.map((value) => value * EM)), right = svg.viewBox.baseVal.width;
    for (const [stroke, words, way] of labelled) {
      if (!words) continue;
      const text = shape("text", { class: "label", "data-of": stroke.pair }, words), route = way.map((value) => value * EM);
      text.style.fill = stroke.colours.length === 1 ? stroke.colours[0] : "var(--ink)";
      svg.append(text);
      const size = [text.getComputedTextLength() + 4, 16];
      const upright = route.length > 14 && route[6] === route[12], aside = upright ? Math.max(0, size[0] / 2 - EM) : 0; // beside a line that runs down
      const spots = ALONG.map((share) => pointAt(route, share)).map(([x, y]) => [Math.min(x + aside, right - size[0] / 2), y, ...size]);
      const hidden = spots.map((spot) => taken.reduce((sum, other) => sum + overlap(spot, other), 0));
      const spot = spots[hidden.indexOf(Math.min(...hidden))];
      text.setAttribute("x", spot[0]); text.setAttribute("y", spot[1]);
      taken.push(spot);
    }
  }
  function overlap(a, b) {
    const [across, down] = [0, 1].map((axis) => Math.min(a[axis] + a[axis + 2] / 2, b[axis] + b[axis + 2] / 2) - Math.max(a[axis] - a[axis + 2] / 2, b[axis] - b[axis + 2] / 2));
    return Math.max(0, across) * Math.max(0, down);
  }
  function pointAt(route, share) {
    const pieces = (route.length - 2) / 6, piece = Math.min(pieces - 1, Math.floor(share * pieces)), t = share * pieces - piece, u = 1 - t;
    const weights = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
    return [0, 1].map((axis) => weights.reduce((sum, weight, n) => sum + weight * route[6 * piece + 2 * n + axis], 0));
  }
  const picked = (i, j) => state.pair !== null && key(...state.pair) === key(i, j);
  function describe(stroke, strength, doubt) {
    const [i, j] = ends(stroke.pair);
    if (stroke.ghost) return `${data.names[i]} and ${data.names[j]}: missing here, present in ${having(stroke.pair).map((place) => data.contexts[place]).join(", ")}`;
    const where = data.context === null ? "" : ` in ${stroke.places.map((place) => data.contexts[place]).join(", ")}`;
    const size = strength === null ? "not measured" : number(strength);
    const text = stroke.marks ? stroke.places.map((place, number) => `${markText(stroke.marks[number], i, j)} in ${data.contexts[place]}`).join("\n") : `${markText(stroke.mark, i, j)}${where}`;
    return `${text}\nstrength ${size}${untested(stroke) ? "\nnot tested: it says nothing" : doubt ? "\nuncertain" : ""}${suspected(stroke) ? "\na hidden common cause may stand behind it" : ""}`;
  }

  // Pointer, keyboard, tooltips.
  function interactive(group, words, act) {
    const tip = byId("tip");
    const show = (event) => {
      tip.textContent = words; tip.hidden = false;
      const box = group.getBoundingClientRect(), x = event.clientX ?? box.left + box.width / 2, y = event.clientY ?? box.top;
      tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 4))}px`;
      tip.style.top = `${Math.max(4, Math.min(y + 16, innerHeight - tip.offsetHeight - 4))}px`;
    };
    group.addEventListener("pointermove", show);
    group.addEventListener("focus", show);
    for (const name of ["pointerleave", "blur"]) group.addEventListener(name, () => { tip.hidden = true; });
    group.addEventListener("click", act);
    group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } });
  }
  function chooseNode(place) {
    if (state.pair || state.first === null) { state.pair = null; state.first = place; fillPickers(); tellPartial(); drawGraph(); }
    else if (state.first === place) { state.first = null; fillPickers(); tellStory(); drawGraph(); }
    else choose(state.first, place);
  }
  function choose(i, j) {
    state.pair = i < j ? [i, j] : [j, i];
    state.first = null;
    if (!state.pair.every(seen)) setLag("all");
    fillPickers(); tellStory(); drawGraph(); markRows(); announce();
  }
  // For a page that shows this one in a frame: the places of the pair that is chosen, or null.
  function announce() { document.dispatchEvent(new CustomEvent("pair", { detail: state.pair })); }
  function clear() { state.pair = null; state.first = null; fillPickers(); tellStory(); if (state.asked) ask(null); else drawGraph(); markRows(); announce(); }

  // What a change of the cause does to the effect, context by context.
  function ask(pair) {
    state.asked = pair;
    byId("effects-card").classList.toggle("asked", pair !== null);
    fillAsked(); tellEffects(); drawGraph(); drawLegend();
  }
  function fillAsked() {
    const cause = state.asked ? state.asked[0] : byId("cause").value === "" ? null : Number(byId("cause").value);
    const option = (place) => element("option", { value: place }, short(data.names[place], 60));
    const below = data.effects.pairs.filter(([x]) => x === cause).map(([, y]) => y);
    byId("effect").replaceChildren(element("option", { value: "" }, "…"), ...below.map(option));
    byId("cause").value = cause ?? ""; byId("effect").value = state.asked ? state.asked[1] : "";
  }
  const named = (place) => data.context === null ? "effect" : data.contexts[place];
  const interval = (row) => row[4] === null || row[4] === row[5] ? "" : ` [${number(row[4])}, ${number(row[5])}]`;
  const valueText = (row) => row[2] === null ? "not identified" : row[2] === row[3] ? `${number(row[2])}${interval(row)}` : `between ${number(row[2])} and ${number(row[3])}`;
  function tellEffects() {
    const story = byId("effects-story");
    if (!state.asked) { story.replaceChildren(); return; }
    const slot = data.effects.pairs.findIndex(([x, y]) => x === state.asked[0] && y === state.asked[1]), rows = data.effects.rows[slot];
    const alone = rows.filter((row) => row[1] < 0), ofContext = alone.length === 0;
    const [cause, effect] = state.asked.map((place) => data.names[place]);
    const levels = (row) => data.effects.notes[row[8]], byLevel = rows.some((row) => levels(row));
    const heading = element("h3", { dir: "auto" }, ofContext ? `${effect}, if ${cause} were set` : `${effect}, ${byLevel ? "by" : "per unit of"} ${cause}`);
    const told = (row) => levels(row) ? ` (${levels(row)})` : "";
    const versus = (row) => `${named(row[0])} minus ${named(row[1])}${told(row)}`;
    const parts = [heading, bars(ofContext ? rows : alone, ofContext ? versus : (row) => named(row[0]) + told(row))];
    const differences = ofContext ? [] : rows.filter((row) => row[1] >= 0);
    if (differences.length) parts.push(listed("Differences between contexts:", differences.map((row) => `${versus(row)}: ${valueText(row)}${row[6] === null ? "" : `, ${withSign(row[6])}`}`)));
    const notes = [...new Set((ofContext ? rows : alone).filter((row) => row[7]).map((row) => `${ofContext ? versus(row) : named(row[0])}: ${data.effects.notes[row[7]]}`))];
    if (notes.length) parts.push(listed("Notes:", notes));
    parts.push(element("p", { class: "caveat" }, data.effects.intervals === "mixture" && !ofContext ? "Intervals (95 %) are over graphs drawn by their score: they know that this graph may be wrong." : `Intervals (95 %, ${data.effects.errors} errors) take the graph as given.`));
    story.replaceChildren(...parts);
  }
  function bars(rows, words) {
    const width = 380, step = 46, left = 8, room = width - 2 * left;
    const all = rows.flatMap((row) => row.slice(2, 6)).filter((value) => value !== null).concat(0);
    const low = Math.min(...all), span = Math.max(...all) - low || 1, at = (value) => left + room * (value - low) / span;
    const chart = shape("svg", { class: "bars", viewBox: `0 0 ${width} ${rows.length * step + 16}`, role: "img", "aria-label": rows.map((row) => `${words(row)}: ${valueText(row)}`).join("; ") });
    chart.append(shape("text", { class: "axis", x: Math.min(Math.max(at(0), 8), width - 8), y: rows.length * step + 8 }, "0"));
    rows.forEach((row, turn) => {
      const top = turn * step, middle = top + 30, several = row[2] !== row[3];
      chart.append(shape("text", { x: 0, y: top + 10 }, short(words(row), 40)), shape("text", { class: "value", x: width, y: top + 10 }, valueText(row)));
      chart.append(shape("line", { class: "zero", x1: at(0), x2: at(0), y1: middle - 11, y2: middle + 11 }));
      if (row[2] === null) return;
      const [from, to] = (several ? [row[2], row[3]] : [Math.min(0, row[2]), Math.max(0, row[2])]).map(at);
      const bar = shape("rect", { class: several ? "span" : "bar", x: from, y: middle - 7, width: Math.max(to - from, 1.5), height: 14 });
      bar.style.fill = colour(row[0]);
      chart.append(bar);
      if (row[4] !== null && row[4] !== row[5]) chart.append(shape("path", { class: "whisker", d: `M${at(row[4])} ${middle - 5} v10 m0 -5 H${at(row[5])} m0 -5 v10` }));
    });
    return chart;
  }
  function buildEffects() {
    if (!data.effects || !data.effects.pairs.length) return;
    byId("effects-card").hidden = false;
    const causes = [...new Set(data.effects.pairs.map(([x]) => x))];
    byId("cause").append(element("option", { value: "" }, "…"), ...causes.map((place) => element("option", { value: place }, short(data.names[place], 60))));
    if (!data.effects.whole) byId("effects-card").append(element("p", { class: "caveat" }, "With so many variables or contexts the report keeps some of the effects, those of linked pairs first; result.effects() has them all."));
    fillAsked();
    byId("cause").addEventListener("change", () => { state.asked = null; ask(null); });
    byId("effect").addEventListener("change", () => ask(byId("effect").value === "" ? null : [Number(byId("cause").value), Number(byId("effect").value)]));
  }

  // The cut: its score over all places, and the graphs of those that were searched.
  function buildCut() {
    if (!data.cut) return;
    const { tried } = data.cut, slider = byId("cut-slider");
    byId("cut-profiles").append(...data.cut.profiles.map(drawProfile));
    if (!tried) return;
    slider.max = tried.places.length - 1; slider.value = tried.found;
    slider.addEventListener("input", showCut);
    byId("cut-back").addEventListener("click", () => { slider.value = tried.found; showCut(); });
    addEventListener("resize", showCut);
    showCut();
  }
  function showCut() {
    const { tried } = data.cut, slider = byId("cut-slider"), place = Number(slider.value), found = place === tried.found;
    const words = `${tried.words[place]}${found ? " (found)" : ""}`, sides = [`≤ ${tried.words[place]}`, `> ${tried.words[place]}`];
    byId("cut-value").textContent = words; slider.setAttribute("aria-valuetext", words); byId("cut-back").disabled = found;
    for (const line of document.querySelectorAll("#cut-profiles .here")) { const at = data.cut.profiles[line.dataset.profile].x(tried.places[place]); line.setAttribute("d", `M${at} ${line.dataset.top}V${line.dataset.bottom}`); }
    const width = tried.width * EM, height = tried.height * EM, stage = byId("cut-stage"), fit = Math.min(1.1, Math.max((stage.clientWidth - 4) / width, data.time ? .65 : .75));
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width: width * fit, height: height * fit, role: "img", "aria-label": `The graph with the cut at ${words}` });
    const shown = Object.keys(tried.routes).map((pair) => cutStroke(pair, tried.graphs[place], sides));
    for (const stroke of shown) { const group = shape("g", { class: `edge${stroke.ghost ? " ghost" : ""}`, "data-pair": stroke.pair }); paintEdge(group, tried.routes[stroke.pair].map((value) => value * EM), stroke, stroke.ghost ? 1.6 : 2.4, stroke.ghost ? "2 6" : dashes(stroke.mark)); svg.append(group); }
    const named = (line) => line.replace(`> ${tried.words[tried.found]}`, `> ${tried.words[place]}`); // the context is named by its cut
    tried.boxes.forEach((box, node) => { if (!box[2]) return; const context = data.contextVariables.includes(node), group = shape("g", { class: `node${context ? " context" : ""}` }); paintBox(group, box, context ? tried.shown[node].map(named) : tried.shown[node], context); svg.append(group); });
    stage.replaceChildren(svg);
    placeLabels(svg, tried.boxes.filter((box) => box[2]), shown.map((stroke) => [stroke, stroke.label, tried.routes[stroke.pair]]));
    squeezeNames(svg);
    const items = [legendItem({ mark: "-->", colours: ["var(--ink)"] }, "on both sides of the cut"), ...sides.map((side, turn) => legendItem({ mark: "-->", colours: [`var(--c${turn})`] }, `${data.cut.column} ${side} alone`))];
    if (shown.some((stroke) => stroke.ghost)) items.push(legendItem({ mark: "", colours: ["var(--pale)"], ghost: true }, "not with this cut, but with another"));
    byId("cut-legend").replaceChildren(...items);
    const told = cutDifferences(place);
    byId("cut-story").replaceChildren(found ? element("p", {}, `The cut that was found. ${dependence()}`) : told.length ? listed(`What differs from the cut that was found, ${tried.words[tried.found]}:`, told) : element("p", {}, `The same graph as with the cut that was found, ${tried.words[tried.found]}.`));
  }
  function cutStroke(pair, graphs, sides) {
    const marks = graphs.map((graph) => graph[pair] || ""), there = [0, 1].filter((side) => marks[side]), [i, j] = ends(pair);
    if (!there.length) return { pair, mark: "", colours: ["var(--pale)"], label: "", ghost: true };
    if (there.length === 1) return { pair, mark: marks[there[0]], colours: [`var(--c${there[0]})`], label: data.cut.tried.small ? sides[there[0]] : "" };
    return marks[0] === marks[1] ? { pair, mark: marks[0], colours: ["var(--ink)"], label: "" } : { pair, mark: marks[0], colours: ["var(--c0)", "var(--c1)"], label: twoMarks(marks, i, j) };
  }
  function cutDifferences(place) {
    const { tried } = data.cut, own = data.contextVariables;
    const said = (graphs, pair) => {
      const marks = graphs.map((graph) => graph[pair] || ""), [i, j] = ends(pair), there = [0, 1].filter((side) => marks[side]);
      if (!there.length) return "absent";
      if (there.length === 1) return `${markText(marks[there[0]], i, j)} ${there[0] ? "above" : "below"} the cut alone`;
      return marks[0] === marks[1] ? `${markText(marks[0], i, j)} on both sides` : `${markText(marks[0], i, j)} below and ${markText(marks[1], i, j)} above`;
    };
    const pairs = Object.keys(tried.routes).filter((pair) => !ends(pair).some((end) => own.includes(end))).map((pair) => [pair, said(tried.graphs[place], pair), said(tried.graphs[tried.found], pair)]);
    return pairs.filter(([, here, there]) => here !== there).map(([pair, here, there]) => `${here === "absent" ? `no link of ${ends(pair).map((end) => data.names[end]).join(" and ")}` : here} (with the cut found: ${there})`);
  }
  function dependence() {
    const { tried } = data.cut, same = tried.places.map((_, place) => cutDifferences(place).length === 0);
    let [from, to] = [tried.found, tried.found];
    while (from > 0 && same[from - 1]) from -= 1;
    while (to < same.length - 1 && same[to + 1]) to += 1;
    if (same.every(Boolean)) return `All ${same.length} cuts that were searched give the same graph.`;
    return from === to ? "The cuts next to it give other graphs; move the slider to see them." : `All cuts that were searched from ${tried.words[from]} to ${tried.words[to]} give the same graph; move the slider to see the others.`;
  }
  function drawProfile(profile, turn) {
    const W = 460, H = 250, L = 52, R = 12, T = 10, B = 40, { places, scores, smooth, needed } = profile;
    const [left, right] = [places[0], places.at(-1)], high = Math.max(...scores, smooth, needed, 1) * 1.08, low = Math.min(0, ...scores);
    const x = profile.x = (value) => L + (right > left ? (value - left) / (right - left) : .5) * (W - L - R), y = (value) => H - B - (value - low) / (high - low) * (H - T - B);
    const text = (at, up, anchor, words) => { const made = shape("text", { x: at, y: up }, words); Object.assign(made.style, { textAnchor: anchor, fontSize: "12px", dominantBaseline: "auto" }); return made; };
    const line = (d, shade, width, dash = "") => { const made = shape("path", { d, fill: "none", "stroke-width": width, "stroke-dasharray": dash }); made.style.stroke = shade; return made; };
    const parts = [line(`M${L} ${T}V${H - B}H${W - R}`, "var(--ink)", 1), line(`M${L} ${y(0)}H${W - R}`, "var(--pale)", 1), line(`M${L} ${y(smooth)}H${W - R}`, "var(--c0)", 2, "7 5"), line(`M${L} ${y(needed)}H${W - R}`, "var(--c1)", 2, "2 4")];
    if (profile.low !== null) {
      const band = shape("rect", { x: x(profile.low), y: T, width: Math.max(x(profile.high) - x(profile.low), 2), height: H - B - T });
      band.style.fill = "var(--c1)"; band.style.opacity = ".3"; parts.push(band);
    }
    parts.push(line(`M${places.map((value, k) => `${x(value).toFixed(1)} ${y(scores[k]).toFixed(1)}`).join("L")}`, "var(--ink)", 2));
    const here = line(profile.low === null ? "" : `M${x(profile.value)} ${T}V${H - B}`, "var(--c1)", 2); here.setAttribute("class", "here"); Object.assign(here.dataset, { profile: turn, top: T, bottom: H - B }); parts.push(here);
    const ticks = [low, 0, Math.max(...scores)].filter((value, k, all) => all.findIndex((other) => Math.round(other) === Math.round(value)) === k);
    parts.push(...ticks.map((value) => text(L - 6, y(value) + 4, "end", String(Math.round(value)))), text(L, H - B + 16, "start", number(left)), text(W - R, H - B + 16, "end", number(right)), text((L + W - R) / 2, H - 6, "middle", `cut of ${short(data.cut.column, 40)}`));
    const svg = shape("svg", { viewBox: `0 0 ${W} ${H}`, width: "100%", role: "img", "aria-label": `Log score over the place of the cut, above that without a change, in nats: at most ${number(Math.max(...scores))}; best smooth change ${number(smooth)}` }, ...parts);
    const swatch = (words, shade, dash = "", height = 2) => { const made = shape("svg", { width: 34, height: 16, "aria-hidden": "true" }, line("M2 8 H32", shade, height, dash)); if (height > 2) made.style.opacity = ".3"; return element("li", {}, made, words); };
    const keys = [swatch("with a cut there", "var(--ink)"), swatch("best smooth change", "var(--c0)", "7 5"), swatch("needed for a cut", "var(--c1)", "2 4"), swatch("no change", "var(--pale)")];
    if (profile.low !== null) keys.push(swatch("95 % interval of the place", "var(--c1)", "", 12));
    return element("figure", { class: "profile" }, element("figcaption", { class: "caveat" }, `Log score above that without a change, in nats${data.cut.profiles.length > 1 ? `, beside the ${turn ? "first" : "second"} cut` : ""}`), svg, element("ul", { class: "keys" }, ...keys));
  }

  // The story of a pair.
  function tellPartial() {
    byId("story").replaceChildren(element("p", { class: "hint", dir: "auto" }, `${data.names[state.first]}, and …? Choose a second variable.`));
  }
  function tellStory() {
    const story = byId("story");
    if (!state.pair) { story.replaceChildren(); return; }
    const [i, j] = state.pair, slot = slotOf.get(key(i, j));
    const heading = element("h3", { dir: "auto", id: "story-heading" }, `${data.names[i]} and ${data.names[j]}`);
    if (slot === undefined) { story.replaceChildren(heading, element("p", {}, "Absent in every context, by a clear margin; with so many variables the report keeps only the stories of edges and of close calls. result.explain() and result.tests() have them all.")); return; }
    const parts = data.contexts.map((value, place) => contextStory(place, slot));
    story.replaceChildren(heading, ...parts.flat(), ...[[i, j], [j, i]].flatMap(([cause, effect]) => drawnCurve(cause, effect)));
  }

  // What a link looks like: the expected effect as the cause moves and everything else stays at its average.
  function drawnCurve(cause, effect) {
    const curve = data.curves[`${cause},${effect}`];
    if (!curve) return [];
    const numbers = typeof curve.at[0] === "number", W = 320, H = 190, L = 52, R = 10, T = 8, B = 34;
    const xs = numbers ? curve.at : curve.at.map((_, place) => place), ys = curve.lines.flatMap((line) => line.values);
    const [left, right] = [Math.min(...xs), Math.max(...xs)], [low, high] = [Math.min(...ys), Math.max(...ys)];
    const x = (value) => L + (right > left ? (value - left) / (right - left) : 0.5) * (W - L - R);
    const y = (value) => H - B - (high > low ? (value - low) / (high - low) : 0.5) * (H - T - B);
    const levels = [...new Set(curve.lines.map((line) => line.level))], groups = [...new Set(curve.lines.map((line) => line.contexts.join()))];
    const tone = (line) => levels.length > 1 ? `var(--c${levels.indexOf(line.level) % 6})` : line.contexts.length === 1 && several ? colour(line.contexts[0]) : "currentColor";
    const dash = (line) => levels.length > 1 ? ["", "6 4", "2 3", "8 3 2 3"][groups.indexOf(line.contexts.join()) % 4] : "";
    const label = (line) => [line.level, line.contexts.length < data.contexts.length ? line.contexts.map(titleOf).join(", ") : ""].filter(Boolean).join(", ");
    const text = (at, up, anchor, words) => { const made = shape("text", { x: at, y: up, fill: "currentColor" }, words); Object.assign(made.style, { textAnchor: anchor, fontSize: "11px", dominantBaseline: "auto" }); return made; };
    const parts = [shape("path", { d: `M${L},${T}V${H - B}H${W - R}`, fill: "none", stroke: "currentColor", "stroke-width": 1 })];
    for (const line of curve.lines) {
      const points = line.values.map((value, place) => `${x(xs[place]).toFixed(1)},${y(value).toFixed(1)}`);
      parts.push(shape("polyline", { points: points.join(" "), fill: "none", stroke: tone(line), "stroke-width": 2, "stroke-dasharray": numbers ? dash(line) : "2 3" }));
      if (!numbers) parts.push(...line.values.map((value, place) => shape("circle", { cx: x(xs[place]), cy: y(value), r: 3.5, fill: tone(line) })));
    }
    parts.push(text(L - 5, y(high) + 4, "end", number(high)), text(L - 5, y(low) + 4, "end", high > low ? number(low) : ""));
    const few = numbers ? [0, xs.length - 1] : [...xs.keys()];
    few.forEach((place) => parts.push(text(x(xs[place]), H - B + 14, numbers ? (place ? "end" : "start") : "middle", numbers ? number(curve.at[place]) : short(curve.at[place], 10))));
    parts.push(text((L + W - R) / 2, H - 4, "middle", short(data.names[cause], 40)));
    const words = `${data.names[effect]} as ${data.names[cause]} moves, everything else at its average${levels[0] === "" ? "" : " (probabilities)"}`;
    const picture = shape("svg", { viewBox: `0 0 ${W} ${H}`, width: "100%", role: "img", "aria-label": words }, ...parts);
    picture.style.maxWidth = "26rem";
    const keys = curve.lines.filter(label).map((line) => { const item = element("li", { dir: "auto" }, label(line)); item.style.borderInlineStart = `4px ${dash(line) ? "dashed" : "solid"} ${tone(line)}`; item.style.paddingInlineStart = ".4rem"; return item; });
    return [element("figure", { class: "curve" }, element("figcaption", { class: "caveat", dir: "auto" }, words), picture, ...(keys.length ? [element("ul", { class: "keys" }, ...keys)] : []))];
  }
  function contextStory(place, slot) {
    const log = data.log[place], current = state.view === place;
    const sentence = element("p", { class: "verdict", dir: "auto" }, data.stories[slot][place]);
    if (data.context !== null && data.graphs[place][data.pairs[slot].join(",")]) sentence.style.borderColor = colour(place);
    if (current) sentence.append(" ", element("em", {}, "(shown)"));
    const p = log.p[slot], given = log.given[slot].map((z) => data.columns[z]).join(", ") || "nothing";
    const parts = [sentence];
    if (p !== null) parts.push(element("p", { class: "caveat", dir: "auto" }, `Test: ${log.test[slot]}, given ${given}, rows: ${log.rows[slot]}, n = ${log.n[slot]}, statistic ${number(log.statistic[slot])}, ${withSign(p)}.`));
    const other = otherAlpha(log.decision[slot], p);
    if (other) parts.push(element("p", { class: "caveat" }, other));
    return parts;
  }
  function otherAlpha(decision, p) {
    if (p === null) return "";
    if (decision === "absent") return p === 0 ? "" : `Another alpha: at any alpha above ${number(p)} this test would no longer separate the two; another one might.`;
    if (decision === "present") return p < 1e-16 ? "" : `Another alpha: at any alpha below ${number(p)} this test would remove the edge.`;
    return "";
  }

  // Another alpha, judged by the tests at hand.
  function alphaFlag(stroke) {
    if (state.alpha === data.alpha || !stroke.places.length) return "";
    const slot = slotOf.get(stroke.pair);
    const gone = slot !== undefined && stroke.places.every((place) => data.log[place].decision[slot] === "present" && data.log[place].p[slot] > state.alpha);
    return gone ? "✂" : "";
  }
  function tellAlpha() {
    const gone = [], kept = [];
    data.pairs.forEach(([i, j], slot) => data.log.forEach((log, place) => {
      const p = log.p[slot], where = data.context === null ? "" : ` in ${data.contexts[place]}`;
      if (p === null) return;
      if (log.decision[slot] === "present" && p > state.alpha) gone.push(`${data.names[i]} and ${data.names[j]}${where}`);
      if (log.decision[slot] === "absent" && p <= state.alpha) kept.push(`${data.names[i]} and ${data.names[j]}${where}`);
    }));
    byId("alpha-value").textContent = number(state.alpha) + (state.alpha === data.alpha ? " (as run)" : "");
    const lines = [];
    if (state.alpha !== data.alpha) {
      lines.push(listed("These edges would go (✂):", gone), listed("These separations would no longer hold:", kept));
      lines.push(element("p", { class: "caveat" }, "Judged by the deciding tests of this run; a new search may find other separating sets."));
    }
    byId("alpha-story").replaceChildren(...lines);
  }
  function listed(heading, items) {
    const list = element("ul");
    for (const item of items.slice(0, 12)) list.append(element("li", { dir: "auto" }, item));
    if (items.length > 12) list.append(element("li", {}, `and ${items.length - 12} more`));
    return element("div", {}, element("p", {}, items.length ? heading : `${heading} none.`), list);
  }

  // Tables.
  function fillTable(id, header, rows, cells, what) {
    const search = byId(`${id}-search`), texts = rows.map((row) => cells(row).join(" \u0001 ").toLowerCase());
    const table = byId(id), body = element("tbody");
    table.append(element("caption", { hidden: "" }, what), element("thead", {}, element("tr", {}, ...header.map((name) => element("th", { scope: "col" }, name)))), body);
    const show = () => {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = rows.filter((row, number) => wanted.every((word) => texts[number].includes(word)));
      body.replaceChildren(...found.slice(0, ROWS_SHOWN).map((row) => tableRow(row, cells(row))));
      const more = found.length > ROWS_SHOWN ? `, the first ${ROWS_SHOWN} shown` : "";
      byId(`${id}-count`).textContent = `${found.length} of ${rows.length} ${what}${more}`;
      markRows();
    };
    search.addEventListener("input", show);
    show();
  }
  function tableRow(row, texts) {
    const made = element("tr", { class: "pair", "data-pair": key(row.i, row.j) });
    texts.forEach((text, number) => {
      const cell = element("td", { dir: "auto", class: "plain" });
      if (number === 0) { const button = element("button", { type: "button" }, text); cell.append(button); } else cell.append(text);
      made.append(cell);
    });
    made.addEventListener("click", () => choose(row.i, row.j));
    return made;
  }
  function markRows() {
    const wanted = state.pair ? key(...state.pair) : "";
    for (const row of document.querySelectorAll("tr.pair")) row.classList.toggle("picked", row.dataset.pair === wanted);
  }
  function testRows() {
    const rows = [];
    data.pairs.forEach(([i, j], slot) => data.log.forEach((log, place) => { if (log.decision[slot] !== "not_searched") rows.push({ i, j, slot, place }); }));
    return rows;
  }
  function testCells({ i, j, slot, place }) {
    const log = data.log[place];
    return [`${data.names[i]}, ${data.names[j]}`, String(data.contexts[place]), log.decision[slot], log.given[slot].map((z) => data.columns[z]).join(", "),
      log.rows[slot], log.test[slot], number(log.statistic[slot]), chance(log.p[slot]), String(log.n[slot])];
  }
  const edgeCells = (row) => [`${data.names[row.i]} ${row.mark} ${data.names[row.j]}`, row.contexts.length === data.contexts.length ? "all" : row.contexts.map((place) => data.contexts[place]).join(", "),
    number(row.strength), data.scored ? row.margin >= data.followed ? `at least ${data.followed}` : number(row.margin) : chance(row.p), String(row.n), ...(data.scored ? [row.hidden] : [])];

  // Controls.
  function fillPickers() {
    const [first, second] = [byId("first"), byId("second")];
    first.value = state.pair ? state.pair[0] : state.first ?? "";
    second.value = state.pair ? state.pair[1] : "";
  }
  function setView(view) {
    state.view = view;
    if (view === "union" || Number(state.compare) === view) state.compare = "";
    update();
  }
  function update() {
    for (const radio of document.querySelectorAll("input[name=view]")) radio.checked = radio.value === String(state.view);
    const place = state.view === "union" ? null : state.view;
    byId("compare").value = state.compare; byId("compare").disabled = place === null;
    byId("ghost-field").hidden = place === null || state.compare !== "" || !several;
    if (place !== null) byId("slider").value = place;
    byId("slider-value").textContent = place === null ? "" : short(data.contexts[place], 18);
    byId("slider").setAttribute("aria-valuetext", place === null ? "union" : data.contexts[place]);
    for (const radio of document.querySelectorAll("input[name=lag]")) radio.checked = radio.value === String(state.lag);
    byId("lag").value = state.lag;
    const edges = (graph) => Object.keys(graph).filter((pair) => state.lag === "all" || lagOf(pair) === state.lag).length;
    const count = (graph) => `${edges(graph)} edges${state.lag === "all" ? "" : ` at lag ${state.lag}`}`;
    const turned = state.lag === "all" && data.edges.length > edges(data.union); // an arrow each way is two edges of one pair
    byId("view-title").textContent = state.view === "union" ? `Labeled union: ${turned ? `${data.edges.length} edges between ${edges(data.union)} pairs` : count(data.union)}`
      : state.compare !== "" ? `${titleOf(place)} against ${data.contexts[Number(state.compare)]}` : `${titleOf(place)}: ${data.rows[place]} ${data.time ? "windows" : "rows"}, ${count(data.graphs[place])}`;
    drawGraph(); drawLegend(); if (state.pair) tellStory();
  }
  function drawLegend() {
    const shown = strokes(), marks = new Set(shown.filter((s) => !s.ghost).map((s) => towardsArrow(s.mark)));
    const items = Object.keys(data.meaning).filter((mark) => marks.has(mark)).map((mark) => legendItem({ mark, colours: ["var(--ink)"] }, `${mark}: ${data.meaning[mark]}`));
    if (several && state.compare !== "") {
      const shades = data.contexts.length <= 6 ? [colour(state.view), colour(Number(state.compare))] : ["var(--c0)", "var(--c1)"];
      items.push(legendItem({ mark: "-->", colours: ["var(--pale)"] }, "the same in both"), legendItem({ mark: "-->", colours: [shades[0]] }, `only ${data.contexts[state.view]}`), legendItem({ mark: "-->", colours: [shades[1]] }, `only ${data.contexts[Number(state.compare)]}`), legendItem({ mark: "-->", colours: shades }, "in both, with another mark"));
    } else if (several) {
      const used = new Set(shown.filter((s) => !s.ghost && s.colours[0] !== "var(--ink)").flatMap((s) => s.places));
      if (data.contexts.length <= 6) for (const place of [...used].sort()) items.push(legendItem({ mark: "-->", colours: [colour(place)] }, `not in all contexts: ${data.contexts[place]}`));
      else if (used.size) items.push(legendItem({ mark: "-->", colours: [colour(0)] }, "not in all contexts"));
      if (shown.some((s) => s.ghost) && byId("ghosts").checked) items.push(legendItem({ mark: "", colours: ["var(--pale)"], ghost: true }, "missing here, present elsewhere"));
    }
    if (shown.some((stroke) => doubtful(stroke) && !untested(stroke))) items.push(legendItem({ mark: "o-o", colours: ["var(--ink)"], doubt: true }, "?: uncertain, kept narrowly (p > alpha/5)"));
    if (shown.some(untested)) items.push(legendItem({ mark: "o-o", colours: ["var(--ink)"], doubt: true }, "not tested: no test of the pair could be run, so the link says nothing"));
    if (shown.some(suspected)) items.push(element("li", {}, "hidden?: a hidden common cause may stand behind it; links without this are not cleared"));
    if (state.asked) items.push(litItem());
    items.push(element("li", {}, tested ? "Width: strength of the weakest test." : "Width: strength of the link."));
    byId("legend").replaceChildren(...items);
  }
  function litItem() {
    const line = shape("path", { d: "M2 8 H52", "stroke-width": 11, fill: "none" });
    line.style.stroke = "var(--lit)"; line.style.opacity = ".55";
    const [cause, effect] = state.asked.map((place) => short(data.names[place], 24));
    return element("li", {}, shape("svg", { width: 54, height: 16, "aria-hidden": "true" }, line), element("span", { dir: "auto" }, `on a path from ${cause} to ${effect}`));
  }
  function legendItem(sample, words) {
    const route = [2, 8, 18, 8, 36, 8, 52, 8], svg = shape("svg", { width: 54, height: 16, "aria-hidden": "true" });
    sample.colours.forEach((shade, turn) => {
      const line = shape("path", { d: pathOf(trimmed(route, sample.mark)), "stroke-width": 2.4, fill: "none" });
      line.style.stroke = shade;
      if (sample.colours.length > 1) { line.setAttribute("stroke-dasharray", "8 8"); line.setAttribute("stroke-dashoffset", String(-8 * turn)); }
      else if (sample.ghost || sample.doubt) line.setAttribute("stroke-dasharray", "2 5");
      else if (dashes(sample.mark)) line.setAttribute("stroke-dasharray", dashes(sample.mark));
      svg.append(line);
    });
    if (!sample.ghost) { drawEnd(svg, route, 0, sample.mark, sample.colours[0]); drawEnd(svg, route, 1, sample.mark, sample.colours[sample.colours.length - 1]); }
    return element("li", {}, svg, element("span", { dir: "auto" }, words));
  }
  function buildControls() {
    const views = byId("views");
    const radio = (value, words) => { const input = element("input", { type: "radio", name: "view", value }); input.addEventListener("change", () => setView(value === "union" ? "union" : Number(value))); views.append(element("label", { dir: "auto" }, input, short(words, 30))); };
    if (several) radio("union", "Union");
    if (data.contexts.length <= 12) data.contexts.forEach((value, place) => radio(place, data.context === null ? "graph" : value));
    const slider = byId("slider");
    slider.max = Math.max(data.contexts.length - 1, 0); slider.value = 0;
    slider.addEventListener("input", () => setView(Number(slider.value)));
    const compare = byId("compare");
    compare.append(element("option", { value: "" }, "nothing"), ...data.contexts.map((value, place) => element("option", { value: place }, short(value, 40))));
    compare.addEventListener("change", () => { state.compare = compare.value === String(state.view) ? "" : compare.value; update(); });
    byId("slider-field").hidden = byId("compare-field").hidden = views.hidden = !several;
    byId("ghosts").addEventListener("change", update);
    for (const id of ["first", "second"]) {
      byId(id).append(element("option", { value: "" }, "…"), ...data.names.map((name, place) => element("option", { value: place }, short(name, 60))));
      byId(id).addEventListener("change", () => {
        const [a, b] = [byId("first").value, byId("second").value];
        if (a !== "" && b !== "" && a !== b) choose(Number(a), Number(b));
      });
    }
    const zoom = (factor) => { state.zoom = factor && Math.min(4, Math.max(0.25, state.zoom * factor)); drawGraph(); };
    byId("zoom-in").addEventListener("click", () => zoom(1.25)); byId("zoom-out").addEventListener("click", () => zoom(0.8)); byId("zoom-fit").addEventListener("click", () => zoom(0));
    const alpha = byId("alpha");
    alpha.value = Math.log10(data.alpha);
    alpha.addEventListener("input", () => { const found = 10 ** Number(alpha.value); state.alpha = Math.abs(Math.log10(found / data.alpha)) < 0.006 ? data.alpha : found; tellAlpha(); drawGraph(); });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape" && (state.pair || state.first !== null || state.asked)) clear(); });
    addEventListener("resize", drawGraph);
  }
  function setTheme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = dark ? "Light" : "Dark"; byId("theme").setAttribute("aria-pressed", String(dark));
  }
  function buildSections() {
    for (const section of data.sections) {
      const card = element("section", { class: "card" }, element("h2", { dir: "auto" }, section.title), ...section.lines.map((line) => element("p", { dir: "auto" }, line)));
      if (section.rows.length) {
        const head = element("thead", {}, element("tr", {}, ...section.header.map((name) => element("th", { scope: "col" }, name))));
        const rows = section.rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", { dir: "auto" }, cell))));
        card.append(element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": section.title }, element("table", {}, head, element("tbody", {}, ...rows))));
      }
      byId("sections").append(card);
    }
  }

  byId("summary").textContent = data.summary;
  for (const place of ["warnings", "notes"]) {
    for (const text of data[place]) byId(place).append(element("p", { dir: "auto" }, text));
    byId(place).hidden = !data[place].length;
  }
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
  for (const [name, value] of data.settings) byId("settings").append(element("dt", {}, name), element("dd", { dir: "auto" }, value));
  const tested = data.log.some((log) => log.p.some((p) => p !== null));
  buildControls(); buildLags(); buildSections(); buildEffects(); buildCut();
  fillTable("edges", ["edge", "contexts", "strength", data.scored ? "margin of the direction, nats" : "p", "n", ...(data.scored ? ["hidden cause"] : [])], data.edges, edgeCells, "edges");
  fillTable("tests", ["pair", "context", "decision", "given", "rows", "test", "statistic", "p", "n"], testRows(), testCells, "tests");
  byId("tests-card").hidden = byId("alpha-card").hidden = !tested;
  tellAlpha(); update();
  if (data.time) byId("stage").scrollLeft = byId("stage").scrollWidth; // the present is on the right
})();
