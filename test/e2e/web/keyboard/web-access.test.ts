import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { barriersIn, colourBarriersIn } from "../../../support/worlds/http/axe.js";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import {
  faintPlaceholdersIn,
  openPane,
  overflowIn,
  paneIds,
  smallTargetsIn,
} from "../../../support/worlds/http/page-checks.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const sizes: readonly (readonly [name: string, context: BrowserContextOptions])[] = [
  ["desktop", { viewport: { width: 1280, height: 800 } }],
  ["phone", phone],
];

interface Shift {
  readonly value: number;
  readonly of: string;
}

/** Gathers in `shifts` what moves by itself. */
const watchShifts = `
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      shifts.push({ value, of: sources.map(({ node }) => node?.nodeName + "." + node?.className).join() });
  }).observe({ type: "layout-shift", buffered: true });
`;

/** Nobody has set it up. */
async function startBare(): Promise<Backend & AsyncDisposable> {
  const bare = await startBackend({ isUnfinished: true });
  return { ...bare, [Symbol.asyncDispose]: () => bare.stop() };
}

function isNarrow(page: Page): Promise<boolean> {
  return page.evaluate<boolean>("innerWidth < 760");
}

describe("the page for everybody", { timeout: 300_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend({
      history: { "webui:0000beef": 6, "telegram:42": 2 },
      config: { channels: { telegram: { enabled: false } } },
    });
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  interface Findings {
    readonly barriers: Set<string>;
    readonly overflow: Set<string>;
    readonly smallTargets: Set<string>;
  }
  const findings = new Map<string, Findings>();

  /** Everything that the checks find at every place, and where. Each size is walked through once for all of them. */
  async function findingsOf(size: string, context: BrowserContextOptions): Promise<Findings> {
    const known = findings.get(size);
    if (known !== undefined) return known;
    const found = { barriers: new Set<string>(), overflow: new Set<string>(), smallTargets: new Set<string>() };
    const scenario = async (page: Page): Promise<void> => {
      const note = async (where: string): Promise<void> => {
        for (const colorScheme of ["dark", "light"] as const) {
          await page.emulateMedia({ colorScheme });
          for (const faint of await faintPlaceholdersIn(page)) found.barriers.add(`${where}, ${colorScheme}: ${faint}`);
        }
        for (const barrier of await barriersIn(page)) found.barriers.add(`${where}, light: ${barrier}`);
        await page.emulateMedia({ colorScheme: "dark" });
        for (const barrier of await colourBarriersIn(page)) found.barriers.add(`${where}, dark: ${barrier}`);
        for (const problem of await overflowIn(page)) found.overflow.add(`${where}: ${problem}`);
        for (const target of await smallTargetsIn(page)) found.smallTargets.add(`${where}: ${target}`);
      };
      await throughChat(page, note);
      await throughPanes(page, note);
    };
    await withPage(browser, backend.url, scenario, {
      context: { reducedMotion: "reduce", ...context },
      expected: /40\d/,
    });
    // A second try looks again.
    if (Object.values(found).every(({ size: count }) => count === 0)) findings.set(size, found);
    return found;
  }

  for (const [size, context] of sizes) {
    pageTest(`everything can be read and used by everybody, whatever is open, light and dark, ${size}`, async () =>
      assert.deepEqual([...(await findingsOf(size, context)).barriers], []),
    );

    pageTest(`nothing sticks out at the side, written from left or from right, ${size}`, async () =>
      assert.deepEqual([...(await findingsOf(size, context)).overflow], []),
    );
  }

  for (const [size, context] of sizes)
    pageTest(`nothing moves while it comes: the first run, an empty chat, a chat, each pane, ${size}`, async () => {
      await using bare = await startBare();
      const moved: string[] = [];
      const look = async (page: Page, place: string, ready: string): Promise<void> => {
        await page.locator(ready).first().waitFor();
        await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))");
        const shifts = await page.evaluate<readonly Shift[]>("shifts.splice(0)");
        moved.push(...shifts.map(({ value, of }) => `${place}: ${value} ${of}`));
      };
      const onPlace = (url: string, scenario: (page: Page) => Promise<void>): Promise<void> =>
        withPage(browser, url, scenario, {
          context,
          expected: /40\d/,
          onPage: (page) => page.addInitScript(watchShifts),
        });
      await onPlace(bare.url, (page) => look(page, "the first run", ".first-steps .pick-item"));
      await onPlace(backend.url, (page) => look(page, "an empty chat", ".welcome h2"));
      await onPlace(`${backend.url}#webui:0000beef`, async (page) => {
        await look(page, "a chat", ".message.assistant");
        // What a provider answers has the length that it has.
        for (const id of paneIds().filter((each) => each !== "models")) {
          await page.evaluate(`location.hash = "#/${id}"`);
          await page.locator(`.pane-page[data-pane="${id}"]`).waitFor();
          await look(page, id, ".pane-page:not(.is-settling)");
        }
      });
      assert.deepEqual(moved, []);
    });

  pageTest("on a phone everything that can be pressed is large enough for a thumb", async () =>
    assert.deepEqual([...(await findingsOf("phone", phone)).smallTargets], []),
  );

  async function throughPanes(page: Page, note: (where: string) => Promise<void>): Promise<void> {
    const ids = paneIds();
    assert.ok(ids.length >= 6, ids.join(" "));
    for (const id of ids) {
      await openPane(page, backend.url, id);
      // What is not in sight yet cannot be reached by a keyboard either, nor what is still read.
      await page.locator(`.pane-page[data-pane="${id}"]:not(.is-settling):not(:has(.loading))`).waitFor();
      await note(`the pane ${id}`);
    }
    if (!(await isNarrow(page))) return;
    await page.getByRole("button", { name: /^Menu/ }).tap();
    await note("the settings beside a pane");
  }

  /** Everything that the chat can have open, one after the other. */
  async function throughChat(page: Page, note: (where: string) => Promise<void>): Promise<void> {
    const field = page.getByLabel("Message", { exact: true });
    const isPhone = await isNarrow(page);
    const say = async (text: string): Promise<void> => {
      await field.fill(text);
      await field.press("Enter");
    };
    await field.waitFor();
    await note("an empty chat");
    await page.goto(`${backend.url}#webui:0000beef`);
    await page.locator(".message").first().waitFor();
    await note("messages");
    await say("look around");
    await page.getByText("There is nothing special here.").last().waitFor();
    for (const fold of await page.locator(".transcript summary:visible").all()) await fold.click();
    await note("tools");
    await field.pressSequentially("/");
    await page.getByRole("option").first().waitFor();
    await note("the menu of commands");
    await field.fill("");
    await say("ask me");
    await page.locator(".question-card").waitFor();
    await note("a question");
    await page.locator(".question-card").getByRole("button", { name: "08:32" }).click();
    await page.getByText("Booked it.").last().waitFor();
    await page.getByRole("button", { name: /^Find chats/ }).click();
    await page.getByRole("combobox", { name: /^Find chats/ }).fill("question");
    await page.getByRole("group", { name: "Found in messages" }).waitFor();
    await note("the palette");
    await page.getByRole("combobox", { name: /^Find chats/ }).fill("shortcuts");
    await page.getByRole("option", { name: "Keyboard shortcuts" }).click();
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await note("the shortcuts");
    await page.keyboard.press("Escape");
    if (isPhone) await page.getByRole("button", { name: /^Menu/ }).click();
    await page.getByLabel("Search all chats").fill("question");
    await page.locator(".hits .session").first().waitFor();
    await note("the search");
    await page.getByLabel("Search all chats").fill("");
    const row = page.locator(".session", { hasText: "telegram" });
    await row.hover();
    await row.getByRole("button", { name: /^Actions/ }).click();
    await page.getByRole("menu").waitFor();
    await note("the menu of a chat");
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("dialog").waitFor();
    await note("a dialog");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    if (isPhone) await page.keyboard.press("Escape");
  }
});
