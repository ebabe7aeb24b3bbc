// Opens pages in Chromium with the network off and prints what they show, as JSON, one line each.
//
// `node browser.mjs open FILE…` prints each page's verdict.
// `node browser.mjs walk FILE KEY OUT` uses the page as people do, prints what it found, and leaves pictures in OUT.
import { readFileSync } from "node:fs";
import { axe, launch } from "./chromium.mjs";

const VERDICT_MS = 120_000;
const [action, ...words] = process.argv.slice(2);
const browser = await launch();

async function open(file, hash = "", scheme = "light") {
  const context = await browser.newContext({ offline: true, colorScheme: scheme, viewport: { width: 1280, height: 1000 } });
  const page = await context.newPage();
  page.setDefaultTimeout(VERDICT_MS);
  const errors = [];
  page.on("console", (message) => errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|blob|data):/.test(request.url())) {
      errors.push(`asks for ${request.url()}`);
    }
  });
  await page.goto(`file://${file}${hash}`);
  await settled(page);
  return { page, context, errors };
}

/** A page whose program does not run keeps its words and has no badge. */
async function settled(page) {
  await page.waitForFunction(
    () => {
      const badge = document.querySelector(".badge");
      return badge ? !/Checking|^…$/.test(badge.textContent) : document.readyState === "complete";
    },
    null,
    { timeout: VERDICT_MS },
  );
}

/** Rows have their texts a moment after they are there. */
async function filled(page) {
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll(".rows .row")];
    return rows.length > 0 && rows.every((row) => row.firstChild.textContent !== "…");
  });
}

async function shown(page) {
  return page.evaluate(() => ({
    title: document.title,
    badge: document.querySelector(".badge")?.textContent ?? null,
    verdict: document.querySelector(".badge")?.dataset.verdict ?? null,
    text: document.body.innerText.slice(0, 4000),
    findings: [...document.querySelectorAll(".findings li")].map((each) => each.textContent),
    rows: document.querySelectorAll(".rows .row").length,
  }));
}

