// What speedscope makes of a file: each of its timelines with the names in it, and what its importer found wrong.
//
//   node speedscope.mjs FILE
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { launch } from "./chromium.mjs";

const NUMBER = / \(\d+\/(\d+)\)$/;

const [file] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "speedscope-"));
const browser = await launch();
try {
  const octets = (await readFile(file)).toString("base64");
  const script = join(folder, "file.js");
  await writeFile(script, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, "${octets}")`);
  const page = await browser.newPage();
  const wrong = [];
  page.on("pageerror", ({ message }) => wrong.push(message));
  page.on("console", (line) => {
    if (/ts=|rror/.test(line.text())) {
      wrong.push(line.text());
    }
  });
  page.on("dialog", async (dialog) => {
    wrong.push(dialog.message());
    await dialog.dismiss();
  });
  const viewer = new URL("../../../node_modules/speedscope/dist/release/index.html", import.meta.url);
  const imported = page.waitForEvent("console", (line) => line.text().startsWith("import:"));
  await page.goto(`${viewer}#localProfilePath=${script}`);
  await imported;
  await page.keyboard.press("3"); // the table of names
  await page.waitForFunction(() => document.body.innerText.includes("Symbol Name"));
  // The second line is the file's or the timeline's, with its number if there are several.
  const title = async () => (await page.innerText("body")).split("\n")[1];
  const count = Number(NUMBER.exec(await title())?.[1] ?? 1);
  const timelines = [];
  for (let number = 1; number <= count; number++) {
    if (count > 1) {
      await page.waitForFunction((part) => document.body.innerText.includes(part), `(${number}/${count})`);
    }
    const names = await page.$$eval("tr", (rows) =>
      rows
        .map(({ children }) => [...children].map(({ innerText }) => innerText))
        .filter(([total]) => total.endsWith("%)")) // not the list of timelines
        .map(([, , name]) => name.trim().replace(/\s+/g, " ")),
    );
    timelines.push({ title: (await title()).replace(NUMBER, ""), names });
    await page.keyboard.press("n");
  }
  console.log(JSON.stringify({ wrong, timelines }));
} finally {
  await browser.close();
  await rm(folder, { recursive: true });
}
