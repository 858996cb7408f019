// The table: every column with its histogram, kind and warnings, and what the library says about all of them.
import { button, card, element, histogram, list, number, plural } from "./elements.js";

export function tablePanel(app) {
  const used = app.columns.filter((column) => !app.question.drop.includes(column.name)).length;
  return [
    findings(app),
    element("h2", {}, `${plural(app.columns.length, "column")}, ${used} of them in the search`),
    element("ul", { class: "columns" }, ...app.columns.map((column) => columnCard(app, column))),
  ];
}

export function findings(app) {
  const made = card("What the library says", ...findingsOf(app));
  made.dataset.findings = "";
  return made;
}

function findingsOf(app) {
  const found = app.findings, parts = [];
  if (!found) return [element("p", { class: "hint" }, "Looking at the table …")];
  if (found.error) return [element("p", { class: "problem", dir: "auto" }, found.error)];
  if (found.problems.length) parts.push(element("h3", {}, "A search refuses this"), element("div", { class: "problem" }, list(found.problems)), ...missingButtons(app));
  else parts.push(element("p", { class: "good" }, "Ready: a search takes this table."));
  parts.push(...leftOutOf(app));
  if (found.rows.length > 1) parts.push(element("p", { dir: "auto" }, `Rows by context: ${found.rows.map(([level, rows]) => `${level}: ${rows.toLocaleString("en")}`).join(", ")}.`));
  if (found.notes.length) parts.push(element("h3", {}, "Worth knowing"), list(found.notes));
  if (found.advice.length) parts.push(element("h3", {}, "Advice"), list(found.advice));
  return parts;
}

// The columns that a search leaves out, and those that are kept although it would, with a box for each.
function leftOutOf(app) {
  const kept = app.question.options.keep ?? [], left = app.findings.left_out ?? [];
  if (!left.length && !kept.length) return [];
  const line = (name, reason, on) => element("li", {}, element("label", { dir: "auto" }, element("input", { type: "checkbox", checked: on, "aria-label": `keep ${name}`, onchange: () => app.change((question) => {
    const others = (question.options.keep ?? []).filter((other) => other !== name);
    if (!on) others.push(name);
    if (others.length) question.options.keep = others; else delete question.options.keep;
  }) }), ` keep ${name}${reason ? `, which ${reason}` : ""}`));
  return [element("h3", {}, "Left out of the search"), element("ul", {}, ...left.map(([name, reason]) => line(name, reason, false)), ...kept.map((name) => line(name, "", true)))];
}

function missingButtons(app) {
  if (!app.findings.holes || app.question.options.missing) return [];
  const set = (missing) => () => app.change((question) => { question.options.missing = missing; });
  return [element("p", { class: "actions" }, button("Use every observed cell", set("model")), button("Drop rows with missing values", set("listwise")), button("Drop them test by test", set("testwise")))];
}

function columnCard(app, column) {
  const { question } = app, out = question.drop.includes(column.name);
  const box = element("input", { type: "checkbox", checked: !out, onchange: () => app.change((next) => leaveOut(next, column.name, !box.checked)) });
  const kinds = element("select", { "aria-label": `kind of ${column.name}`, disabled: out, onchange: () => app.change((next) => {
    delete next.kinds[column.name];
    if (kinds.value !== column.kind) next.kinds[column.name] = kinds.value;
  }) }, ...[...new Set([...app.state.kinds, column.kind])].map((kind) => element("option", { value: kind, disabled: kind === "unknown" }, kind)));
  kinds.value = question.kinds[column.name] ?? column.kind;
  const share = column.missing / Math.max(app.state.table.rows, 1);
  return element("li", { class: `card column${out ? " out" : ""}` },
    element("label", { class: "column-name" }, box, element("span", { dir: "auto", title: column.name }, column.name)),
    histogram(column, 240, 44),
    element("p", { class: "hint range" }, ...rangeWords(column)),
    element("p", { class: "column-facts" }, kinds, element("span", { class: "hint" }, role(question, column.name)),
      column.missing ? element("span", { class: "missing" }, `${share < 0.001 ? "<0.1" : number(100 * share)} % missing`) : element("span", { class: "hint" }, "none missing")),
    column.warnings.length ? element("div", { class: "problem" }, ...column.warnings.map((text) => element("p", { dir: "auto" }, text))) : null);
}

function rangeWords(column) {
  if (column.histogram) {
    const { low, high, median } = column.histogram;
    return low === null ? [] : [element("span", {}, number(low)), element("span", {}, `median ${number(median)}`), element("span", {}, number(high))];
  }
  const shown = column.levels.slice(0, 3).map(([level, count]) => `${level} (${count.toLocaleString("en")})`).join(", ");
  return [element("span", { dir: "auto" }, column.level_count > 3 ? `${plural(column.level_count, "level")}: ${shown}, …` : shown)];
}

const columnOf = (one) => typeof one === "string" ? one : one.column;
function role(question, name) {
  if (question.options.time === name) return "time";
  if (question.options.units === name) return "units";
  return question.context.some((one) => columnOf(one) === name) ? "context" : "";
}

// A column that is left out is no context, no time and has no declared kind any more.
function leaveOut(question, name, out) {
  question.drop = question.drop.filter((other) => other !== name);
  if (!out) return;
  question.drop.push(name);
  delete question.kinds[name];
  question.context = question.context.filter((one) => columnOf(one) !== name);
  const kept = (question.options.keep ?? []).filter((other) => other !== name);
  if (kept.length) question.options.keep = kept; else delete question.options.keep;
  for (const option of ["time", "units"]) if (question.options[option] === name) delete question.options[option];
}
