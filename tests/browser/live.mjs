// A change of the cluster arrives on an open page without a reload, and what the reader does stays as it is.
import assert from "node:assert/strict";
import { open, visit, withBrowser } from "./page.mjs";

await withBrowser(async (browser) => {
  const { page, faults } = await open(browser);
  await visit(page, "/");
  await page.evaluate(() => { window.stays = true; });
  const first = page.locator("tbody.row td.name a").first();
  await first.focus();
  const focused = await first.textContent();
  assert.equal(await page.getByText("pod/cart").count(), 0, "it is well");

  console.log("do: fail cart");
  await page.getByRole("link", { name: "pod/cart" }).waitFor();
  await page.getByText('secret "db" not found').first().waitFor();
  assert.equal(await page.evaluate(() => window.stays), true, "the page was loaded again");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), focused, "the focus moved");
  assert.equal(await page.title(), "5 Failed · demo");

  await visit(page, "/o/demo/Pod/shop/cart");
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "CreateContainerConfigError" }).waitFor();
  console.log("do: delete cart");
  // It is shown as deleted for a moment, and then the page says that it is gone.
  await page.getByText(/NotFound|the object is gone/).first().waitFor();

  // An answer that is no stream, as from a proxy while the server starts again, does not end the life of the page.
  await page.route("**/live?*", (route) => route.fulfill({ status: 503, body: "" }), { times: 1 });
  await visit(page, "/");
  await page.locator("#link .lost").filter({ hasText: "it tries again" }).waitFor();
  await page.locator("#link").filter({ hasText: /^● live$/ }).waitFor();
  assert.deepEqual(faults, []);
});
