// The samples that the filters let through, in their order, with the counts beside each filter value.

const PASSED = 0;
const FAILED = 1;
const ERROR = 2;
const UNSCORED = 3;
const SCORED = 4;
const SAMPLE_OUTCOMES = ["passed", "failed", "error", "unscored"];
const ERRORS = new Set(["parse_failure", "judge_error", "model_unavailable"]);

// What a metric says of a sample.
function verdictOf(data, metric, model, at) {
  if (metric < 0) return labelVerdict(data, model, at);
  const one = data.metrics[metric].models[model];
  if (!one || !one.values) return UNSCORED;
  const value = one.values[at];
  if (Number.isNaN(value)) {
    const status = statusOf(data, metric, model, at);
    return ERRORS.has(status) ? ERROR : UNSCORED;
  }
  if (one.limit === null) return SCORED;
  const good = data.metrics[metric].better === "lower" ? value <= one.limit : value >= one.limit;
  return good ? PASSED : FAILED;
}

// Whether the right label was predicted, where nothing else says so.
function labelVerdict(data, model, at) {
  const one = data.pairs && data.pairs.models[model];
  if (!one || one.truth[at] === one.truthMissing) return UNSCORED;
  return one.predicted[at] !== one.predictedMissing && one.predicted[at] === one.truth[at] ? PASSED : FAILED;
}

// The status of a sample in words; empty where there is none.
function statusOf(data, metric, model, at) {
  const primary = data.metrics.findIndex((other) => other.of === data.metrics[metric].of && other.primary);
  const status = data.metrics[primary]?.models[model]?.status;
  return status ? data.statuses[status[at]] ?? "" : "";
}

const valueOf = (data, metric, model, at) => {
  const one = metric < 0 ? null : data.metrics[metric].models[model];
  return one && one.values ? one.values[at] : NaN;
};

// How much better `model` is than `than` on a sample: of objects without a metric, how many errors fewer.
function gainOf(data, context, at) {
  const { metric, model, than, tally } = context;
  if (metric >= 0) {
    const change = valueOf(data, metric, model, at) - valueOf(data, metric, than, at);
    return data.metrics[metric].better === "lower" ? -change : change;
  }
  if (!tally || !tally[model] || !tally[than]) return NaN;
  return errorsOf(tally[than], at) - errorsOf(tally[model], at);
}

const errorsOf = (tally, at) => tally.fp[at] + tally.fn[at];

// Whether the change of a sample is of the kind asked for.
function changed(data, context, kind, at) {
  const gain = gainOf(data, context, at);
  if (kind === "better") return gain > 0;
  if (kind === "worse") return gain < 0;
  const [right, wrong] = kind === "won" ? [context.model, context.than] : [context.than, context.model];
  const judged = context.metric >= 0 ? context.metric : mainMetric(data);
  return verdictOf(data, judged, right, at) === PASSED && verdictOf(data, judged, wrong, at) === FAILED;
}

// The two models of a comparison: the chosen one, else the first, against the other one.
function sidesOf(data, goal) {
  const model = goal.model >= 0 ? goal.model : goal.than === 0 ? 1 : 0;
  const than = goal.than >= 0 ? goal.than : model === 0 ? 1 : 0;
  return { model, than };
}

// Whether a sample is in a slice, as one of the models has it.
const inSlice = (one, models, at) => models.some((model) => one.models[model] && (one.models[model][at >> 3] >> (at & 7)) & 1);

const BITS = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);

// By slice, how many of some samples are in it.
function countInSlices(data, models, order) {
  const mask = new Uint8Array((data.count + 7) >> 3);
  order.forEach((at) => { mask[at >> 3] |= 1 << (at & 7); });
  return data.slices.map((one) => {
    const columns = models.map((model) => one.models[model]).filter(Boolean);
    let total = 0;
    for (let at = 0; at < mask.length; at += 1) if (mask[at]) total += BITS[mask[at] & columns.reduce((byte, column) => byte | column[at], 0)];
    return total;
  });
}

