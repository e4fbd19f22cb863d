import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startFakeOAuth } from "../../../support/fakes/mcp/fake-oauth.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";
import { assertAccessible } from "../../../support/worlds/http/axe.js";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { withoutChromium } from "../../../support/worlds/needs.js";
import { badServer } from "../../../support/worlds/tools/mcp.js";

const token = "page-token";
const refusals = { expected: /the server responded with a status of 4\d\d/, token, limitMs: 30_000 };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: "dark" } as const;

async function start(mcpServers: Record<string, unknown> = {}) {
  const model = await startFakeOpenAI({ answer: { text: "Noted." } });
  const gateway = await startGateway({
    config: openAIConfig(model.apiBase, { gateway: { token }, tools: { mcpServers } }),
  });
  const file = join(gateway.home, "config.json");
  return {
    gateway,
    file,
    url: `${gateway.gateway.pageUrl}#/mcp`,
    servers: async () => JSON.parse(await readFile(file, "utf8")).tools.mcpServers,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

function cardOf(page: Page, name: string) {
  return page.getByRole("listitem", { name, exact: true });
}

describe("MCP servers on the web page", { timeout: 200_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  pageTest("a command is tried before it is saved; its tools are switched, it is changed and removed", async () => {
    await using t = await start();
    await withPage(
      browser,
      t.url,
      async (page) => {
        const { command, args } = badServer("good");
        await page.getByText("No server is set up yet.").waitFor();
        await page.getByRole("button", { name: "Add a server" }).click();
        const save = page.getByRole("button", { name: "Test and save" });
        await page.getByLabel("Name", { exact: true }).fill("../evil");
        await page.waitForLoadState("networkidle");
        assert.equal(await page.getByText(/only where the gateway has a token/).count(), 0, "it has one");
        await page.getByLabel("The command").fill("no-such-program-1");
        await save.click();
        await page.getByRole("alert").getByText("A name begins with a letter or digit").waitFor();
        await page.getByLabel("Name", { exact: true }).fill("notes");
        await save.click();
        await page
          .getByRole("alert")
          .getByText(/It cannot be used: .*no-such-program-1/)
          .waitFor();
        assert.deepEqual(await t.servers(), {});
        await page.getByLabel("The command").fill(command);
        await page.getByLabel("Its arguments, one in each line").fill(args.join("\n"));
        await page.getByRole("button", { name: "Add one" }).click();
        await page.getByLabel("Name 1").fill("API_KEY");
        await page.getByLabel("Value of API_KEY").fill("very-secret-value");
        await assertAccessible(page);
        await save.click();
        await page.getByText("notes works with 3 tools. It is saved, and connects now.").waitFor();
        assert.deepEqual((await t.servers()).notes, {
          command,
          args,
          env: { API_KEY: "very-secret-value" },
          trusted: false,
        });
        const card = cardOf(page, "notes");
        await card.getByText(/^Connected since /).waitFor();
        await card.getByText("3 tools").click();
        await card.getByRole("switch", { name: "die is on" }).click();
        await card.getByRole("switch", { name: "die is on", checked: false, disabled: false }).waitFor();
        assert.deepEqual((await t.servers()).notes.disabledTools, ["die"]);

        await card.getByRole("button", { name: "Change" }).click();
        await card.getByText("Empty: the value that is there stays.").waitFor();
        assert.doesNotMatch(await page.content(), /very-secret/);
        await card.getByLabel(/Believe what it says/).check();
        const config = await readFile(t.file, "utf8");
        await writeFile(t.file, config.replace('"gateway":', '"heartbeat": { "enabled": false }, "gateway":'));
        await card.getByRole("button", { name: "Save without a test" }).click();
        await card
          .getByRole("alert")
          .getByText(/was changed meanwhile, so nothing was saved/)
          .waitFor();
        assert.equal((await t.servers()).notes.trusted, false);
        await card.getByRole("button", { name: "Test and save" }).click();
        await card.getByText("notes works with 3 tools. It is saved, and connects now.").waitFor();
        const { notes } = await t.servers();
        assert.deepEqual([notes.trusted, notes.env], [true, { API_KEY: "very-secret-value" }]);

        await card.getByRole("button", { name: "Test", exact: true }).click();
        await card.getByText("It was connected to once: it works, and has 3 tools.").waitFor();
        await card.getByRole("switch", { name: "notes is on" }).click();
        await card.getByText("Switched off.").waitFor();
        await card.getByRole("button", { name: "Remove", exact: true }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
        await page.getByText("No server is set up yet.").waitFor();
        assert.equal(await page.getByText(/It is saved, and connects now/).count(), 0, "that is over");
        assert.deepEqual(await t.servers(), {});
        await page.getByRole("button", { name: "Add a server" }).click();
        await page.getByLabel("Name").fill("typed");
        await page.getByRole("button", { name: "Add a server" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
        assert.equal(await page.getByLabel("Name").inputValue(), "typed");
        await page.getByRole("button", { name: "Add a server" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
        await page.getByLabel("Name").waitFor({ state: "detached" });
      },
      refusals,
    );
  });

  pageTest("on a phone: a server that fails says since when and why, one that hangs is given up", async () => {
    await using t = await start({ dead: badServer("dead") });
    await withPage(
      browser,
      t.url,
      async (page) => {
        const card = cardOf(page, "dead");
        await card.getByText(/^It cannot be reached since .*: .*the database is on fire/).waitFor();
        await card.getByRole("button", { name: "Test" }).click();
        await card
          .getByRole("alert")
          .getByText(/the database is on fire/)
          .waitFor();
        await page.getByRole("button", { name: "Add a server" }).click();
        const { command, args } = badServer("mute");
        await page.getByLabel("Name", { exact: true }).fill("mute");
        await page.getByLabel("The command").fill(command);
        await page.getByLabel("Its arguments, one in each line").fill(args.join("\n"));
        await page.getByRole("button", { name: "Test and save" }).click();
        await page
          .getByRole("alert")
          .getByText(/took more than \d+ s/)
          .waitFor();
        assert.deepEqual(Object.keys(await t.servers()), ["dead"]);
        await assertAccessible(page);
        assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
      },
      { ...refusals, context: phone },
    );
  });

  pageTest("a person logs in where a server wants it, with the address that their browser could not open", async () => {
    await using oauth = await startFakeOAuth();
    await using t = await start();
    await withPage(
      browser,
      t.url,
      async (page) => {
        await page.getByRole("button", { name: "Add a server" }).click();
        await page.getByLabel("Name", { exact: true }).fill("guarded");
        await page.getByLabel("How is it reached?").selectOption("An address");
        await page.getByLabel("The address", { exact: true }).fill(oauth.url);
        await page.getByRole("button", { name: "Test and save" }).click();
        await page
          .getByRole("alert")
          .getByText(/needs a login/)
          .waitFor();
        await page.getByRole("button", { name: "Save without a test" }).click();
        const card = cardOf(page, "guarded");
        await card.getByText(/needs a login/).waitFor();
        await card.getByRole("button", { name: "Log in" }).click();
        const link = card.getByRole("link", { name: "Open the page of the login" });
        const address = (await link.getAttribute("href")) ?? "";
        await assertAccessible(page);
        const sent = await fetch(address, { redirect: "manual" });
        const field = card.getByLabel(/^The address at the end/);
        await field.fill("https://elsewhere.test/");
        await card.getByRole("button", { name: "Finish" }).click();
        await card
          .getByRole("alert")
          .getByText(/That is not the address that the login led to/)
          .waitFor();
        await field.fill(sent.headers.get("location") ?? "");
        await card.getByRole("button", { name: "Finish" }).click();
        await card.getByText("You are logged in.").waitFor();
        await card.getByText(/^Connected since /).waitFor();
      },
      refusals,
    );
  });
});
