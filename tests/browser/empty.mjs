// Without any object, each page says so.
import assert from "node:assert/strict";
import { WIDTHS, fits, open, shot, visit, withBrowser } from "./page.mjs";

await withBrowser(async (browser) => {
  for (const width of WIDTHS) {
    const { page, context, faults } = await open(browser, { viewport: { width, height: 900 } });
    for (const [name, path, words] of [
      ["now", "/", "Nothing is unhealthy in namespace"],
      ["timeline", "/t?since=1h", "No version is known"],
    ]) {
      await visit(page, path);
      await page.getByText(words).first().waitFor();
      await fits(page, path);
      await shot(page, `empty-${name}-${width}`);
    }
    assert.deepEqual(faults, []);
    await context.close();
  }
});
