// Uses the console in Chromium.
//
// `node console.mjs walk URL TOKEN RUN OUT` goes through it as people do, prints what it found as JSON, and leaves
// pictures in OUT.
// `node console.mjs unfold URL TOKEN RUN OUT` looks at what a run printed and at its replays, and prints what is there.
// `node console.mjs access URL TOKEN RUN OUT` looks at who asked what, about that run and at all.
// `node console.mjs login URL WHO RUN OUT` logs in by the provider of provider.mjs.
// `node console.mjs land URL TOKEN RUN OUT` lands in a run, asks there, leaves, and replays it.
// `node console.mjs follow URL TOKEN RUN CUTS` watches a run that is being recorded. It prints `cut` each time that it
// has cut the connection, and goes on once it reads a line; at last it prints what it had shown, as JSON.
import { connect, createServer } from "node:net";
import { createInterface } from "node:readline";
import { axe, launch } from "./chromium.mjs";

const WAIT_MS = 100_000;
const [action, url, token, run, last] = process.argv.slice(2);
const browser = await launch();

async function tab(scheme = "light") {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1280, height: 1000 } });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const errors = [];
  const asked = [];
  const thrown = []; // by the page's program, apart from what the browser says of the network
  page.on("console", (message) => errors.push(message.text()));
  page.on("pageerror", (error) => {
    errors.push(error.message);
    thrown.push(error.message);
  });
  page.on("request", (request) => asked.push(request.url()));
  return { page, context, errors, asked, thrown };
}

async function enter(page, address, words = token) {
  await page.goto(address);
  await page.locator("#token").fill(words);
  await page.keyboard.press("Enter");
}

const verified = (page) => page.waitForFunction(() => /VERIFIED|TAMPERED/.test(document.querySelector(".badge")?.textContent ?? ""));