// By slice, how many samples the list would have with it; beside those of a key that is chosen, without that choice.
function sliceCounts(data, state, tally, { goal, order }) {
  const counts = countInSlices(data, goal.models, order);
  goal.slices.forEach((group) => {
    const chosen = group.map((at) => data.slices[at].name);
    const others = countInSlices(data, goal.models, listed(data, { ...state, slice: state.slice.filter((one) => !chosen.includes(one)) }, tally).order);
    data.slices.forEach((one, at) => { if (one.key === data.slices[group[0]].key) counts[at] = others[at]; });
  });
  return counts;
}

function select(data, state, tally) {
  const found = listed(data, state, tally);
  return { ...found, slices: data.slices && sliceCounts(data, state, tally, found) };
}

function listed(data, state, tally) {
  const goal = asked(data, state);
  const pass = new Uint8Array(data.count).fill(1);
  const ranks = state.q ? searched(data, state.q) : null;
  if (ranks) for (let at = 0; at < data.count; at += 1) pass[at] = ranks[at] ? 1 : 0;
  goal.slices.forEach((group) => filterBy(pass, (at) => group.some((one) => inSlice(data.slices[one], goal.models, at))));
  const several = data.models.length > 1;
  const context = { ...sidesOf(data, goal), metric: goal.metric, tally };
  const byObject = data.objects && (state.change === "won" || state.change === "lost");
  if (several && state.change && !byObject) filterBy(pass, (at) => changed(data, context, state.change, at));
  if (state.min !== null || state.max !== null) {
    const metric = goal.metric >= 0 ? goal.metric : mainMetric(data);
    const least = state.min ?? -Infinity;
    const most = state.max ?? Infinity;
    filterBy(pass, (at) => goal.models.some((model) => { const value = valueOf(data, metric, model, at); return value >= least && value <= most; }));
  }
  const found = data.objects ? selectObjects(data, state, goal, pass, byObject ? context : null) : selectSamples(data, state, goal, pass);
  const order = [];
  for (let at = 0; at < data.count; at += 1) if (pass[at] && (!found.hits || !found.filtered || found.hits[at])) order.push(at);
  const sorted = sortBy(data, state, goal, context, found, ranks, Uint32Array.from(order));
  return { ...found, goal, context, order: sorted };
}

function filterBy(pass, keep) {
  for (let at = 0; at < pass.length; at += 1) if (pass[at] && !keep(at)) pass[at] = 0;
}

function selectObjects(data, state, goal, pass, won) {
  const count = data.objects.labels.length;
  const found = { hits: new Uint32Array(data.count), total: 0, kinds: new Uint32Array(8), labels: new Uint32Array(count), pairs: new Map() };
  const kinds = flags(8, state.outcome.flatMap((name) => OUTCOMES[name] ?? []));
  const labels = flags(count, goal.labels);
  const wanted = { threshold: goal.threshold, kinds, labels, truth: goal.truth, predicted: goal.predicted, least: state.min_size ?? 0, below: state.max_size ?? Infinity };
  if (won) {
    const [one, other] = state.change === "won" ? [won.model, won.than] : [won.than, won.model];
    if (data.objects.models[one] && data.objects.models[other]) countWon(data.objects.models[one], data.objects.models[other], wanted, pass, found);
  } else {
    goal.models.forEach((model) => data.objects.models[model] && countObjects(data.objects.models[model], wanted, pass, found));
  }
  const filtered = Boolean(won || kinds || labels || goal.truth >= 0 || goal.predicted >= 0 || state.min_size !== null || state.max_size !== null);
  return { ...found, filtered };
}

