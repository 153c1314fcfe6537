// Counts of objects at a score threshold: a scan over columns, without an object of its own for any detection.
//
// Detections are matched by descending score, so what one is matched with does not depend on lower ones:
// at a threshold t those of at least t keep their outcome, and a ground truth is found if its detection has one.

const KINDS = ["tp", "classification", "localisation", "both", "duplicate", "background", "ignored", "fn"];
const KIND_WORDS = ["true positive", "classification", "localisation", "both", "duplicate", "background", "ignored", "false negative"];
const KIND_MEANINGS = {
  classification: "right place, wrong label", localisation: "right label, too little overlap", both: "wrong label and too little overlap",
  duplicate: "found before by a higher score", background: "nothing of any label is there", ignored: "counts neither for nor against",
};
const FN = 7;

// The ground truth that a detection is about, within its sample; -1 for none.
function aboutOf(one, at) {
  if (one.outcomes[at] === 0 && one.matched[at] !== one.matchedMissing) return one.matched[at];
  return one.nearest[at] === one.nearestMissing ? -1 : one.nearest[at];
}

// The right label of a detection whose label is wrong; -1 if it is not known.
function truthOf(one, sample, at) {
  const about = aboutOf(one, at);
  return about < 0 ? -1 : one.gtLabels[one.gtStart[sample] + about];
}

// What is counted of each model, over samples that pass.
function countObjects(one, wanted, pass, found) {
  const { threshold, kinds, labels, truth, predicted, least, below } = wanted;
  const paired = truth >= 0 || predicted >= 0;
  const sized = least > 0 || below < Infinity;
  const { hits, pairs } = found;
  const { scores, outcomes, labels: own, start, gtStart, gtLabels, gtFound, gtIgnored, gtSizes, sizes } = one;
  // An object that only one filter leaves out is counted beside that filter's values.
  const add = (sample, kind, label, right) => {
    const wrongKind = kinds !== null && kinds[kind] === 0 ? 1 : 0;
    const wrongLabel = labels !== null && labels[label] === 0 ? 1 : 0;
    const wrongPair = paired && (kind === FN || right < 0 || (truth >= 0 && right !== truth) || (predicted >= 0 && label !== predicted)) ? 1 : 0;
    const wrong = wrongKind + wrongLabel + wrongPair;
    if (wrong > 1) return;
    if (wrong === 0) { hits[sample] += 1; found.total += 1; }
    if (wrong === wrongKind) found.kinds[kind] += 1;
    if (wrong === wrongLabel) found.labels[label] += 1;
    if (wrong === wrongPair && kind === 1 && right >= 0) {
      const pair = right * found.labels.length + label;
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
    }
  };
  for (let sample = 0; sample + 1 < gtStart.length; sample += 1) {
    if (pass[sample] === 0) continue;
    for (let at = start[sample]; at < start[sample + 1]; at += 1) {
      if (scores[at] < threshold) break; // those of a sample are in descending order
      if (sized && (sizes[at] < least || !(sizes[at] < below))) continue;
      const kind = outcomes[at];
      add(sample, kind, own[at], kind === 0 ? own[at] : kind === 1 ? truthOf(one, sample, at) : -1);
    }
    for (let at = gtStart[sample]; at < gtStart[sample + 1]; at += 1) {
      if (gtIgnored[at] || gtFound[at] >= threshold) continue;
      if (sized && (gtSizes[at] < least || !(gtSizes[at] < below))) continue;
      add(sample, FN, gtLabels[at], -1);
    }
  }
}