async function walk() {
  const said = { axe: {} };
  for (const scheme of ["light", "dark"]) {
    const { page, context } = await tab(scheme);
    await page.goto(`${url}/console`);
    said.axe[`token ${scheme}`] = await axe(page);
    await enter(page, `${url}/console`);
    await page.waitForSelector(".runs tbody tr");
    said.axe[`runs ${scheme}`] = await axe(page);
    await page.screenshot({ path: `${last}/console-runs-${scheme}.png` });
    await page.goto(`${url}/console#/run/${run}?event=3`);
    await verified(page);
    await page.waitForSelector(".details table");
    await page.waitForSelector(".touched h2");
    said.axe[`run ${scheme}`] = await axe(page);
    await page.screenshot({ path: `${last}/console-run-${scheme}.png`, fullPage: true });
    await context.close();
  }
  const { page, errors, asked, context } = await tab();
  await enter(page, `${url}/console`, "not a token");
  await page.waitForFunction(() => document.querySelector(".faults")?.textContent !== "");
  said.refused = await page.locator(".faults").textContent();
  errors.length = 0; // the browser notes a 401 by itself
  await page.locator("#token").fill(token);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".runs tbody tr");
  said.runs = await page.locator(".runs tbody th").allInnerTexts();
  await page.keyboard.press("/");
  await page.keyboard.type(run.slice(-6));
  await page.waitForFunction(() => document.querySelectorAll(".runs tbody tr").length === 1);
  said.search = await page.evaluate(() => location.hash);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await verified(page);
  said.badge = await page.locator(".badge").textContent();
  await page.waitForSelector(".touched h2");
  said.touched = await page.locator(".touched").innerText();
  // What it printed and its replays are fetched when they are unfolded, which the address keeps.
  await page.locator("summary", { hasText: "What it printed" }).press("Enter");
  await page.locator("summary", { hasText: "Replays" }).press("Enter");
  await page.waitForFunction(() => /open=printed&open=replays/.test(location.hash));
  await page.waitForFunction(() => !/Fetching/.test(document.querySelector("main").innerText));
  said.printed = await page.locator("details", { has: page.locator(".screen") }).innerText();
  said.replays = await page.locator("details", { hasText: "blackbox replay" }).last().innerText();
  said.axe["unfolded light"] = await axe(page);
  await page.locator("summary", { hasText: "What it printed" }).press("Enter");
  await page.locator("summary", { hasText: "Replays" }).press("Enter");
  await page.waitForFunction(() => !location.hash.includes("open="));
  await page.keyboard.press("4");
  await page.waitForFunction(() => document.querySelector(".network .rows .row")?.innerText.includes("tcp"));
  said.network = await page
    .locator(".network .rows .row")
    .evaluateAll((rows) => rows.map((row) => [...row.children].slice(0, 6).map((cell) => cell.textContent)));
  said.contacts = await page.evaluate(
    async ([of, words]) => (await (await fetch(`/api/v1/runs/${of}/touched?part=privileges`, { headers: { Authorization: `Bearer ${words}` } })).json()).brief.network,
    [run, token],
  );
  await page.keyboard.press("1");
  await page.locator(".events").focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => /event=\d+/.test(location.hash));
  await page.waitForSelector(".details table");
  said.address = await page.evaluate(() => location.hash);
  said.details = await page.locator(".details").innerText();
  // The same tab, from the address alone.
  await page.reload();
  await verified(page);
  await page.waitForSelector(".details table");
  said.again = await page.locator(".details").innerText();
  // SQL, by keys; a mistake is said, and the query is in the address.
  await page.getByRole("link", { name: "SQL" }).press("Enter");
  await page.getByText("Tables and columns").press("Enter");
  await page.waitForFunction(() => document.querySelector("details").innerText.includes("at_ns"));
  await page.locator("#select").fill("select nothing from events");
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction(() => /nothing/.test(document.querySelector("section [role=status]").textContent));
  said.mistake = await page.locator("section [role=status]").textContent();
  errors.length = 0; // the browser notes a 400 by itself
  said.examples = [];
  const examples = await page.locator("#example option").evaluateAll((all) => all.map((each) => each.value).filter((each) => each !== ""));
  for (const example of examples) {
    await page.locator("#example").selectOption(example);
    await page.keyboard.press("Control+Enter");
    await page.waitForFunction(() => !/Asking/.test(document.querySelector("section [role=status]").textContent));
    said.examples.push(await page.locator("section [role=status]").textContent());
  }
  await page.locator("#select").fill(`select run, at_ns, "index", path from events where run = '${run}' and path = '/etc/shadow' order by "index"`);
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".result tbody tr");
  await page.waitForFunction(() => document.querySelector(".result thead").innerText.includes("path"));
  said.rows = await page.locator(".result tbody tr").allInnerTexts();
  said.axe["sql light"] = await axe(page);
  await page.screenshot({ path: `${last}/console-sql.png` });
  said.select = await page.evaluate(() => location.hash);
  await page.locator(".result tbody a").nth(1).press("Enter");
  await verified(page);
  await page.waitForSelector(".details table");
  said.reached = await page.locator(".details").innerText();
  said.errors = errors;
  said.asked = asked;
  said.cookies = await context.cookies();
  said.kept = await page.evaluate(() => ({ local: localStorage.length, session: sessionStorage.length }));
  await page.getByRole("button", { name: "Forget the token" }).click();
  said.forgotten = await page.evaluate(() => sessionStorage.length);
  // Another site's frame.
  said.framed = {};
  for (const path of ["/health", "/console"]) {
    const framed = await tab();
    const answered = framed.page.waitForResponse((response) => response.url() === url + path);
    await framed.page.setContent(`<iframe src="${url}${path}"></iframe>`);
    await answered;
    await framed.page.waitForLoadState("load");
    said.framed[path] = await framed.page.frames()[1].evaluate(() => document.body?.innerText ?? "").catch(() => "");
    await framed.context.close();
  }
  return said;
}