function selectSamples(data, state, goal, pass) {
  const metric = goal.metric >= 0 ? goal.metric : mainMetric(data);
  const outcomes = new Uint32Array(5);
  const labels = new Uint32Array(data.pairs ? data.pairs.labels.length : 0);
  const pairs = new Map();
  const kinds = flags(5, state.outcome.map((name) => SAMPLE_OUTCOMES.indexOf(name)).filter((one) => one >= 0));
  const wanted = flags(labels.length, goal.labels);
  const paired = goal.truth >= 0 || goal.predicted >= 0;
  for (let at = 0; at < data.count; at += 1) {
    if (!pass[at]) continue;
    const seen = new Uint8Array(5);
    let keep = false;
    let labelled = -1;
    goal.models.forEach((model) => {
      const verdict = verdictOf(data, metric, model, at);
      const own = data.pairs && data.pairs.models[model];
      const truth = own && own.truth[at] !== own.truthMissing ? own.truth[at] : -1;
      const predicted = own && own.predicted[at] !== own.predictedMissing ? own.predicted[at] : -1;
      const badKind = kinds && !kinds[verdict] ? 1 : 0;
      const badLabel = wanted && !wanted[truth] ? 1 : 0;
      const badPair = paired && ((goal.truth >= 0 && truth !== goal.truth) || (goal.predicted >= 0 && predicted !== goal.predicted)) ? 1 : 0;
      if (badKind + badLabel + badPair === 0) keep = true;
      if (badLabel + badPair === 0) seen[verdict] = 1;
      if (badKind + badPair === 0 && truth >= 0) labelled = truth;
      if (badKind + badLabel === 0 && truth >= 0 && predicted >= 0 && truth !== predicted) {
        const pair = truth * labels.length + predicted;
        pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
      }
    });
    seen.forEach((one, verdict) => { outcomes[verdict] += one; });
    if (labelled >= 0) labels[labelled] += 1;
    if (!keep) pass[at] = 0;
  }
  return { hits: null, filtered: false, total: 0, kinds: outcomes, labels, pairs, outcomesOf: metric };
}

// Which numbers are wanted; null: all of them.
function flags(count, wanted) {
  if (!wanted.length) return null;
  const found = new Uint8Array(count);
  wanted.forEach((one) => { found[one] = 1; });
  return found;
}

const defaultSort = (data, state) => (state.q ? "relevance" : data.objects ? "errors" : data.metrics.length ? "worst" : "order");

function sortBy(data, state, goal, context, found, ranks, order) {
  const kind = state.sort || defaultSort(data, state);
  const key = keyOf(kind, data, goal, context, found, ranks);
  if (!key) return order;
  const keys = new Float64Array(data.count);
  order.forEach((at) => { const value = key(at); keys[at] = Number.isNaN(value) ? Infinity : value; });
  return order.sort((one, other) => keys[one] - keys[other] || one - other);
}

// A number by which samples are sorted in ascending order.
function keyOf(kind, data, goal, context, found, ranks) {
  const metric = goal.metric >= 0 ? goal.metric : mainMetric(data);
  if (kind === "relevance") return ranks && ((at) => ranks[at]);
  if (kind === "id") {
    const names = Array.from({ length: data.count }, (_, at) => at);
    if (data.numeric) return (at) => data.ids[at];
    const rank = new Uint32Array(data.count);
    names.sort((one, other) => (data.ids[one] < data.ids[other] ? -1 : 1)).forEach((at, place) => { rank[at] = place; });
    return (at) => rank[at];
  }
  if (kind === "errors" && found.hits) {
    if (found.filtered) return (at) => -found.hits[at];
    return (at) => -goal.models.reduce((sum, model) => sum + (context.tally[model] ? errorsOf(context.tally[model], at) : 0), 0);
  }
  if (kind === "errors") return (at) => -goal.models.filter((model) => verdictOf(data, metric, model, at) === FAILED).length;
  if (kind === "difference") return (at) => -Math.abs(gainOf(data, context, at));
  if ((kind === "worst" || kind === "best") && metric >= 0) {
    const sign = (data.metrics[metric].better === "lower" ? -1 : 1) * (kind === "best" ? -1 : 1);
    return (at) => {
      let sum = 0;
      let count = 0;
      goal.models.forEach((model) => { const value = valueOf(data, metric, model, at); if (!Number.isNaN(value)) { sum += value; count += 1; } });
      return count ? (sign * sum) / count : NaN;
    };
  }
  return null;
}
