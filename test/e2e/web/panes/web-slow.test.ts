import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe } from "node:test";
import type { Page, Route } from "playwright-core";
import { gate } from "../../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { startGateway, tempHome } from "../../../support/worlds/gateway.js";
import { pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { holdFrames, releaseFrames, withHeldFrames } from "../../../support/worlds/http/held-frames.js";
import { browserOfBlock } from "../../../support/worlds/http/page-block.js";
import { setLive } from "../../../support/worlds/live-edit.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const token = "a-token-of-the-gateway";
/** What the browser itself says before the token is typed in. */
const refusals = { token, expected: /the server responded with a status of 401/ };

async function openSettings() {
  const home = await tempHome();
  const path = join(home, "config.json");
  await writeFile(path, `{ "gateway": { "token": "${token}" } }`, { mode: 0o600 });
  const gateway = await startGateway({ home });
  return {
    url: `${gateway.gateway.pageUrl}#/settings/inbound`,
    text: () => readFile(path, "utf8"),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

/** Holds the next request for the settings: `came` once it has come, `done` once `open` has let `goOn` have it. */
async function holdSettings(page: Page, method: string, goOn: (route: Route, opened: Promise<void>) => Promise<void>) {
  const [came, release, done] = [gate(), gate(), gate()];
  let isNext = true;
  await page.route("**/api/settings", async (route) => {
    if (!isNext || route.request().method() !== method) return route.fallback();
    isNext = false;
    came.open();
    await goOn(route, release.opened);
    done.open();
  });
  return { came: came.opened, open: release.open, done: done.opened };
}

function fieldOf(page: Page) {
  return page.getByLabel("Messages of one person", { exact: true });
}

async function save(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Save", exact: true }).click();
}

const saved = "Saved. It counts now.";

describe("the web page where everything takes its time", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();

  pageTest("settings that were asked for before they were changed do not hide the change", async () => {
    await using place = await openSettings();
    await withPage(
      browser(),
      place.url,
      async (page) => {
        await fieldOf(page).waitFor();
        const old = gate();
        const held = await holdSettings(page, "GET", async (route, opened) => {
          const response = await route.fetch();
          old.open();
          await opened;
          await route.fulfill({ response });
        });
        await page.evaluate("dispatchEvent(new Event('focus'))");
        await old.opened;
        await fieldOf(page).fill("9");
        await save(page);
        await page.getByText(saved).waitFor();
        const finished = page.waitForEvent("requestfinished", (request) => request.url().endsWith("/api/settings"));
        held.open();
        await Promise.all([held.done, finished]);
        await page.getByText(saved).waitFor();
        assert.equal(await fieldOf(page).inputValue(), "9");
        await fieldOf(page).fill("8");
        await save(page);
        await page.getByText(saved).waitFor();
        assert.match(await place.text(), /"senderPerMinute": 8/);
      },
      refusals,
    );
  });

  pageTest("what is typed while settings are being saved stays", async () => {
    await using place = await openSettings();
    await withPage(
      browser(),
      place.url,
      async (page) => {
        const held = await holdSettings(page, "PUT", async (route, opened) => {
          await opened;
          await route.continue();
        });
        await fieldOf(page).fill("9");
        await save(page);
        await held.came;
        await fieldOf(page).fill("95");
        held.open();
        await page.getByText(saved).waitFor();
        assert.equal(await fieldOf(page).inputValue(), "95");
        await save(page);
        await page.locator(".settings-save").waitFor({ state: "detached" });
        assert.match(await place.text(), /"senderPerMinute": 95/);
      },
      refusals,
    );
  });

  for (const [when, isEarly] of Object.entries({ "asking has failed": true, "the failure has effects": false }))
    pageTest(`what could not be asked is asked again, also when the gateway is back before ${when}`, async () => {
      await using gateway = await startGateway();
      let isAway = false;
      let cut = async (): Promise<void> => {};
      const [came, release] = [gate(), gate()];
      await withPage(
        browser(),
        gateway.gateway.pageUrl,
        async (page) => {
          await page.getByRole("button", { name: "Not now" }).click();
          await page.evaluate("location.hash = '#/jobs'");
          await came.opened;
          isAway = true;
          await cut();
          const offline = page.locator(".banner.offline");
          await offline.waitFor();
          const fail = async (): Promise<void> => {
            release.open();
            if (!isEarly) await page.getByText(/The gateway does not answer/).waitFor();
          };
          if (!isEarly) {
            await holdFrames(page);
            await fail();
          }
          isAway = false;
          await offline.waitFor({ state: "hidden" });
          if (isEarly) await fail();
          else await releaseFrames(page);
          await page.getByText("Nothing is scheduled").waitFor();
        },
        {
          expected: /ERR_FAILED|Failed to load resource|WebSocket connection/,
          async onPage(page) {
            await withHeldFrames(page);
            await page.route(
              "**/api/cron",
              async (route) => {
                came.open();
                await release.opened;
                await route.abort();
              },
              { times: 1 },
            );
            await page.routeWebSocket(/\/ws/, (socket) => {
              if (isAway) return void socket.close();
              socket.connectToServer();
              cut = () => socket.close();
            });
          },
        },
      );
    });

  pageTest("what is looked at from time to time is there also when an answer takes longer than that", async () => {
    await using gateway = await startGateway();
    const [came, release] = [gate(), gate()];
    await withPage(
      browser(),
      gateway.gateway.pageUrl,
      async (page) => {
        await page.getByRole("button", { name: "Not now" }).click();
        await page.evaluate("location.hash = '#/skills'");
        await came.opened;
        await page.clock.fastForward(5000);
        // The page has had its time to ask again.
        await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 300)))");
        release.open();
        await page.locator(".pane-page").getByRole("switch").first().waitFor();
      },
      {
        async onPage(page) {
          await page.clock.install();
          let isFirst = true;
          await page.route("**/api/skills", async (route) => {
            if (!isFirst) return;
            isFirst = false;
            came.open();
            await release.opened;
            await route.continue();
          });
        },
      },
    );
  });

  pageTest("first run: a model that is set up elsewhere while the steps are being drawn ends them", async () => {
    await using gateway = await startGateway({ config: {} });
    let isAway = true;
    await withPage(
      browser(),
      gateway.gateway.pageUrl,
      async (page) => {
        const standIn = page.getByText("offline stand-in", { exact: true });
        await page.locator(".first-steps").waitFor();
        await standIn.waitFor();
        await setLive(gateway, {
          "providers.openai": { apiKey: "sk-any", apiBase: "http://127.0.0.1:9/v1" },
          "agents.defaults.model": "gpt-5-mini",
        });
        isAway = false;
        await standIn.waitFor({ state: "hidden" });
        await releaseFrames(page);
        await page.locator(".first-steps").waitFor({ state: "detached" });
      },
      {
        async onPage(page) {
          await withHeldFrames(page);
          await page.addInitScript("frames_.hold()");
          // The page reads the status again once it is connected.
          await page.routeWebSocket(/\/ws/, (socket) => {
            if (isAway) socket.close();
            else socket.connectToServer();
          });
        },
      },
    );
  });

  pageTest(
    "first run: the next step has the focus as soon as it is there, and takes it from nobody later",
    async () => {
      await using model = await startFakeOpenAI({
        answer: () => ({ status: 200, body: { data: [{ id: "gpt-5-mini" }] } }),
      });
      await using gateway = await startGateway();
      await withPage(
        browser(),
        gateway.gateway.pageUrl,
        async (page) => {
          await page.locator("main").getByLabel("Search").fill("openai");
          await page.getByRole("radio", { name: /^openai/ }).check();
          await page.getByLabel("API key of openai").fill("sk-any");
          await page.getByText("Another address", { exact: true }).click();
          await page.getByLabel("Address", { exact: true }).fill(model.apiBase);
          await holdFrames(page);
          await page.getByRole("button", { name: "Test and save" }).click();
          const choice = page.getByRole("radio", { name: /^gpt-5-mini/ });
          await choice.check();
          await releaseFrames(page);
          assert.equal(await choice.evaluate((one) => one === one.ownerDocument.activeElement), true);
        },
        { onPage: withHeldFrames },
      );
    },
  );
});
