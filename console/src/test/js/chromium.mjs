// Debian's Chromium, and what both scripts ask of a page.
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

export function launch() {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    // Chromium refuses its sandbox to root, as which containers run tests.
    args: process.getuid() === 0 ? ["--no-sandbox"] : [],
  });
}

/** What axe finds wrong in a page. */
export async function axe(page) {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}
