// The question: context, time, method and the other options.
import { button, card, element, histogram, list, menu, number, plural } from "./elements.js";
import { findings } from "./table.js";

const MOST_LEVELS = 50, OWN_PLACE = ["method", "missing", "lags", "time", "units", "sample", "keep"]; // a table that is open here is in memory
const NUMBERS = ["N", "NUMBER", "SECONDS"];
const MISSING = [["raise", "stop, and say where they are"], ["model", "use every observed cell"], ["listwise", "drop rows that have some"], ["testwise", "drop them test by test"]];
const MISSING_WITH_LAGS = [["raise", "stop, and say where they are"], ["model", "use every observed cell"], ["windows", "leave out windows that have some"], ["interpolate", "fill in single cells"]];

export function questionPanel(app) {
  return [element("div", { class: "two" },
    element("div", {}, contextCard(app), timeCard(app), missingCard(app)),
    element("div", {}, methodCard(app), moreCard(app), findings(app)))];
}

function contextCard(app) {
  const chosen = app.question.context, names = chosen.map((one) => typeof one === "string" ? one : one.column);
  const free = usable(app).filter((column) => !names.includes(column.name) && (asItIs(column) || column.histogram));
  const add = menu("Add a context", [["", "choose a column …"], ...free.map((column) => [column.name, column.name])], "", (name) => app.change((question) => {
    const column = app.columns.find((one) => one.name === name);
    question.context.push(asItIs(column) ? name : { column: name, cuts: [rounded(column, column.histogram.median)] });
  }), { id: "add-context" });
  return card("Context",
    element("p", { class: "hint" }, "What may change the mechanisms: one graph is found for every value. It may itself be an effect of the others."),
    chosen.length ? element("ul", { class: "contexts" }, ...chosen.map((one, place) => oneContext(app, one, place))) : element("p", {}, "None: one graph for all rows."),
    add);
}

const usable = (app) => app.columns.filter((column) => !app.question.drop.includes(column.name) && ![app.question.options.time, app.question.options.units].includes(column.name));
const asItIs = (column) => column.level_count >= 2 && column.level_count <= MOST_LEVELS;
// A threshold with about three digits more than the range has.
function rounded(column, value) {
  const { low, high } = column.histogram, digits = Math.max(0, 3 - Math.ceil(Math.log10(Math.max(high - low, 1e-12))));
  return digits > 15 ? value : Number(value.toFixed(Math.min(digits, 15)));
}

function oneContext(app, one, place) {
  const name = typeof one === "string" ? one : one.column, column = app.columns.find((other) => other.name === name);
  const set = (next) => app.change((question) => { question.context[place] = next; });
  const ways = [...(asItIs(column) ? [["is", "its values"]] : []), ...(column.histogram ? [["cut", "a threshold"], ["bins", "bins of equal size"]] : [])];
  const way = typeof one === "string" ? "is" : one.quantiles ? "bins" : "cut";
  const change = (next) => set(next === "is" ? name : next === "bins" ? { column: name, quantiles: 3 } : { column: name, cuts: [rounded(column, column.histogram.median)] });
  return element("li", { class: "context-choice" },
    element("p", { class: "actions" }, element("strong", { dir: "auto" }, name), ways.length > 1 ? menu("by", ways, way, change, { "aria-label": `how ${name} is the context` }) : null,
      button("Remove", () => app.change((question) => { question.context.splice(place, 1); }), { "aria-label": `Remove the context ${name}` })),
    way === "cut" ? cutSlider(column, one.cuts, (cuts) => set({ column: name, cuts })) : null,
    way === "bins" ? element("label", { class: "field" }, "Bins", element("input", { type: "number", min: 2, max: 20, value: one.quantiles, onchange: (event) => set({ column: name, quantiles: Number(event.target.value) }) })) : null);
}

// The histogram with a slider below it; the picture follows the slider, the question is changed when it rests.
function cutSlider(column, cuts, set) {
  const { low, high } = column.histogram, picture = element("div", {}, histogram(column, 400, 70, cuts));
  const show = (value) => { picture.replaceChildren(histogram(column, 400, 70, [value])); };
  const slider = element("input", { type: "range", min: low, max: high, step: "any", "aria-label": `threshold of ${column.name}`,
    oninput: () => { const value = rounded(column, Number(slider.value)); box.value = value; slider.setAttribute("aria-valuetext", value); show(value); },
    onchange: () => set([rounded(column, Number(slider.value))]),
    onkeydown: (event) => { // one hundredth of the range a key
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (!steps) return;
      event.preventDefault();
      slider.value = Number(slider.value) + steps * (high - low) / 100;
      slider.dispatchEvent(new Event("input"));
      slider.dispatchEvent(new Event("change"));
    } });
  const box = element("input", { type: "number", step: "any", "aria-label": `threshold of ${column.name} as a number`, onchange: () => set([Number(box.value)]) });
  slider.value = cuts[0]; box.value = cuts[0];
  return element("div", { class: "cut-slider" }, picture, slider, element("p", { class: "hint range" }, element("span", {}, number(low)), element("span", {}, "larger than ", box), element("span", {}, number(high))));
}