// Ground truths that one model finds and another does not, of those that a filter wants.
function countWon(one, other, wanted, pass, found) {
  const { threshold, labels, least, below } = wanted;
  for (let sample = 0; sample < one.gtStart.length - 1; sample += 1) {
    const first = other.gtStart[sample];
    if (!pass[sample] || one.gtStart[sample + 1] - one.gtStart[sample] !== other.gtStart[sample + 1] - first) continue;
    for (let at = one.gtStart[sample], their = first; at < one.gtStart[sample + 1]; at += 1, their += 1) {
      if (one.gtIgnored[at] || !(one.gtFound[at] >= threshold) || other.gtFound[their] >= threshold) continue;
      if (one.gtSizes[at] < least || !(one.gtSizes[at] < below)) continue;
      found.labels[one.gtLabels[at]] += 1;
      if (labels && !labels[one.gtLabels[at]]) continue;
      found.hits[sample] += 1;
      found.total += 1;
    }
  }
}

// By sample, the number of true positives, false positives and false negatives.
function tallies(one, threshold) {
  const count = one.gtStart.length - 1;
  const found = { tp: new Uint32Array(count), fp: new Uint32Array(count), fn: new Uint32Array(count) };
  for (let sample = 0; sample < count; sample += 1) {
    for (let at = one.start[sample]; at < one.start[sample + 1]; at += 1) {
      if (one.scores[at] < threshold) break;
      if (one.outcomes[at] === 0) found.tp[sample] += 1;
      else if (one.outcomes[at] < 6) found.fp[sample] += 1;
    }
    for (let at = one.gtStart[sample]; at < one.gtStart[sample + 1]; at += 1) {
      if (!one.gtIgnored[at] && !(one.gtFound[at] >= threshold)) found.fn[sample] += 1;
    }
  }
  return found;
}

// Ascending scores of true and of false positives, and the number of ground truths, of some labels.
function ranked(one, labels) {
  const tp = new Float64Array(one.scores.length);
  const fp = new Float64Array(one.scores.length);
  let right = 0;
  let wrong = 0;
  for (let at = 0; at < one.scores.length; at += 1) {
    if (labels && !labels[one.labels[at]]) continue;
    if (one.outcomes[at] === 0) { tp[right] = one.scores[at]; right += 1; } else if (one.outcomes[at] < 6) { fp[wrong] = one.scores[at]; wrong += 1; }
  }
  let positives = 0;
  for (let at = 0; at < one.gtLabels.length; at += 1) if (!one.gtIgnored[at] && (!labels || labels[one.gtLabels[at]])) positives += 1;
  return { tp: tp.subarray(0, right).sort(), fp: fp.subarray(0, wrong).sort(), positives };
}

// The number of ascending values that are at least `limit`.
function atLeast(values, limit) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < limit) low = middle + 1; else high = middle;
  }
  return values.length - low;
}

function measures(rank, threshold) {
  const tp = atLeast(rank.tp, threshold);
  const fp = atLeast(rank.fp, threshold);
  const fn = rank.positives - tp;
  return {
    tp, fp, fn,
    precision: tp + fp ? tp / (tp + fp) : NaN,
    recall: rank.positives ? tp / rank.positives : NaN,
    f1: tp + fp + rank.positives ? (2 * tp) / (tp + fp + rank.positives) : NaN,
  };
}

// The highest threshold with the best F1; it is the score of a true positive.
function bestThreshold(rank) {
  let best = { threshold: NaN, f1: -1 };
  let wrong = rank.fp.length;
  for (let at = rank.tp.length - 1; at >= 0; at -= 1) {
    const threshold = rank.tp[at];
    if (at > 0 && rank.tp[at - 1] === threshold) continue; // all of one score are in or out
    while (wrong > 0 && rank.fp[wrong - 1] >= threshold) wrong -= 1;
    const tp = rank.tp.length - at;
    const f1 = (2 * tp) / (tp + rank.fp.length - wrong + rank.positives);
    if (f1 > best.f1) best = { threshold, f1 };
  }
  return best;
}

// Counts in equal bins from 0 to `top`, by outcome: true positives, false positives, false negatives.
function histogram(bins, top, each) {
  const found = [new Uint32Array(bins), new Uint32Array(bins), new Uint32Array(bins)];
  each((side, value) => { found[side][Math.min(bins - 1, Math.max(0, Math.floor((value / top) * bins)))] += 1; });
  return found;
}