async function walk(file, key, out) {
  const said = {};
  for (const scheme of ["light", "dark"]) {
    const { page, context, errors } = await open(file, "#event=5", scheme);
    await page.waitForSelector(".details table");
    said[`axe ${scheme}`] = await axe(page);
    await page.screenshot({ path: `${out}/evidence-${scheme}.png`, fullPage: true });
    said[`errors ${scheme}`] = errors;
    await context.close();
  }
  const { page, errors } = await open(file);
  const selected = () => page.locator('.rows .row[aria-selected="true"] > div').first().textContent();
  const address = () => page.evaluate(() => location.hash);
  // By keys alone: the list, its end and its beginning, the filter, and back.
  await page.locator(".events").focus();
  await page.keyboard.press("End");
  said.end = await selected();
  said.endAddress = await address();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  said.second = await selected();
  await page.keyboard.press("/");
  await page.keyboard.type("shadow");
  await page.waitForFunction(() => /^\d+ events$/.test(document.querySelector("output").textContent));
  await page.waitForFunction(() => document.querySelectorAll(".rows .row").length < 10);
  await filled(page);
  said.filtered = await page.locator(".rows .row").allInnerTexts();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Home");
  await page.waitForFunction(() => /event=\d+/.test(location.hash) && /text=shadow/.test(location.hash));
  said.address = await address();
  await page.waitForSelector(".details table");
  said.details = await page.locator(".details").innerText();
  // The address is the state.
  const again = await open(file, said.address);
  await again.page.waitForSelector(".details table");
  said.again = await again.page.locator(".details").innerText();
  await filled(again.page);
  said.againFiltered = await again.page.locator(".rows .row").allInnerTexts();
  // The timeline, by keys and by the pointer.
  const spoken = () => page.locator(".span").textContent();
  await page.waitForFunction(() => /^\d+ events/.test(document.querySelector(".span").textContent));
  said.timeline = await spoken();
  await page.locator(".timeline summary").click();
  await page.waitForSelector(".timeline td");
  said.numbers = (await page.locator(".timeline td").allInnerTexts()).map(Number);
  said.lanes = await page.locator(".timeline tbody th").allInnerTexts();
  await page.locator("canvas").focus();
  await page.keyboard.press("+");
  await page.waitForFunction((before) => document.querySelector(".span").textContent !== before, said.timeline);
  said.zoomed = await address();
  await page.keyboard.press("0");
  await page.waitForFunction((before) => document.querySelector(".span").textContent === before, said.timeline);
  const box = await page.locator("canvas").boundingBox();
  await page.mouse.click(box.x + box.width - 1, box.y + 10);
  await page.waitForFunction(() => !location.hash.includes("span="));
  await page.waitForFunction((shown) => document.querySelector(".details h2").textContent !== shown, said.details.split("\n")[0]);
  said.clicked = await page.locator(".details h2").textContent();
  // The other lists, by keys: a tab, a process, its events, and all again.
  said.lists = {};
  const listed = async (of = page) => {
    await filled(of);
    return of.locator(".rows .row").allInnerTexts();
  };
  for (const [key, view] of ["processes", "files", "network"].entries()) {
    await page.locator(".list").focus();
    await page.keyboard.press(String(key + 2));
    await page.waitForFunction((name) => document.querySelector(`.list.${name} .rows .row`) && !document.querySelector(".rows").innerText.includes("…\n"), view);
    said.lists[view] = await listed();
    said[`axe ${view}`] = await axe(page);
    await page.screenshot({ path: `${out}/evidence-${view}.png`, fullPage: true });
  }
  await page.locator(".map").waitFor();
  await page.getByRole("tab", { name: "Network" }).press("ArrowLeft");
  await page.getByRole("button", { name: "written" }).press("Enter");
  await page.waitForFunction(() => location.hash.includes("sort=-3"));
  await page.waitForFunction(() => document.querySelector(".files .rows .row").innerText.includes("1,000"));
  said.sorted = await listed();
  const sorted = await open(file, await address());
  await sorted.page.waitForSelector(".files .rows .row");
  said.sortedAgain = await listed(sorted.page);
  await page.getByRole("tab", { name: "Files" }).press("ArrowLeft");
  await page.waitForSelector(".processes .rows .row");
  await page.locator(".list").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  const process = page.getByRole("button", { name: /^Events of process/ });
  await process.waitFor();
  said.process = await process.textContent();
  await process.press("Enter");
  await page.waitForFunction(() => location.hash.includes("only=process"));
  await page.waitForFunction(() => /^\d+ events$/.test(document.querySelector("output").textContent));
  said.ofProcess = await listed();
  const only = await open(file, await address());
  await only.page.waitForFunction(() => /^\d+ events$/.test(document.querySelector("output").textContent));
  said.ofProcessAgain = await listed(only.page);
  // A mark and its note are in the address.
  await page.locator(".list").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("m");
  await page.keyboard.type("here it begins");
  await page.waitForFunction(() => /mark=\d+\+here/.test(location.hash));
  const marked = await open(file, await address());
  said.marks = await marked.page.locator(".notebook input").evaluateAll((all) => all.map((each) => each.value));
  said["axe marked"] = await axe(marked.page);
  await page.getByRole("button", { name: "Show its inclusion proof" }).click();
  said.root = await page.locator(".root").textContent();
  // With the recorder's key.
  await page.locator(".trust summary").click();
  await page.locator("#keys").fill(readFileSync(key, "utf8").trim());
  await page.getByRole("button", { name: "Verify with these keys" }).click();
  await page.waitForFunction(() => document.querySelector(".badge").textContent === "VERIFIED", null, { timeout: VERDICT_MS });
  said.trusted = await shown(page);
  await page.locator("#keys").fill("somebody+00000000+AZ93JM5XI9Led5TdMb5iURUyVgfb6Zp6qRWYUJIVDxHE");
  await page.getByRole("button", { name: "Verify with these keys" }).click();
  said.notAKey = { ...(await shown(page)), faults: await page.locator(".faults").innerText() };
  said.errors = [errors, again.errors, sorted.errors, only.errors, marked.errors].flat();
  return said;
}

try {
  if (action === "open") {
    for (const file of words) {
      const { page, context, errors } = await open(file);
      console.log(JSON.stringify({ ...(await shown(page)), errors }));
      await context.close();
    }
  } else {
    console.log(JSON.stringify(await walk(...words)));
  }
} finally {
  await browser.close();
}
