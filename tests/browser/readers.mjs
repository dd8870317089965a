// With --auth=kube, a person enters a token as a password. The page shows what it may read, and says when it is no longer valid.
import assert from "node:assert/strict";
import { ADDRESS, findings, open, shot, visit, withBrowser } from "./page.mjs";

/** The server asks about an open stream every 20 seconds. */
const RIGHTS = 60_000;

const WIDTH = { viewport: { width: 1280, height: 500 } };

await withBrowser(async (browser) => {
  // Who closes the question of the browser learns what belongs there.
  const stranger = await browser.newContext();
  const refused = await stranger.request.get(ADDRESS.href);
  assert.equal(refused.status(), 401);
  assert.match(await refused.text(), /it is the password, and the name may be any/);

  // The name beside the token may be any.
  const { page, faults } = await open(browser, { httpCredentials: { username: "me", password: "alice" }, ...WIDTH });
  await visit(page, "/?state=Current");
  await page.evaluate(() => { window.stays = true; });
  const flags = page.getByRole("link", { name: "configmap/flags" });
  await flags.waitFor();
  await page.getByText("each object is judged by itself").waitFor();
  assert.deepEqual(await findings(page), []);

  // A right that is gone takes its rows with it.
  console.log("do: narrow alice");
  await flags.waitFor({ state: "detached", timeout: RIGHTS });
  assert.equal(await page.locator("#link .lost").count(), 0);

  // So does the token, and the page says why it is not live any more.
  console.log("do: forget alice");
  await page.locator("#link .lost").filter({ hasText: "your token is no longer valid" }).waitFor({ timeout: RIGHTS });
  assert.equal(await page.evaluate(() => window.stays), true, "the page was loaded again");
  await shot(page, "readers-token-ended");
  assert.deepEqual(faults, []);
});
