// A name of a context that looks like markup, script or an address is shown as text, and its pages open.
import assert from "node:assert/strict";
import { WIDTHS, fits, open, shot, staysText, visit, withBrowser } from "./page.mjs";

await withBrowser(async (browser) => {
  for (const width of WIDTHS) {
    const { page, context, faults } = await open(browser, { viewport: { width, height: 900 } });
    await visit(page, "/");
    await page.locator("tbody.row").nth(5).waitFor();
    const links = await page.locator("td.name a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    const chips = await page.getByRole("navigation", { name: "cluster" }).locator("a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    assert.equal(chips.length, 7, `every cluster and six: ${chips}`);
    const paths = ["/", "/t?since=1h", ...chips, ...links, ...links.flatMap((link) => ["c", "e", "l", "g"].map((of) => link.replace(/^\/o/, `/${of}`)))];
    for (const path of paths) {
      const answer = await visit(page, path);
      // The Pod has not started, so it has no log: the page says that.
      assert.equal(answer.status(), path.startsWith("/l/") ? 400 : 200, path);
      await fits(page, path);
      await staysText(page, path);
    }
    await visit(page, "/");
    await shot(page, `hostile-contexts-${width}`);
    assert.ok((await page.getByText("<script>window.hacked = 1</script>").count()) > 0, "the text is shown");
    assert.equal((await page.content()).includes("\u202e"), false, "a character that turns the text around is visible as a number");
    assert.deepEqual(faults, []);
    await context.close();
  }
});
