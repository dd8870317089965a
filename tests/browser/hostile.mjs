// Text of the cluster that looks like markup, script or an address is shown as text, and does nothing.
import assert from "node:assert/strict";
import { WIDTHS, fits, open, shot, staysText, visit, withBrowser } from "./page.mjs";

await withBrowser(async (browser) => {
  for (const width of WIDTHS) {
    const { page, context, faults } = await open(browser, { viewport: { width, height: 900 } });
    await visit(page, "/");
    const links = await page.locator("td.name a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    assert.ok(links.length >= 7, `rows: ${links}`);
    const paths = ["/", "/t?since=1h", ...links, ...links.flatMap((link) => ["c", "e", "l", "g"].map((of) => link.replace(/^\/o/, `/${of}`)))];
    for (const number of [0, 1, 2, 3, 4, 5]) paths.push(`/c/demo/ConfigMap/shop/flags-${number}`);
    for (const [number, path] of paths.entries()) {
      await visit(page, path);
      await fits(page, path);
      await staysText(page, path);
      if (number < 4) await shot(page, `hostile-${number}-${width}`);
    }
    await visit(page, "/");
    assert.ok(await page.getByText("<script>window.hacked = 1</script>").count() > 0, "the text is shown");
    assert.equal((await page.content()).includes("\u202e"), false, "a character that turns the text around is visible as a number");
    assert.deepEqual(faults, []);
    await context.close();
  }
});
