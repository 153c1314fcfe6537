// The packages of package-lock.json in; valor_cli/reports/page/vendor out: script, style, licence, record.
// Run by `make vendor`. Same packages, same bytes.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const here = (path) => new URL(path, import.meta.url);
const target = here("../../valor_cli/reports/page/vendor/");
const about = JSON.parse(readFileSync(here("node_modules/uplot/package.json"), "utf8"));
const banner = `/*! ${about.name} ${about.version}, ${about.license} licence: see uplot.LICENSE */`;

const made = async (input, options) => {
  const { outputFiles } = await build({
    ...input,
    ...options,
    bundle: true,
    write: false,
    minify: true,
    legalComments: "none",
    charset: "ascii",
    target: "es2022",
  });
  return outputFiles[0].text;
};

const stdin = { contents: 'import uPlot from "uplot";\nglobalThis.uPlot = uPlot;', resolveDir: here(".").pathname };
const files = {
  "uplot.min.js": await made({ stdin }, { format: "iife", banner: { js: banner } }),
  "uplot.min.css": await made({ entryPoints: [here("node_modules/uplot/dist/uPlot.min.css").pathname] }, { banner: { css: banner } }),
  "uplot.LICENSE": readFileSync(here("node_modules/uplot/LICENSE"), "utf8"),
};
mkdirSync(target, { recursive: true });
const record = { name: about.name, version: about.version, licence: about.license, sha256: {} };
for (const [name, text] of Object.entries(files)) {
  writeFileSync(new URL(name, target), text);
  record.sha256[name] = createHash("sha256").update(text).digest("hex");
}
writeFileSync(new URL("vendored.json", target), `${JSON.stringify(record, null, 2)}\n`);
