import assert from "node:assert/strict";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { until } from "../../../support/engine/engine-kit.js";
import { startGateway, tempHome } from "../../../support/worlds/gateway.js";
import { assertAccessible } from "../../../support/worlds/http/axe.js";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const token = "a-token-of-the-gateway";
const written = `// My assistant.
{
  gateway: { token: '${token}' }, // keep it
  agents: { defaults: { temperature: 0.9 /* warm */ } },
  fromTheFuture: { keepMe: [1, 2], apiKey: 'words' },
  tools: { exec: { timeout: 61 } }, // slow disk
  telemetry: { headers: { 'x-key': 'collector-key-1' } },
}
`;
const sizes: readonly BrowserContextOptions[] = [
  { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  { viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true },
];
/** What the browser itself says about a refusal that the page shows in its own words. */
const refusals = { token, expected: /the server responded with a status of 4\d\d/ };

async function openPlace(text = written, env: Readonly<Record<string, string>> = {}) {
  const home = await tempHome();
  const path = join(home, "config.json");
  await writeFile(path, text, { mode: 0o600 });
  await mkdir(join(home, "workspace"), { recursive: true });
  const gateway = await startGateway({ home, env });
  return {
    home,
    path,
    page: (hash: string) => `${gateway.gateway.pageUrl}#/${hash}`,
    text: () => readFile(path, "utf8"),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

/** The group is on the page, and open. */
function group(page: Page, name: string) {
  return page.locator("details.setting-group").filter({ has: page.getByRole("heading", { name, exact: true }) });
}

async function openGroup(page: Page, name: string): Promise<void> {
  await group(page, name).locator("summary").click();
}

describe("the settings on the web page", { timeout: 240_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  for (const context of sizes)
    pageTest(`a setting is found, changed and reset; comments stay (${context.viewport?.width} wide)`, async () => {
      await using place = await openPlace();
      await withPage(
        browser,
        place.page("settings"),
        async (page) => {
          await page.getByLabel("Search the settings").fill("temperature");
          const field = page.getByLabel("Freedom in wording", { exact: true });
          assert.equal(await field.inputValue(), "0.9");
          await page.getByText("How freely the model chooses its words").waitFor();
          await page.getByText("Default: 0.7. Takes effect at once.").waitFor();
          await assertAccessible(page);
          await field.fill("warm");
          await page.getByRole("button", { name: "Save", exact: true }).click();
          await page.getByRole("alert").getByText("Type a number.").waitFor();
          await field.fill("3");
          await page.getByRole("button", { name: "Save", exact: true }).click();
          await page.getByRole("alert").getByText("“Freedom in wording” takes at most 2").waitFor();
          assert.equal(await place.text(), written);
          await field.fill("0,2");
          await page.getByRole("button", { name: "Save", exact: true }).click();
          await page.getByText("Saved. It counts now.").waitFor();
          assert.equal(await place.text(), written.replace("0.9", "0.2"));
          await page.getByRole("button", { name: "Reset Freedom in wording to its default" }).click();
          await page.getByRole("button", { name: "Reset Freedom in wording" }).waitFor({ state: "detached" });
          const now = await place.text();
          assert.doesNotMatch(now, /temperature/);
          for (const comment of ["// My assistant.", "// keep it", "/* warm */", "// slow disk"])
            assert.ok(now.includes(comment), comment);
          const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
          assert.ok(Number(wide) <= 0, "nothing is wider than the window");
        },
        { ...refusals, context },
      );
    });

  pageTest("several kinds of fields are saved at once; secrets are written and never shown", async () => {
    await using place = await openPlace();
    await withPage(
      browser,
      place.page("settings/transcription"),
      async (page) => {
        await page.getByLabel("Key for the service").fill("sk-new-secret-0123");
        await page.getByLabel("Model that listens").fill("whisper-2");
        await page.getByRole("button", { name: "Save 2 changes" }).click();
        await page.getByText("Set. It is never shown.").waitFor();
        await openGroup(page, "Commands");
        const commands = group(page, "Commands");
        await commands.getByText("From the file").waitFor();
        await commands.getByLabel("Network for commands").selectOption("off");
        await commands.getByLabel("Sandbox for commands").selectOption("required");
        await commands.getByRole("button", { name: "Save 2 changes" }).click();
        await commands.getByText("Saved. It counts after a restart.").waitFor();
        await page.getByText(/Restart the gateway\. Until then .*: .*Commands: Sandbox for commands/).waitFor();
        await commands.getByText("Waits for a restart.").waitFor();
        await openGroup(page, "Extras in chats");
        await group(page, "Extras in chats").getByRole("switch", { name: "Show that it is writing" }).click();
        await group(page, "Extras in chats").getByRole("button", { name: "Save", exact: true }).click();
        await openGroup(page, "Owners");
        await group(page, "Owners")
          .getByLabel("People who may do everything", { exact: true })
          .fill("telegram:42\n\ndiscord:7");
        await group(page, "Owners").getByRole("button", { name: "Save", exact: true }).click();
        await group(page, "Owners").getByText("Saved.").waitFor();
        await openGroup(page, "Rules for tools");
        const rules = group(page, "Rules for tools");
        await rules
          .getByLabel("What tools may do", { exact: true })
          .fill("[\n  { tool: 'exec', verdict: 'ask' },\n  oops\n]");
        await rules.getByRole("button", { name: "Save", exact: true }).click();
        await rules.getByRole("alert").getByText("“What tools may do”, line 3, column 3").waitFor();
        await rules.getByLabel("What tools may do", { exact: true }).fill("[{ tool: 'exec', verdict: 'ask' }] // mine");
        await rules.getByRole("button", { name: "Save", exact: true }).click();
        await rules.getByText("Saved. It counts now.").waitFor();
        await openGroup(page, "Monitoring");
        const headers = group(page, "Monitoring").getByLabel("Headers sent with traces", { exact: true });
        assert.equal(await headers.inputValue(), "x-key: ********");
        await headers.fill("x-key: ********\nx-more: one");
        await group(page, "Monitoring").getByRole("button", { name: "Save", exact: true }).click();
        await group(page, "Monitoring").getByText("Saved.").waitFor();
        await page.getByRole("heading", { name: "Keys that nobody knows" }).waitFor();
        await page
          .getByText(/^fromTheFuture/)
          .first()
          .waitFor();
        await page.getByText("Hidden: this is not a known setting, so its text may be a secret.").first().waitFor();
        assert.doesNotMatch(await page.content(), /sk-new-secret|collector-key-1/);
        await assertAccessible(page);
      },
      refusals,
    );
    const now = await place.text();
    assert.match(now, /"transcription": \{\s*"apiKey": "sk-new-secret-0123",\s*"model": "whisper-2"/);
    assert.match(now, /timeout: 61, "sandbox": "required", "network": "off"/);
    assert.match(now, /"typing": false/);
    assert.match(now, /"owners": \[\s*"telegram:42",\s*"discord:7"\s*\]/);
    assert.match(now, /'x-key': 'collector-key-1', "x-more": "one"/);
    assert.match(now, /fromTheFuture: \{ keepMe: \[1, 2\], apiKey: 'words' \}/);
    assert.match(now, /\/\/ slow disk/);
  });

  pageTest("a file that was changed in an editor meanwhile is not overwritten, and what was typed stays", async () => {
    await using place = await openPlace();
    await withPage(
      browser,
      place.page("settings/inbound"),
      async (page) => {
        const field = page.getByLabel("Messages of one person", { exact: true });
        await page.setViewportSize({ width: 1280, height: 420 });
        await field.evaluate((one) => one.scrollIntoView({ block: "end" }));
        await field.fill("9");
        await page.locator(".settings-save").waitFor();
        const isClear = async () => {
          const [typed, bar] = [await field.boundingBox(), await page.locator(".settings-save").boundingBox()];
          return typed !== null && bar !== null && typed.y + typed.height <= bar.y;
        };
        await until("the bar covers nothing of what is typed", isClear);
        const byHand = written
          .replace("slow disk", "very slow disk")
          .replace("61", "99")
          .replace("telemetry:", "inbound: { senderPerMinute: 7 },\n  telemetry:");
        await writeFile(place.path, byHand);
        await page.getByRole("button", { name: "Save", exact: true }).click();
        await page.getByText("Somebody has changed the file meanwhile.").waitFor();
        assert.equal(await place.text(), byHand);
        assert.equal(await field.inputValue(), "9");
        await page.getByText("In the file now: 7.").waitFor();
        await page.setViewportSize({ width: 1280, height: 600 });
        await until("the bar covers nothing of it", isClear);
        await page.getByRole("button", { name: "Save", exact: true }).click();
        await page.getByText("Saved. It counts now.").waitFor();
        assert.match(await place.text(), /99[\s\S]*very slow disk[\s\S]*senderPerMinute: 9/);
      },
      refusals,
    );
  });

  pageTest("a broken file is told with its line, and nothing is offered that could destroy it", async () => {
    await using place = await openPlace();
    await withPage(
      browser,
      place.page("settings"),
      async (page) => {
        await page.getByRole("heading", { name: "The assistant" }).waitFor();
        const broken = written.replace("'x-key':", "'x-key'");
        await writeFile(place.path, broken);
        await page.reload();
        await page.getByText(/cannot be read, line 7, column \d+: .*The gateway goes on with the settings/).waitFor();
        assert.equal(await page.locator("main").getByRole("textbox").count(), 0);
        assert.equal(await page.getByRole("button", { name: /Save|Reset/ }).count(), 0);
        await assertAccessible(page);
        await writeFile(place.path, written);
        await page.getByRole("button", { name: "Look again" }).click();
        await page.getByRole("heading", { name: "The assistant" }).waitFor();
      },
      refusals,
    );
    assert.equal(await place.text(), written);
  });

  pageTest(
    "what cannot be changed is shown with the reason: read-only, from the environment, without a token",
    async () => {
      await using place = await openPlace(written, { MAXCLAW_TOKEN: token });
      await chmod(place.path, 0o400);
      await withPage(
        browser,
        place.page("settings/gateway"),
        async (page) => {
          await page.getByText("is read-only, so nothing can be changed here").waitFor();
          await page.getByText("From the environment: MAXCLAW_TOKEN").waitFor();
          await page.getByText("The variable MAXCLAW_TOKEN of the environment counts").waitFor();
          assert.equal(await page.getByLabel("Port of the gateway", { exact: true }).isDisabled(), true);
        },
        refusals,
      );
      await using open = await openPlace("{}");
      await withPage(browser, open.page("settings/owners"), async (page) => {
        await page.getByText("only where the gateway has a token").waitFor();
        assert.equal(await page.getByLabel("People who may do everything", { exact: true }).isDisabled(), true);
        await page.getByLabel("Search the settings").fill("log level");
        await page.getByLabel("How much is logged").selectOption("warn");
        await page.getByRole("button", { name: "Save", exact: true }).click();
        await page.getByText("Saved. It counts after a restart.").waitFor();
      });
      assert.deepEqual(JSON.parse(await open.text()), { log: { level: "warn" } });
    },
  );

  for (const context of sizes)
    pageTest(`budgets are set, changed and removed beside what is used (${context.viewport?.width} wide)`, async () => {
      await using place = await openPlace("// mine\n{ budgets: { day: { turns: 20 } } }\n");
      await withPage(
        browser,
        place.page("budgets"),
        async (page) => {
          await page.getByText(/Today so far: \$0\.00/).waitFor();
          await page.getByText("0 messages of 20 messages used").waitFor();
          const day = page
            .locator("section.pane-section")
            .filter({ has: page.getByRole("heading", { name: "Everything, each day" }) });
          await day.getByLabel("Cost a day", { exact: true }).fill("5");
          await day.getByLabel("Messages a day", { exact: true }).fill("");
          await day.getByRole("button", { name: "Save 2 changes" }).click();
          await day.getByText("Saved. It counts now.").waitFor();
          await day.getByText("$0.00 of $5.00 used").waitFor();
          await assertAccessible(page);
          await day.getByRole("button", { name: "Reset Cost a day to its default" }).click();
          await day.getByText("$0.00 of $5.00 used").waitFor({ state: "detached" });
        },
        { context },
      );
      assert.match(await place.text(), /^\/\/ mine\n\{ budgets: \{ day: \{\s*\} \} \}\n$/);
    });

  pageTest("the assistant: its files are edited, and never over somebody else's change", async () => {
    await using place = await openPlace();
    const soul = join(place.home, "workspace", "SOUL.md");
    await writeFile(soul, "Be kind.\n");
    await withPage(
      browser,
      place.page("agents"),
      async (page) => {
        await page.getByRole("button", { name: "Edit SOUL.md" }).click();
        const text = page.getByLabel("Text of SOUL.md");
        assert.equal(await text.inputValue(), "Be kind.\n");
        await assertAccessible(page);
        await text.fill("Be brief.\n");
        await page.getByRole("button", { name: "Save", exact: true }).click();
        await page.locator(".field-hint").getByText("Saved. The next message counts with it.").waitFor();
        assert.equal(await readFile(soul, "utf8"), "Be brief.\n");
        await writeFile(soul, "By hand.\n");
        await text.fill("Be loud.\n");
        await page.getByRole("button", { name: "Save", exact: true }).click();
        await page.getByText("SOUL.md has changed meanwhile. Nothing was written.").waitFor();
        assert.equal(await readFile(soul, "utf8"), "By hand.\n");
        await page.getByRole("button", { name: "Read it again" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Read it again" }).click();
        await page.getByText("Not saved yet.").waitFor({ state: "detached" });
        assert.equal(await text.inputValue(), "By hand.\n");
        await rm(soul);
        await text.fill("Be gone.\n");
        await page.getByRole("button", { name: "Save", exact: true }).click();
        await page.getByText("SOUL.md has changed meanwhile. Nothing was written.").waitFor();
        await page.getByRole("listitem").filter({ has: text }).getByText("empty", { exact: true }).waitFor();
        await page.getByRole("button", { name: "Read it again" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Read it again" }).click();
        await page.getByText("Not saved yet.").waitFor({ state: "detached" });
        await page.getByLabel("Model calls for one message", { exact: true }).fill("7");
        await page.getByRole("button", { name: "Save", exact: true }).last().click();
        await page.getByText("Saved. It counts now.").waitFor();
      },
      refusals,
    );
    assert.match(await place.text(), /"maxToolIterations": 7/);
  });
});
