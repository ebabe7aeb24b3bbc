// Makes the pages, each one HTML file that needs nothing else: `open.html` opens a bundle, for whose octets it has a
// place; `console.html` is served. The same sources and the same lock give the same octets, and a test holds the
// committed pages to that.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2] ?? "src/main/resources/blackbox/console";

async function bundled(entry) {
  const made = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    logLevel: "warning",
  });
  return made.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const style = await bundled("src/main/ts/page/style.css");
if (style.includes("</style")) {
  throw new Error("the pages' style cannot stand in a page");
}

const libraries = Object.keys(JSON.parse(readFileSync("package.json", "utf8")).dependencies);
const notices = libraries.map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  const license = readFileSync(`node_modules/${name}/LICENSE`, "utf8").replaceAll("--", "- -").trim();
  return `${name} ${version}\n${license}`;
});

/**
 * A page of one program. A changed program or style does not run: then the words in the body stay.
 *
 * @param connect what the program may ask
 */
async function page(entry, { title, words, connect, carries }) {
  const script = await bundled(entry);
  if (script.includes("</script") || script.includes("<!--")) {
    throw new Error(`the program of ${entry} cannot stand in a page`);
  }
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)} blob:`,
    "worker-src blob:",
    `connect-src ${connect}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<!-- Contains these libraries:

${notices.join("\n\n")}
-->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<p>${words}</p>
${carries ? '<script type="application/zip" id="bundle"></script>\n' : ""}<script>${script}</script>
</body>
</html>
`;
}

mkdirSync(out, { recursive: true });
writeFileSync(
  `${out}/open.html`,
  await page("src/main/ts/page/main.ts", {
    title: "NOT VERIFIED - Blackbox evidence",
    words: "NOT VERIFIED: the program in this page did not run. Either scripts are turned off, or the page was changed.",
    connect: "'none'",
    carries: true,
  }),
);
writeFileSync(
  `${out}/console.html`,
  await page("src/main/ts/console/main.ts", {
    title: "Blackbox",
    words: "The console needs scripts, which are turned off, or its program was changed.",
    connect: "'self'",
    carries: false,
  }),
);
