// Two clusters on one page: each row and each page names its cluster, links keep it, and a cluster that goes away stops no other.
import assert from "node:assert/strict";
import { WIDTHS, at, findings, fits, open, shot, visit, withBrowser } from "./page.mjs";

const EU = "/o/prod-eu/Deployment.apps/shop/api";
const US = "/o/prod-us/Deployment.apps/shop/api";

/** All pages, by the names of their screenshots. */
const PAGES = {
  now: "/",
  current: "/?state=Current",
  object: EU,
  changes: "/c/prod-eu/Deployment.apps/shop/api?since=1h",
  graph: "/g/prod-eu/Deployment.apps/shop/api",
  past: `${EU}?at=2026-03-02T12:01:00Z`,
  timeline: "/t?since=10m",
};

/** The short names in the column of the clusters, each once. */
async function clusters(page) {
  await page.locator("tbody.row").first().waitFor();
  return [...new Set(await page.locator("td[data-label=cluster]").allTextContents())];
}

/** The addresses of all links in this part of a page. */
const links = (page, part) => page.locator(`${part} a`).evaluateAll((all) => all.map((link) => link.getAttribute("href")));

/** A picture of every page, on a screen and a telephone. Nothing is cut off, and axe finds nothing. */
async function everyPage(browser) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of WIDTHS) {
      const { page, context, faults } = await open(browser, { colorScheme, viewport: { width, height: 900 } });
      for (const [name, path] of Object.entries(PAGES)) {
        const what = `${name} at ${width} pixels, ${colorScheme}`;
        await visit(page, path);
        await shot(page, `clusters-${name}-${width}-${colorScheme}`);
        await fits(page, what);
        assert.deepEqual(await findings(page), [], what);
      }
      assert.deepEqual(faults, []);
      await context.close();
    }
  }
}

/** Two objects with the same name have rows, pages and addresses of their own. */
async function sameNames(page) {
  await visit(page, "/?q=deployment/api");
  assert.deepEqual(await clusters(page), ["eu", "us"]);
  const titles = await page.locator("td[data-label=cluster]").evaluateAll((all) => all.map((cell) => cell.getAttribute("title")));
  assert.deepEqual(titles, ["prod-eu", "prod-us"]);
  for (const [row, path, state, cluster] of [[0, EU, "Failed", "prod-eu"], [1, US, "Current", "prod-us"]]) {
    await visit(page, "/?q=deployment/api");
    await page.locator("tbody.row").nth(row).getByRole("link").click();
    await page.waitForURL(at(path));
    await page.getByRole("heading", { level: 1 }).filter({ hasText: state }).waitFor();
    assert.match(await page.title(), new RegExp(` · ${cluster}$`));
  }
  // Each page of an object names the cluster above it, and that leads to what is not well there.
  for (const path of Object.values(PAGES).filter((path) => path.includes("prod-eu"))) {
    await visit(page, path);
    await page.locator("nav.path").getByRole("link", { name: "prod-eu" }).waitFor();
    assert.match(await page.title(), / · prod-eu$/, path);
  }
  await page.locator("nav.path").getByRole("link", { name: "prod-eu" }).click();
  await page.waitForURL(at("/?cluster=prod-eu"));
  assert.deepEqual(await clusters(page), ["eu"]);
}

/** Every link stays in the chosen cluster. */
async function linksKeepTheCluster(page) {
  await visit(page, "/?cluster=prod-us&state=Current");
  assert.deepEqual(await clusters(page), ["us"]);
  for (const href of await links(page, ":is(nav[aria-label=States], nav[aria-label=kind])")) assert.ok(href.includes("cluster=prod-us"), href);
  for (const href of await links(page, "td.name")) assert.ok(href.startsWith("/o/prod-us/"), href);
  await page.getByRole("navigation", { name: "kind" }).getByRole("link", { name: "Pod" }).click();
  await page.waitForURL("**/?cluster=prod-us&state=Current&kind=Pod");
  assert.deepEqual(await clusters(page), ["us"]);

  const own = (href) => /^\/[ocelg]\/prod-us\//.test(href) || href.startsWith("?") || ["/", "/t", "/?cluster=prod-us", "#main"].includes(href);
  for (const path of [US, "/g/prod-us/Deployment.apps/shop/api", "/c/prod-us/Deployment.apps/shop/api", `${US}?at=2026-03-02T12:01:00Z`]) {
    await visit(page, path);
    assert.deepEqual((await links(page, "body")).filter((href) => !own(href)), [], path);
  }

  await visit(page, "/t?since=10m");
  assert.deepEqual((await clusters(page)).sort(), ["eu", "us"]);
  await page.getByRole("navigation", { name: "Clusters" }).getByRole("link", { name: "prod-us" }).click();
  await page.waitForURL("**/t?since=10m&cluster=prod-us");
  assert.deepEqual(await clusters(page), ["us"]);
  await page.getByRole("link", { name: "Zoom in" }).click();
  await page.waitForURL(/cluster=prod-us&from=/);
}

/** A change in one cluster arrives on the open page. When that cluster goes away, the page says so, and the other lives on. */
async function oneGoesAway(page, context) {
  const cart = (cluster) => page.locator("tbody.row").filter({ hasText: "pod/cart" }).filter({ has: page.locator(`td[title=${cluster}]`) });
  await visit(page, "/");
  await page.evaluate(() => { window.stays = true; });
  const objects = [];
  for (const path of [US, EU]) {
    const other = await context.newPage();
    await visit(other, path);
    objects.push(other);
  }
  const [us, eu] = objects;
  console.log("do: fail cart of prod-us");
  await cart("prod-us").waitFor();
  assert.equal(await cart("prod-eu").count(), 0);

  console.log("do: stop prod-us");
  await page.locator("p.problem").filter({ hasText: /^prod-us: / }).waitFor();
  await page.locator("#link .lost").filter({ hasText: "live 1 of 2 clusters" }).waitFor();
  // The page of an object tells of its own cluster alone.
  await us.locator("#link .lost").filter({ hasText: "✗ prod-us: " }).waitFor();
  assert.equal(await us.getByRole("heading", { level: 1 }).count(), 1, "its last state stays");
  await shot(us, "clusters-away-object-1280");
  await shot(page, "clusters-away-now-1280");

  console.log("do: fail cart of prod-eu");
  await cart("prod-eu").waitFor();
  assert.equal(await cart("prod-us").count(), 1, "the last known state stays");
  assert.equal(await eu.locator("#link").textContent(), "● live");
  await visit(eu, "/t?since=10m");
  await eu.locator("p.problem").filter({ hasText: "prod-us: " }).waitFor();
  await shot(eu, "clusters-away-timeline-1280");
  assert.deepEqual(await clusters(eu), ["eu"]);

  console.log("do: restart prod-us");
  await page.locator("#link").filter({ hasText: "● live 2 of 2 clusters" }).waitFor();
  await us.locator("#link").filter({ hasText: /^● live$/ }).waitFor();
  assert.equal(await page.locator("p.problem").count(), 0);
  assert.equal(await page.evaluate(() => window.stays), true, "the page was loaded again");
}

await withBrowser(async (browser) => {
  await everyPage(browser);
  const { page, context, faults } = await open(browser);
  await sameNames(page);
  await linksKeepTheCluster(page);
  await oneGoesAway(page, context);
  assert.deepEqual(faults, []);
});
