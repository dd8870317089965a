// Without script, each page shows the same, its links and forms work, and it loads itself again.
import assert from "node:assert/strict";
import { PAGES, at, open, visit, withBrowser } from "./page.mjs";

await withBrowser(async (browser) => {
  const { page } = await open(browser, { javaScriptEnabled: false });
  await visit(page, "/");
  assert.ok(await page.getByText("deployment/api").count() > 0);
  assert.equal(await page.locator("noscript meta[http-equiv=refresh]").count(), 1, "it loads itself again");
  for (const path of Object.values(PAGES)) {
    const answer = await visit(page, path);
    assert.ok(answer.status() === 200 || path === PAGES.missing, path);
    assert.ok((await page.locator("main").innerText()).length > 20, path);
    assert.equal(await page.locator("button:visible").evaluateAll((all) => all.filter((it) => it.dataset.copy !== undefined).length), 0, path);
  }

  // The search is a form.
  await visit(page, "/");
  await page.getByRole("searchbox").fill("cart");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/?q=cart");
  assert.equal(await page.locator("tbody.row").count(), 1);

  // A row leads to its object, and that to its changes and its graph.
  await page.getByRole("link", { name: "pod/cart" }).click();
  await page.waitForURL(at("/o/demo/Pod/shop/cart"));
  await page.getByRole("link", { name: "Graph" }).first().click();
  await page.waitForURL(at("/g/demo/Pod/shop/cart"));

  // An earlier time is a form, and a shorter time of the timeline a link.
  await visit(page, "/o/demo/Pod/shop/cart");
  await page.getByRole("textbox", { name: "or" }).fill("4m");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL("**?ago=0&at=4m");
  await page.getByRole("link", { name: "pod/cart" }).last().waitFor();
  await visit(page, PAGES.timeline);
  await page.getByRole("link", { name: "Zoom in" }).click();
  await page.waitForURL(/from=.*to=/);
});
