// Verifies bundles as the page does, without a browser: `node verify.mjs FILE…` prints a report as JSON for each.
// `node verify.mjs --flips N SEED FILE` turns N bits over, one at a time, and prints those that were not found.
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const made = await build({
  stdin: { contents: 'export { verify } from "./src/main/ts/core/verify";', resolveDir: process.cwd() },
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
});
const { verify } = await import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].contents).toString("base64")}`);

const report = (zip, keys) => verify(zip, keys, () => {}, () => {});

const words = process.argv.slice(2);
if (words[0] === "--flips") {
  const zip = new Uint8Array(readFileSync(words[3]));
  let seed = Number(words[2]);
  const below = (bound) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * bound);
  };
  for (let i = 0; i < Number(words[1]); i++) {
    const changed = zip.slice();
    const at = below(zip.length);
    changed[at] ^= 1 << below(8);
    const said = await report(changed, []);
    if (said.verdict !== "TAMPERED" || said.findings.length === 0) {
      console.log(JSON.stringify({ at, ...said }));
    }
  }
} else {
  const keys = words[0] === "--key" ? [readFileSync(words[1], "utf8").trim()] : [];
  for (const file of keys.length > 0 ? words.slice(2) : words) {
    console.log(JSON.stringify(await report(new Uint8Array(readFileSync(file)), keys)));
  }
}
