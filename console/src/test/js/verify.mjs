// Verifies bundles as the page does, without a browser: `node verify.mjs FILE…` prints a report as JSON for each, with
// the SHA-256 of all that the page would show of the events (`shown`).
// `node verify.mjs --views FILE` prints what the page lists of a bundle's processes, files and peers, and each event's proof.
// `node verify.mjs --note FILE KEY` prints whether the key in one file signed the note in the other.
// `node verify.mjs --flips N SEED FILE` turns N bits over, one at a time, and prints those that were not found.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const made = await build({
  stdin: {
    contents: `
      export { Key, Note } from "./src/main/ts/core/note";
      export { verify } from "./src/main/ts/core/verify";
      export { Events } from "./src/main/ts/page/events";
      export { Summary } from "./src/main/ts/page/lists/summary";`,
    resolveDir: process.cwd(),
  },
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
});
const { Events, Key, Note, Summary, verify } = await import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].contents).toString("base64")}`);

/** Each proof needs hundreds of leaves again. */
const PROVEN_MAX = 1_000;

async function verified(zip, keys) {
  const events = new Events();
  const said = await verify(zip, keys, null, () => {}, (rows, tree) => events.add(rows, tree));
  events.cut(said.events, said.root);
  return { events, said };
}

async function views(zip) {
  const { events, said } = await verified(zip, []);
  events.facts();
  const begun = performance.now();
  const summary = new Summary(events);
  const ms = performance.now() - begun;
  const rows = (list) => Array.from({ length: list.count }, (_, at) => list.row(at));
  const proofs = Array.from({ length: events.count <= PROVEN_MAX ? events.count : 0 }, (_, index) => ({ leafHash: events.details(index).leafHash, ...events.proof(index) }));
  const lists = Object.fromEntries(["processes", "files", "network"].map((view) => [view, rows(summary.of(view))]));
  return { verdict: said.verdict, ms, ...lists, edges: summary.edges, proofs };
}

async function report(zip, keys) {
  const { events, said } = await verified(zip, keys);
  const shown = createHash("sha256").update(JSON.stringify(events.facts(), (_, value) => (typeof value === "bigint" ? String(value) : value)));
  for (let index = 0; index < events.count; index++) {
    shown.update(JSON.stringify([events.row(index), events.details(index)]));
  }
  return { ...said, shown: shown.digest("hex") };
}

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
} else if (words[0] === "--views") {
  console.log(JSON.stringify(await views(new Uint8Array(readFileSync(words[1])))));
} else if (words[0] === "--note") {
  const key = Key.parse(readFileSync(words[2], "utf8"));
  console.log(JSON.stringify(await Note.parse(readFileSync(words[1])).isSignedBy([key])));
} else {
  const keys = words[0] === "--key" ? [readFileSync(words[1], "utf8").trim()] : [];
  for (const file of keys.length > 0 ? words.slice(2) : words) {
    console.log(JSON.stringify(await report(new Uint8Array(readFileSync(file)), keys)));
  }
}
