// 10,000 Pods: a view has at most 200 rows and counts the rest. The first page is small and fast.
import assert from "node:assert/strict";
import { fits, open, shot, visit, withBrowser } from "./page.mjs";

/** The most bytes of the first page. */
const BYTES = 100_000;

await withBrowser(async (browser) => {
  const { page, faults } = await open(browser, { measures: true });
  /** @type {number[]} */
  const times = [];
  let bytes = 0;
  for (let run = 0; run < 5; run++) {
    bytes = 0;
    await visit(page, "/");
    assert.ok((await page.locator("tbody.row").count()) > 0, "it has rows");
    const parts = await page.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      .filter((it) => it.initiatorType !== "other").map((it) => it.transferSize));
    bytes = parts.reduce((sum, part) => sum + part, 0);
    times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0));
  }
  console.log(`10,000 Pods: the first page has ${bytes} bytes, and is painted after ${times.map(Math.round).join(", ")} ms`);
  assert.ok(bytes > 0 && bytes <= BYTES, `${bytes} bytes`);

  await visit(page, "/?state=Current");
  assert.equal(await page.locator("tbody.row").count(), 200);
  await page.getByText("and 9700 more").waitFor();
  await fits(page, "10,000 Pods");
  await shot(page, "many-1280");
  assert.deepEqual(faults, []);
});
