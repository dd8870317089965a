// The picture of the README: an object that fails, with its tree and its last changes.
import { SHOTS, open, visit, withBrowser } from "./page.mjs";

await withBrowser(async (browser) => {
  const { page } = await open(browser, { viewport: { width: 1000, height: 760 } });
  await visit(page, "/o/demo/Deployment.apps/shop/api");
  await page.locator("details.panel").first().getByText("kubectl-set").first().waitFor();
  await page.screenshot({ path: `${SHOTS}/serve.png` });
});
