// Columns of the page, from its own JSON or from files beside it, decoded when they are asked for.

const FOLDER = "report_files/";
const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };

const received = new Map();
const requested = new Map();

// What a file beside the page calls with its content; pages from disk cannot fetch.
window.valorExplorer = (content) => { received.set(document.currentScript.dataset.name, content); };

function loadFile(name) {
  if (!requested.has(name)) {
    requested.set(name, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.dataset.name = name;
      script.src = FOLDER + name;
      script.addEventListener("load", () => { script.remove(); resolve(received.get(name)); });
      script.addEventListener("error", () => {
        script.remove();
        reject(new Error(`${FOLDER}${name} is missing: keep the folder ${FOLDER} beside this page`));
      });
      document.head.append(script);
    }));
  }
  return requested.get(name);
}

async function unpacked(text, deflated) {
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  if (!deflated) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A table of columns; `name` tells its columns from those of others in files.
function columnTable(name, entries) {
  const bytes = new Map();
  const raw = async (index) => {
    const entry = entries[index];
    const held = entry.d ?? (await loadFile(entry.f))[name + index];
    return entry.t === "plain" ? held : unpacked(held, entry.z);
  };
  const read = (index) => {
    if (!bytes.has(index)) bytes.set(index, raw(index));
    return bytes.get(index);
  };
  const codes = async (index) => {
    const found = await read(index);
    return new ARRAYS[entries[index].t](found.buffer, found.byteOffset, entries[index].n);
  };
  return {
    plain: read,
    json: async (index) => JSON.parse(new TextDecoder().decode(await read(index))),
    // Integers from 0; those that are missing are the largest of their type.
    codes,
    missing: (index) => entries[index].m,
    // Numbers; those that are missing are NaN.
    numbers: async (index, Type = Float64Array) => {
      const found = await codes(index);
      const { s: scale, m: missing } = entries[index];
      if (!scale) return found;
      const values = new Type(found.length);
      for (let at = 0; at < found.length; at += 1) values[at] = found[at] === missing ? NaN : found[at] / scale;
      return values;
    },
  };
}

// The place of each sample's first object, from how many each has.
function starts(counts) {
  const found = new Uint32Array(counts.length + 1);
  for (let at = 0; at < counts.length; at += 1) found[at + 1] = found[at] + counts[at];
  return found;
}

async function readSamples(source, table) {
  const given = (index, read) => (index === null || index === undefined ? null : read(index));
  const models = async (list) => Promise.all(list.map(async (one) => one && {
    limit: one.limit,
    values: await given(one.values, table.numbers),
    status: await given(one.status, table.codes),
  }));
  const pairs = source.pairs && {
    ...source.pairs,
    models: await Promise.all(source.pairs.models.map(async (one) => one && {
      truth: await table.codes(one.truth), truthMissing: table.missing(one.truth),
      predicted: await table.codes(one.predicted), predictedMissing: table.missing(one.predicted),
    })),
  };
  const slices = source.slices && await Promise.all(source.slices.map(async (one) => ({ ...one, models: await Promise.all(one.models.map((index) => given(index, table.codes))) })));
  const numeric = source.blobs[source.ids].t !== "json";
  return {
    ...source,
    table,
    numeric,
    ids: await (numeric ? table.codes : table.json)(source.ids),
    files: await given(source.files, table.json),
    titles: await given(source.titles, table.json),
    sizes: await given(source.sizes, table.codes),
    originals: await given(source.originals, table.codes),
    originalMissing: source.originals === null ? 0 : table.missing(source.originals),
    metrics: await Promise.all(source.metrics.map(async (metric) => describeMetric({ ...metric, models: await models(metric.models) }))),
    pairs,
    slices,
    objects: null,
  };
}

// Whether a metric is a mere yes or no, and whether samples pass or fail it.
function describeMetric(metric) {
  const columns = metric.models.filter((one) => one && one.values).map((one) => one.values);
  const seen = [0, 1].filter((side) => columns.some((values) => values.includes(side)));
  const binary = (metric.passes || seen.length === 2) && columns.every((values) => values.every((value) => value === 0 || value === 1 || Number.isNaN(value)));
  return { ...metric, binary, judged: metric.models.some((one) => one && one.limit !== null) };
}

async function readObjects(source, table) {
  if (!source.objects) return null;
  const models = await Promise.all(source.objects.models.map(async (one, model) => {
    if (!one) return null;
    const found = {
      parameters: one.parameters,
      gtStart: starts(await table.codes(one.gt_counts)),
      gtLabels: await table.codes(one.gt_labels),
      gtIgnored: await table.codes(one.gt_ignored),
      gtBoxes: await table.numbers(one.gt_boxes, Float32Array),
      gtIds: one.gt_ids === null ? null : await table.numbers(one.gt_ids),
      start: starts(await table.codes(one.counts)),
      labels: await table.codes(one.labels),
      scores: await table.numbers(one.scores),
      outcomes: await table.codes(one.outcomes),
      matched: await table.codes(one.matched), matchedMissing: table.missing(one.matched),
      nearest: await table.codes(one.nearest), nearestMissing: table.missing(one.nearest),
      ious: await table.numbers(one.ious, Float32Array),
      boxes: null,
      sizes: null,
      shapes: null,
    };
    found.gtSizes = sizesOf(found.gtBoxes);
    found.gtFound = foundScores(found);
    found.loadBoxes = async () => {
      if (!found.boxes) {
        found.boxes = await table.numbers(one.boxes, Float32Array);
        found.sizes = sizesOf(found.boxes);
      }
    };
    found.loadShapes = async () => {
      if (!found.shapes && source.shapes && source.shapes[model]) found.shapes = { gt: await readShapes(source.shapes[model].gt, table), found: await readShapes(source.shapes[model].found, table) };
    };
    return found;
  }));
  return { outcomes: source.objects.outcomes, labels: source.objects.labels, names: source.objects.names, models };
}

// Rings of objects: those of an object follow each other, as the points of a ring do.
const readShapes = async (one, table) => ({ first: starts(await table.codes(one.rings)), start: starts(await table.codes(one.points)), xy: await table.numbers(one.xy) });

function ringsOf(shapes, place) {
  const found = [];
  for (let ring = shapes.first[place]; ring < shapes.first[place + 1]; ring += 1) found.push(shapes.xy.subarray(2 * shapes.start[ring], 2 * shapes.start[ring + 1]));
  return found;
}

// The size of a box in pixels: the square root of its area.
function sizesOf(boxes) {
  const found = new Float32Array(boxes.length / 4);
  for (let at = 0; at < found.length; at += 1) found[at] = Math.sqrt(boxes[4 * at + 2] * boxes[4 * at + 3]);
  return found;
}

// Of each ground truth the score of the detection that found it; -1 without one.
function foundScores(one) {
  const found = new Float64Array(one.gtLabels.length).fill(-1);
  for (let sample = 0; sample + 1 < one.start.length; sample += 1) {
    for (let at = one.start[sample]; at < one.start[sample + 1]; at += 1) {
      if (one.outcomes[at] === 0 && one.matched[at] !== one.matchedMissing) found[one.gtStart[sample] + one.matched[at]] = one.scores[at];
    }
  }
  return found;
}

const idOf = (data, at) => String(data.ids[at]);
const anchorOf = (data, at) => `sample-${encodeURIComponent(data.ids[at])}`;
