// What all scripts share: a browser, a page of the server with its token, and the checks that hold for every page.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

/** The address that the server has printed, with its token. */
export const ADDRESS = new URL(process.env.SPY_ADDRESS ?? "http://127.0.0.1:7780/");

/** Where the screenshots are written. */
export const SHOTS = process.env.SPY_SHOTS ?? "target/browser";

/** The widths of a screen and of a telephone. */
export const WIDTHS = [1280, 390];

/** How long something may take that happens at once. No working server takes this long. */
export const PATIENCE = 30_000;

/** The pages of an object of the shop, and those of no object, by the names of their screenshots. */
export const PAGES = {
  now: "/",
  current: "/?state=Current",
  nothing: "/?q=nothing-has-this-name",
  object: "/o/demo/Deployment.apps/shop/api",
  changes: "/c/demo/Deployment.apps/shop/api?since=1h",
  events: "/e/demo/Deployment.apps/shop/api",
  logs: "/l/demo/Deployment.apps/shop/api",
  past: "/o/demo/Deployment.apps/shop/api?at=2026-03-02T12:01:00Z",
  graph: "/g/demo/Deployment.apps/shop/api",
  timeline: "/t?since=10m",
  missing: "/o/demo/Pod/shop/none",
};

/** The address of a path of the server. */
export const at = (path) => new URL(path, ADDRESS).href;

/**
 * Runs with a browser, and ends it.
 * @param {(browser: import("playwright-core").Browser) => Promise<void>} use
 */
export async function withBrowser(use) {
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath: process.env.SPY_BROWSER, args });
  try {
    await use(browser);
  } finally {
    await browser.close();
  }
}

/**
 * A page that knows the token. It fails on each error of its console, and on each request to elsewhere.
 * @param {import("playwright-core").Browser} browser
 * @param {import("playwright-core").BrowserContextOptions & { measures?: boolean }} options
 *   With `measures`, the clock of the page is the real one: a page with another clock has no times of its own.
 */
export async function open(browser, { measures = false, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  /** @type {string[]} */
  const faults = [];
  // An answer with an error code is an error of the console, too: some scripts ask for what is not there.
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("dialog", (dialog) => faults.push(dialog.message()));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.origin !== ADDRESS.origin) faults.push(`a request to ${url}`);
  });
  if (process.env.SPY_NOW && options.javaScriptEnabled !== false && !measures) await page.clock.setFixedTime(process.env.SPY_NOW);
  const until = Date.now() + PATIENCE;
  while ((await context.request.get(at("/readyz"))).status() !== 200) {
    if (Date.now() > until) throw new Error("the server does not become ready");
  }
  await page.goto(ADDRESS.href);
  return { page, context, faults };
}

/** Goes to a path, and waits until the page has its content. */
export async function visit(page, path) {
  const answer = await page.goto(at(path));
  await page.locator("main").waitFor();
  return answer;
}

/** Fails if something is wider than the page, so that a reader would have to move it sideways. */
export async function fits(page, what) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(content <= window, `${what} is ${content} pixels wide, the window ${window}`);
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds, one line for each element. */
export async function findings(page) {
  // The policy of the page forbids other scripts: the browser itself runs this one.
  const result = await page.evaluate(`${AXE}; axe.run(document, { resultTypes: ["violations"] })`);
  return result.violations.flatMap((it) => it.nodes.map((node) => `${it.id}: ${node.html.slice(0, 120)} ${node.failureSummary}`));
}

/** Fails if text of the cluster has become markup or script on this page, or a link leads elsewhere. */
export async function staysText(page, path) {
  assert.equal(await page.evaluate("window.hacked"), undefined, path);
  const targets = await page.locator("a").evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
  for (const target of targets) assert.ok(new URL(target, at(path)).origin === ADDRESS.origin, target);
}

/** Keeps a picture of the whole page. */
export async function shot(page, name) {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
}
