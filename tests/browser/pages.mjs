// Every page, on a screen and a telephone, light and dark: a picture of each, no finding of axe, nothing that is cut off.
import assert from "node:assert/strict";
import { PAGES, WIDTHS, findings, fits, open, shot, visit, withBrowser } from "./page.mjs";

await withBrowser(async (browser) => {
  const found = [];
  for (const colorScheme of ["light", "dark"]) {
    for (const width of WIDTHS) {
      const { page, context, faults } = await open(browser, { colorScheme, viewport: { width, height: 900 } });
      for (const [name, path] of Object.entries(PAGES)) {
        const what = `${name} at ${width} pixels, ${colorScheme}`;
        await visit(page, path);
        await shot(page, `${name}-${width}-${colorScheme}`);
        await fits(page, what).catch((error) => found.push(error.message));
        found.push(...(await findings(page)).map((line) => `${what}: ${line}`));
      }
      found.push(...faults);
      await context.close();
    }
  }
  assert.equal(found.length, 0, [...new Set(found)].join("\n"));
});
