// Makes the page that opens a bundle: one HTML file that needs nothing else, with a place for a bundle's octets. The
// same sources and the same lock give the same octets; `EvidencePageTest` holds the committed page to that.
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

const script = await bundled("src/main/ts/page/main.ts");
const style = await bundled("src/main/ts/page/style.css");
if (script.includes("</script") || script.includes("<!--") || style.includes("</style")) {
  throw new Error("the page's program cannot stand in a page");
}
// A changed program or style does not run: then the words in the body stay.
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} blob:`,
  "worker-src blob:",
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const libraries = Object.keys(JSON.parse(readFileSync("package.json", "utf8")).dependencies);
const notices = libraries.map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  const license = readFileSync(`node_modules/${name}/LICENSE`, "utf8").replaceAll("--", "- -").trim();
  return `${name} ${version}\n${license}`;
});
const page = `<!DOCTYPE html>
<!-- Contains these libraries:

${notices.join("\n\n")}
-->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>NOT VERIFIED - Blackbox evidence</title>
<style>${style}</style>
</head>
<body>
<p>NOT VERIFIED: the program in this page did not run. Either scripts are turned off, or the page was changed.</p>
<script type="application/zip" id="bundle"></script>
<script>${script}</script>
</body>
</html>
`;
mkdirSync(out, { recursive: true });
writeFileSync(`${out}/open.html`, page);
