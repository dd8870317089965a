// The timeline shows states over time, and to drag over it, or a link, chooses a shorter time: the address has it.
import assert from "node:assert/strict";
import { at, open, visit, withBrowser } from "./page.mjs";

/** The length of the time that the address of a page names, in seconds. */
const seconds = (page) => {
  const query = new URL(page.url()).searchParams;
  return (Date.parse(query.get("to")) - Date.parse(query.get("from"))) / 1000;
};

await withBrowser(async (browser) => {
  const { page, faults } = await open(browser);
  await visit(page, "/t?since=10m");
  const lane = page.locator("tbody.row").filter({ hasText: "deployment/api" }).locator("svg");
  assert.match(await lane.getAttribute("aria-label"), /^absent until .*, InProgress until .*, Current until .*, InProgress until /);
  for (const state of ["failed", "moving", "current", "unknown"]) {
    assert.ok((await page.locator(`td.lane .bar.${state}`).count()) > 0, state);
  }
  assert.ok((await page.locator("td.lane rect").count()) <= 1_000);

  // A quarter of ten minutes.
  const box = await lane.boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.down();
  await page.mouse.move(box.x + (box.width * 5) / 8, y);
  await page.locator(".brush").waitFor();
  await page.mouse.move(box.x + (box.width * 3) / 4, y);
  await page.mouse.up();
  await page.waitForURL(/from=.*to=/);
  assert.ok(Math.abs(seconds(page) - 150) <= 3, page.url());
  await page.getByRole("link", { name: "Zoom in" }).click();
  await page.waitForURL((url) => Date.parse(url.searchParams.get("to")) - Date.parse(url.searchParams.get("from")) < 80_000);

  // The time above the lanes leads to its quarter.
  await visit(page, "/t?since=10m");
  await page.locator(".times a").nth(2).click();
  await page.waitForURL(/from=/);
  assert.equal(seconds(page), 150);
  // A time without a change.
  await visit(page, "/t?from=2026-03-02T11:00:00Z&to=2026-03-02T11:30:00Z");
  await page.getByText("No version is known from this time.").waitFor();
  const answer = await page.goto(at("/t?from=2026-03-02T12:00:00Z&to=2026-03-02T11:00:00Z"));
  assert.equal(answer.status(), 400);
  assert.deepEqual(faults, []);
});