/** Who looked, as it was sealed. */
async function access() {
  const { page, thrown } = await tab();
  await enter(page, `${url}/console#/run/${run}`);
  await page.getByRole("link", { name: "Who asked about it" }).press("Enter");
  await page.waitForSelector(".runs tbody tr");
  const said = { errors: thrown, axe: await axe(page) };
  said.about = await page.locator(".runs tbody tr").allInnerTexts();
  await page.screenshot({ path: `${last}/console-access.png` });
  await page.getByRole("link", { name: "All requests" }).press("Enter");
  await page.waitForFunction((before) => document.querySelectorAll(".runs tbody tr").length > before, said.about.length);
  said.all = await page.locator(".runs tbody tr").allInnerTexts();
  await page.locator("#search").fill("openapi");
  await page.waitForFunction(() => /search=openapi/.test(location.hash));
  said.found = await page.locator(".runs tbody tr").allInnerTexts();
  return said;
}

/** As people log in: from a link to a run, by the provider's forms, and out again. `token` is who, `run` is the run. */
async function login() {
  const { page, thrown, asked, context } = await tab();
  const said = {};
  await page.goto(`${url}/console#/run/${run}?event=1`);
  await page.getByRole("button", { name: /^Log in with/ }).click();
  await page.locator("[name=login]").fill(token);
  await page.locator("[name=password]").fill("any");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL((address) => address.href.startsWith(`${url}/console`) && address.search === "");
  await page.waitForFunction(() => document.querySelector(".badge") || document.querySelector(".faults")?.textContent);
  said.address = page.url();
  said.faults = await page.locator(".faults").first().textContent();
  said.kept = await page.evaluate(() => Object.keys(sessionStorage));
  const words = await page.evaluate(() => sessionStorage.getItem("blackbox.token"));
  said.token = words;
  if (words !== null) {
    await page.waitForSelector(".touched h2");
    said.badge = await page.locator(".badge").textContent();
    const gone = page.waitForResponse((response) => response.url().endsWith("/logout"));
    await page.getByRole("button", { name: "Forget the token" }).click();
    said.ended = (await gone).status();
    said.after = await page.evaluate(async (given) => (await fetch("/api/v1/runs", { headers: { Authorization: `Bearer ${given}` } })).status, words);
    // What the provider gave is of no use in another tab, nor twice.
    const back = asked.find((each) => each.startsWith(`${url}/console?`));
    const other = await tab();
    await other.page.goto(back);
    await other.page.waitForFunction(() => document.querySelector(".faults")?.textContent);
    said.stolen = await other.page.locator(".faults").textContent();
    said.stolenAddress = other.page.url();
    said.replayed = await page.evaluate(
      async (code) => (await fetch("/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code, verifier: "x".repeat(43), nonce: "y" }) })).status,
      new URL(back).searchParams.get("code"),
    );
  }
  said.errors = thrown; // the provider's pages have their own to say of what cannot be had here
  said.cookies = (await context.cookies(url)).map(({ name }) => name).filter((name) => !name.startsWith("_"));
  return said;
}

async function unfold() {
  const { page, errors } = await tab();
  await enter(page, `${url}/console#/run/${run}?open=printed&open=replays`);
  await verified(page);
  await page.waitForFunction(() => document.querySelector(".screen")?.textContent && document.querySelector(".sides"));
  const said = { errors, axe: await axe(page) };
  said.printed = await page.locator(".screen").textContent();
  said.stderr = await page.locator(".screen .stderr").textContent();
  said.replays = await page.locator(".verdict").innerText();
  await page.getByLabel("Shown up to").focus();
  await page.keyboard.press("Home");
  said.first = await page.locator(".screen").textContent();
  await page.getByLabel("Speed").selectOption("16");
  await page.getByRole("button", { name: "Play", exact: true }).press("Enter");
  await page.waitForFunction((whole) => document.querySelector(".screen").textContent === whole, said.printed);
  await page.getByRole("button", { name: "Play", exact: true }).waitFor(); // it stops by itself
  await page.locator(".verdict").getByRole("button", { name: "Event 1" }).press("Enter");
  await page.waitForSelector(".details table");
  said.opened = await page.locator(".details h2").textContent();
  await page.screenshot({ path: `${last}/console-unfolded.png`, fullPage: true });
  return said;
}

async function land() {
  const { page, thrown, context } = await tab();
  await enter(page, `${url}/console#/run/${run}?open=replays`);
  const started = page.getByRole("region", { name: "Started here" });
  await started.getByRole("button", { name: "Land" }).press("Enter");
  const said = { errors: thrown, nowhere: await started.locator("> p").innerText() };
  await page.keyboard.type("7"); // where the page has put who forgot it
  await page.keyboard.press("Enter");
  await started.getByLabel("A command").fill("registers");
  await page.keyboard.press("Enter");
  await started.getByRole("table", { name: "registers" }).waitFor();
  said.focus = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  await started.getByRole("button", { name: "next" }).press("Enter");
  await started.getByRole("table", { name: "next" }).waitFor();
  said.landed = await started.innerText();
  said.axe = await axe(page);
  await page.screenshot({ path: `${last}/console-landed.png`, fullPage: true });
  const dark = await tab("dark");
  await enter(dark.page, `${url}/console#/run/${run}?open=replays`);
  await dark.page.getByRole("table", { name: "next" }).waitFor(); // what one has started, another one sees
  said.axeDark = await axe(dark.page);
  await dark.context.close();
  await started.getByRole("button", { name: "Leave it" }).press("Enter");
  await started.getByText("A landing at 7 has ended").waitFor();
  await started.getByRole("button", { name: "Replay it" }).press("Enter");
  await started.getByText("A replay has ended: DIVERGED").waitFor();
  said.ended = await started.innerText();
  await context.close();
  return said;
}

/** A way to the service that can be cut, within what it carries of a stream of events. */
async function cuttable(target) {
  const streams = new Map(); // the near end of each stream of events, and how many octets it may still carry
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [[near, far], [far, near]]) {
      from.on("error", () => {});
      from.on("close", () => {
        streams.delete(near);
        to.destroy();
      });
    }
    near.on("data", (octets) => {
      if (octets.includes("/events?follow=true")) {
        streams.set(near, Infinity);
      }
      far.write(octets);
    });
    far.on("data", (octets) => {
      const left = streams.get(near);
      if (left === undefined || octets.length <= left) {
        near.write(octets);
        if (left !== undefined) {
          streams.set(near, left - octets.length);
        }
        return;
      }
      cuts++;
      near.write(octets.subarray(0, left), () => near.destroy());
    });
    near.on("end", () => far.end());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    cuts: () => cuts,
    /** Waits until events flow. */
    flowing: async () => {
      const end = Date.now() + WAIT_MS;
      while (![...streams.values()].includes(Infinity)) {
        if (Date.now() > end) {
          throw new Error("no stream of events was asked for again");
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    /** Cuts the streams that there are: each carries a little more, of another length each time. */
    cut: () => [...streams.keys()].forEach((near) => streams.set(near, 37 + 11 * cuts)),
    close: () => server.close(),
  };
}

async function follow() {
  const way = await cuttable(new URL(url));
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const { page, thrown } = await tab();
  await enter(page, `${way.url}/console#/run/${run}`);
  await page.waitForFunction(() => document.querySelector(".live [role=status] ~ [role=status]")?.textContent === "Connected");
  for (let i = 0; i < Number(last); i++) {
    await way.flowing();
    way.cut(); // after so many octets of the next events that it is within a line, and once within a character
    console.log("cut");
    await lines.next();
  }
  await page
    .waitForFunction(() => /^(VERIFIED|TAMPERED|UNCHECKED|NOT VERIFIED)/.test(document.querySelector(".badge").textContent))
    .catch(async (late) => {
      throw new Error(`${late.message}\n${await page.locator("main").innerText()}`);
    });
  const said = { badge: await page.locator(".badge").textContent(), cuts: way.cuts(), thrown };
  said.facts = await page.locator(".facts").first().innerText();
  said.shown = await page.locator(".tail tbody th").allTextContents();
  await page.screenshot({ path: "target/pictures/console-live.png" }).catch(() => {});
  way.close();
  return said;
}

let code = 0;
try {
  console.log(JSON.stringify(await { walk, unfold, access, login, land, follow }[action]()));
} catch (problem) {
  console.error(problem);
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    console.error(page.url(), await page.locator("body").innerText().catch(String)); // what was there instead
  }
  code = 1;
}
await browser.close();
process.exit(code);
