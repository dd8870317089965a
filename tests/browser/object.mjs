// The page of an object: its panels load what they show, its commands can be copied, and a slider shows it as it was.
import assert from "node:assert/strict";
import { at, open, visit, withBrowser } from "./page.mjs";

const OBJECT = "/o/demo/Deployment.apps/shop/api";

await withBrowser(async (browser) => {
  const { page, context, faults } = await open(browser);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await visit(page, OBJECT);

  // The changes are there at once, the others when they are opened.
  const panel = (name) => page.locator("details.panel").filter({ has: page.getByRole("heading", { name }) });
  await panel("Changes").getByText("kubectl-set").first().waitFor();
  await panel("Changes").locator("summary").filter({ hasText: "kubectl-set" }).click();
  await panel("Changes").locator("ins").filter({ hasText: "shop/api:bad-2" }).waitFor();
  const times = await panel("Changes").getByRole("link", { name: "6h" }).getAttribute("href");
  assert.equal(times, "/c/demo/Deployment.apps/shop/api?since=6h");
  await panel("Events").locator("summary").first().click();
  await panel("Events").getByText("Error: ImagePullBackOff").waitFor();
  await panel("Logs").locator("summary").first().click();
  await panel("Logs").getByText("listening on :8080").first().waitFor();

  // Each panel has the command that shows the same.
  for (const verb of ["status", "changes", "logs"]) {
    const command = `kubectl spy ${verb} deployment/api -n shop --context demo`;
    const line = page.locator("p.command").filter({ hasText: command });
    await line.getByRole("button").click();
    await line.getByText("Copied").waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), command);
  }

  // Four minutes ago, before the rollout: the keyboard moves the slider, and Enter shows that time.
  const slider = page.getByRole("slider");
  await slider.focus();
  for (let step = 0; step < 24; step++) await page.keyboard.press("ArrowRight");
  await page.getByText("4m ago", { exact: true }).waitFor();
  assert.equal(page.url(), at(OBJECT), "the keyboard alone does not leave the page");
  await page.keyboard.press("Enter");
  await page.waitForURL("**?at=2026-03-02T12%3A01%3A00Z");
  await page.getByRole("heading", { name: "Earlier state of deployment/api" }).waitFor();
  await page.getByRole("link", { name: "replicaset/api-7d9f6" }).waitFor();
  assert.equal(await page.getByText("api-5f5f7").count(), 0, "it did not exist then");
  await page.getByText("--at 2026-03-02T12:01:00Z").waitFor();
  assert.equal(await page.getByRole("slider").inputValue(), "240");
  assert.deepEqual(faults, []);

  // A panel whose page was an error, or did not come, loads it when it is opened again.
  const { page: again } = await open(browser);
  const answers = [(route) => route.abort(), (route) => route.fulfill({ status: 503, body: "<main>busy</main>" })];
  await again.route("**/e/**", (route) => (answers.shift() ?? ((route) => route.continue()))(route));
  await visit(again, OBJECT);
  const events = again.locator("details.panel").filter({ has: again.getByRole("heading", { name: "Events" }) });
  for (const shown of ["could not be loaded", "busy", "Error: ImagePullBackOff"]) {
    await events.locator("summary").first().click();
    await events.getByText(shown).waitFor();
    await events.locator("summary").first().click();
  }
  await events.locator("summary").first().click();
  assert.equal(await events.getByText("busy").count(), 0);
  assert.equal(await events.getByRole("link", { name: "Open as a page" }).count(), 1);
});