function timeCard(app) {
  const { options } = app.question, on = options.lags !== undefined, names = app.columns.map((column) => column.name);
  const box = element("input", { type: "checkbox", checked: on, onchange: () => app.change((question) => {
    for (const name of ["lags", "time", "units", "missing", "step", "covariates", "context_lags"]) delete question.options[name];
    if (box.checked) question.options.lags = 1;
  }) });
  const lags = element("input", { type: "number", min: 1, max: 100, value: options.lags, onchange: () => app.change((question) => { question.options.lags = Number(lags.value); }) });
  const column = (label, option) => menu(label, [["", "none"], ...names.filter((name) => !app.question.context.includes(name)).map((name) => [name, name])], options[option] ?? "", (name) => app.change((question) => {
    delete question.options[option];
    if (name) { question.options[option] = name; question.drop = question.drop.filter((other) => other !== name); delete question.kinds[name]; }
  }));
  return card("Time",
    element("p", {}, element("label", {}, box, " Rows follow each other in time")),
    on ? element("div", { class: "fields" }, element("label", { class: "field" }, "Largest lag of a cause", lags), column("Column that orders the rows", "time"), column("Column that names the series", "units")) : null);
}

function missingCard(app) {
  const lagged = app.question.options.lags !== undefined;
  return card("Missing values", menu("If there are some", lagged ? MISSING_WITH_LAGS : MISSING, app.question.options.missing ?? "raise", (value) => app.change((question) => { question.options.missing = value; })));
}

function methodCard(app) {
  const chosen = app.question.options.method ?? "auto";
  const choice = (method) => {
    const input = element("input", { type: "radio", name: "method", value: method.name, checked: method.name === chosen, onchange: () => app.change((question) => {
      question.options.method = method.name;
      for (const option of app.state.options) if (!understands(method.name, option)) delete question.options[option.name];
    }) });
    return element("label", { class: "choice" }, input, element("span", {}, element("strong", {}, method.name), " ", method.text));
  };
  return card("Method", element("div", { role: "radiogroup", "aria-label": "Method", class: "choices" }, ...app.state.methods.map(choice)));
}

function moreCard(app) {
  const set = Object.entries(app.question.options).filter(([name]) => !OWN_PLACE.includes(name));
  const method = app.question.options.method ?? "auto";
  const shown = app.state.options.filter((option) => !OWN_PLACE.includes(option.name) && understands(method, option));
  const groups = [...new Set(shown.map((option) => option.group))];
  const fields = groups.flatMap((group) => [group ? element("h3", {}, group) : null, ...shown.filter((option) => option.group === group).map((option) => oneOption(app, option))]).filter(Boolean);
  const details = element("details", { class: "more", open: app.open.more, ontoggle: () => { app.open.more = details.open; } },
    element("summary", {}, set.length ? `${plural(set.length, "option")} changed` : "All as by default"), element("div", { class: "options" }, ...fields));
  return card("More options", set.length ? list(set.map(([name, value]) => `${name}: ${value}`)) : null, details);
}

const understands = (method, option) => option.methods === null || option.methods.includes(method);

function oneOption(app, option) {
  const value = app.question.options[option.name] ?? option.default, id = `option-${option.name}`;
  const set = (next) => app.change((question) => { delete question.options[option.name]; if (next !== null) question.options[option.name] = next; });
  let input;
  if (typeof option.default === "boolean") input = element("input", { id, type: "checkbox", checked: value, "aria-describedby": `${id}-text`, onchange: () => set(input.checked) });
  else if (option.name === "test") input = element("select", { id, "aria-describedby": `${id}-text`, onchange: () => set(input.value) }, ...app.state.tests.map((name) => element("option", { value: name, selected: name === value }, name)));
  else input = element("input", { id, type: "text", value: value ?? "", autocomplete: "off", placeholder: option.default === null ? "none" : "", "aria-describedby": `${id}-text`,
    onchange: () => set(input.value.trim() === "" ? null : NUMBERS.includes(option.shown) && Number.isFinite(Number(input.value)) ? Number(input.value) : input.value.trim()) });
  return element("div", { class: "option" }, element("label", { for: id }, option.name), input, element("p", { class: "hint", id: `${id}-text` }, option.text));
}
