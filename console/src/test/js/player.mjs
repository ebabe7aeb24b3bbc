// What asciinema's player shows of a file at its end: the lines of the terminal, its size, and how long it took.
//
//   node player.mjs FILE
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.mjs";

const [file] = process.argv.slice(2);
const bundle = (name) =>
  fileURLToPath(new URL(`../../../node_modules/asciinema-player/dist/bundle/asciinema-player.${name}`, import.meta.url));
const browser = await launch();
try {
  const page = await browser.newPage();
  const wrong = [];
  page.on("pageerror", ({ message }) => wrong.push(message));
  await page.setContent("<div id=terminal></div>");
  await page.addStyleTag({ path: bundle("css") });
  await page.addScriptTag({ path: bundle("min.js") });
  const played = await page.evaluate(async (data) => {
    const place = document.getElementById("terminal");
    const player = AsciinemaPlayer.create({ data }, place, { speed: 100, preload: true, fit: false });
    await new Promise((resolve, reject) => {
      player.addEventListener("ended", resolve);
      player.play().catch(reject);
    });
    // What comes last is drawn with one of the next frames.
    for (let frame = 0; frame < 10; frame++) {
      await new Promise(requestAnimationFrame);
    }
    const { style } = place.querySelector(".ap-term");
    return {
      seconds: await player.getDuration(),
      columns: Number(style.getPropertyValue("--term-cols")),
      rows: Number(style.getPropertyValue("--term-rows")),
      lines: [...place.querySelectorAll(".ap-line")].map((line) => line.textContent.trimEnd()),
    };
  }, await readFile(file, "utf8"));
  console.log(JSON.stringify({ wrong, ...played }));
} finally {
  await browser.close();
}
