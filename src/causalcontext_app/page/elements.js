// Elements, requests, sentences. Names and values are data: they are shown as text, nothing is ever parsed as HTML.
const SVG = "http://www.w3.org/2000/svg";
export const byId = (id) => document.getElementById(id);

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) { if (value) made.addEventListener(name.slice(2), value); }
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}
export const element = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const shape = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);
export const button = (words, onclick, attributes = {}) => element("button", { type: "button", onclick, ...attributes }, words);
export const card = (title, ...children) => element("section", { class: "card" }, element("h2", {}, title), ...children);
export const list = (sentences) => element("ul", {}, ...sentences.map((text) => element("li", { dir: "auto" }, text)));
export const plural = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
export const number = (value) => String(Number(Number(value).toPrecision(4)));

// A menu; every choice is a text, or a value and a text.
export function menu(label, choices, value, onchange, attributes = {}) {
  const options = choices.map((choice) => Array.isArray(choice) ? choice : [choice, choice]);
  const select = element("select", { onchange: () => onchange(select.value), ...attributes }, ...options.map(([name, words]) => element("option", { value: name }, words)));
  select.value = value;
  return element("label", { class: "field" }, label, select);
}

// The answer to a request; what the library refuses is an error with its sentence.
export async function ask(method, address, body) {
  let answer;
  try {
    answer = await fetch(address, { method, body: body instanceof Blob ? body : body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Error("the app has ended; start it again in the terminal");
  }
  const text = await answer.text();
  let content;
  try { content = JSON.parse(text); } catch { throw new Error(text); }
  if (!answer.ok) throw new Error(content.error);
  return content;
}

// A sentence for everyone to see, and one for screen readers alone.
export function complain(text) {
  byId("said").textContent = text;
  byId("said").hidden = !text;
  if (text) byId("said").scrollIntoView({ block: "nearest" });
}
export function tell(text) { byId("status").textContent = text; }

// Bars of numbers, or of the most frequent levels; numbers above a cut have another colour.
export function histogram(column, width, height, cuts = []) {
  const picture = (words, ...parts) => shape("svg", { class: "histogram", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words, preserveAspectRatio: "none" }, ...parts);
  const bars = (counts, shade) => {
    const most = Math.max(...counts, 1), wide = width / counts.length;
    return counts.map((count, place) => shape("rect", { x: place * wide + 0.5, width: Math.max(wide - 1, 0.5), y: height - height * count / most, height: height * count / most, class: shade(place) }));
  };
  if (column.histogram) {
    const { counts, low, high } = column.histogram;
    if (!counts.length) return element("p", { class: "hint" }, "no numbers");
    const step = (high - low) / counts.length, side = (place) => cuts.filter((cut) => low + (place + 0.5) * step > cut).length;
    const lines = cuts.filter((cut) => cut > low && cut < high).map((cut) => shape("line", { class: "cut", x1: width * (cut - low) / (high - low), x2: width * (cut - low) / (high - low), y1: 0, y2: height }));
    return picture(`numbers from ${number(low)} to ${number(high)}, median ${number(column.histogram.median)}`, ...bars(counts, (place) => `bar side-${side(place) % 4}`), ...lines);
  }
  if (!column.levels || !column.levels.length) return element("p", { class: "hint" }, "no values");
  return picture(column.levels.map(([level, count]) => `${level}: ${count}`).join(", "), ...bars(column.levels.map(([, count]) => count), () => "bar level"));
}
