// The keyboard alone reaches and opens everything, and shows where it is.
import assert from "node:assert/strict";
import { open, visit, withBrowser } from "./page.mjs";

/** What has the focus, and whether a reader sees that. */
const focus = (page) =>
  page.evaluate(() => {
    const it = document.activeElement;
    const style = it && getComputedStyle(it);
    return { tag: it?.tagName, text: it?.textContent?.trim(), outline: style ? parseFloat(style.outlineWidth) * (style.outlineStyle === "none" ? 0 : 1) : 0 };
  });

await withBrowser(async (browser) => {
  const { page, faults } = await open(browser);
  await visit(page, "/");

  // The first thing that Tab reaches leads past the header.
  await page.keyboard.press("Tab");
  assert.equal((await focus(page)).text, "Skip to the content");
  await page.keyboard.press("Enter");

  // Tab reaches every link and field, in the order of the page, and each shows that it has the focus.
  await visit(page, "/");
  const all = await page.locator("a[href], input, button:not([hidden])").count();
  const reached = new Set();
  for (let step = 0; step < all; step++) {
    await page.keyboard.press("Tab");
    const { tag, text, outline } = await focus(page);
    assert.ok(outline >= 1, `the focus is not visible on ${tag} ${text}`);
    reached.add(await page.evaluate(() => [...document.querySelectorAll("a[href], input, button")].indexOf(document.activeElement)));
  }
  assert.equal(reached.size, all, `Tab reaches ${reached.size} of ${all}`);

  // `/` searches, and Enter shows what was found.
  await visit(page, "/");
  await page.keyboard.press("/");
  assert.equal((await focus(page)).tag, "INPUT");
  await page.keyboard.type("web");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/?q=web");
  assert.ok((await page.locator("tbody.row").count()) >= 3);

  // `f` goes to the filters.
  await visit(page, "/");
  await page.keyboard.press("f");
  assert.equal((await focus(page)).text, "Not well");

  // `j` and `k` move, Enter opens, Esc goes back.
  await visit(page, "/");
  await page.keyboard.press("j");
  const one = (await focus(page)).text;
  await page.keyboard.press("j");
  const two = (await focus(page)).text;
  assert.notEqual(one, two);
  await page.keyboard.press("k");
  assert.equal((await focus(page)).text, one);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/o/demo/**");
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => url.pathname === "/");
  assert.deepEqual(faults, []);
});
