// The state of the explorer and its form in the URL.
//
//   #explore?key=value&key=value    values are encoded as in the query of a URL; the order is free
//
//   q=TEXT             samples whose id, file name or texts hold it
//   model=NAME         whose objects and values the filters ask about; without it those of any model
//   outcome=NAME       several are joined by "or". Of objects: tp, fp, fn, or the kind of a false positive:
//                      classification, localisation, both, duplicate, background; ignored.
//                      Of samples, by `metric`: passed, failed (or right, wrong), error, unscored
//   label=NAME         of the object, or the right label of the sample; several are joined by "or"
//   slice=NAME         that the sample is in; several of one key are joined by "or", those of others by "and"
//   truth=A&predicted=B    objects or samples of label A that were taken for B; either may be left out
//   min_size=N&max_size=N  size of the object in pixels, the square root of its area: from min_size, below max_size
//   metric=NAME        whose values are filtered, shown and sorted, as the list names it, or its metric's name
//   min=X&max=X        range of its value, both ends included
//   than=NAME          another model, with which `model` is compared
//   change=KIND        better or worse by `metric` (of objects: fewer or more errors);
//                      won: right where the other is wrong; lost: wrong where the other is right
//   threshold=X        score threshold of detections
//   sort=KIND          order (of the data), errors, best, worst, difference, id
//   sample=ID          the sample whose card is open
//
// An empty or unknown value is as if it were not there. `#sample-ID` opens the card of a sample.

const PREFIX = "explore";
const MANY = ["outcome", "label", "slice"];
const NUMBERS = ["min_size", "max_size", "min", "max", "threshold"];
const TEXTS = ["q", "model", "truth", "predicted", "metric", "than", "change", "sort", "sample"];

const OUTCOMES = {
  tp: [0], fp: [1, 2, 3, 4, 5], fn: [7], classification: [1], localisation: [2], both: [3], duplicate: [4], background: [5], ignored: [6],
};
const ALIASES = { right: "passed", wrong: "failed" };

function emptyState() {
  return { ...Object.fromEntries(MANY.map((name) => [name, []])), ...Object.fromEntries([...NUMBERS.map((name) => [name, null]), ...TEXTS.map((name) => [name, ""])]) };
}

// The state that a hash says; null if it is about something else.
function parseHash(hash) {
  const text = hash.replace(/^#/, "");
  if (text !== PREFIX && !text.startsWith(`${PREFIX}?`)) return null;
  const query = new URLSearchParams(text.slice(PREFIX.length + 1));
  const state = emptyState();
  MANY.forEach((name) => { state[name] = [...new Set(query.getAll(name).filter(Boolean))]; });
  state.outcome = state.outcome.map((name) => ALIASES[name] ?? name);
  TEXTS.forEach((name) => { state[name] = query.get(name) ?? ""; });
  NUMBERS.forEach((name) => {
    const value = query.get(name);
    state[name] = value === null || value.trim() === "" || !Number.isFinite(Number(value)) ? null : Number(value);
  });
  return state;
}

function formatHash(state) {
  const query = new URLSearchParams();
  TEXTS.forEach((name) => { if (state[name] !== "") query.append(name, state[name]); });
  MANY.forEach((name) => state[name].forEach((value) => query.append(name, value)));
  NUMBERS.forEach((name) => { if (state[name] !== null) query.append(name, String(state[name])); });
  const text = query.toString();
  return text ? `#${PREFIX}?${text}` : `#${PREFIX}`;
}

// What the state asks for, as numbers of models, labels and metrics; -1 for none.
function asked(data, state) {
  const names = data.objects ? data.objects.names : data.pairs ? data.pairs.names : [];
  const label = (name) => (name === "" ? -1 : names.indexOf(name));
  const model = state.model === "" ? -1 : data.names.indexOf(state.model);
  const than = state.than === "" ? -1 : data.names.indexOf(state.than);
  const metric = state.metric === "" ? -1 : metricAt(data, state.metric);
  return {
    model,
    models: model >= 0 ? [model] : data.names.map((_, at) => at),
    than: than === model ? -1 : than,
    metric,
    slices: slicesAsked(data, state.slice),
    labels: state.label.map(label).filter((one) => one >= 0),
    truth: label(state.truth),
    predicted: label(state.predicted),
    threshold: state.threshold ?? defaultThreshold(data),
  };
}

// The numbers of the slices asked for, those of one key together.
function slicesAsked(data, names) {
  const groups = new Map();
  (data.slices ?? []).forEach(({ name, key }, at) => { if (names.includes(name)) groups.set(key, [...(groups.get(key) ?? []), at]); });
  return [...groups.values()];
}

function metricAt(data, name) {
  const exact = data.metrics.findIndex((one) => one.name === name);
  if (exact >= 0) return exact;
  return data.metrics.findIndex((one) => one.metric === name);
}

// The metric that outcomes and values are of if none is chosen: the first with a threshold of its own, else the first
// that is a yes or no, else the first.
function mainMetric(data) {
  const given = data.metrics.findIndex((one) => one.given && one.primary);
  if (given >= 0) return given;
  const judged = data.metrics.findIndex((one) => one.judged && one.primary);
  return judged >= 0 ? judged : data.metrics.length ? 0 : -1;
}

const defaultThreshold = (data) => (data.objects ? data.threshold : 0);

const isFiltered = (state) => MANY.some((name) => state[name].length)
  || ["q", "model", "truth", "predicted", "change"].some((name) => state[name] !== "")
  || ["min_size", "max_size", "min", "max"].some((name) => state[name] !== null);
