import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";
import { assertAccessible } from "../../../support/worlds/http/axe.js";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const token = "page-token";
const refusals = { expected: /the server responded with a status of 4\d\d/, token };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: "dark" } as const;

async function start(more: Record<string, unknown> = {}) {
  const model = await startFakeOpenAI({
    answer: ({ bodyText }) =>
      bodyText.includes('"role":"tool"')
        ? { text: "Done." }
        : { toolCalls: [{ id: "call_1", name: "exec", input: { command: "echo tea" } }] },
  });
  const gateway = await startGateway({
    config: openAIConfig(model.apiBase, { gateway: { token }, tools: { exec: { sandbox: "off" } }, ...more }),
  });
  const file = join(gateway.home, "config.json");
  return {
    gateway,
    file,
    url: `${gateway.gateway.pageUrl}#/tools`,
    stored: async () => JSON.parse(await readFile(file, "utf8")),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

async function addRule(page: Page, argument: string, verdict: string, who = "Everybody"): Promise<void> {
  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.getByLabel("Which one? Empty: all").fill(argument);
  await page.getByLabel("What then?").selectOption(verdict);
  await page.getByLabel("For whom?").selectOption(who);
  await page.getByRole("button", { name: "Add this rule" }).click();
  await page.getByText("The rule counts from now on.").waitFor();
}

async function tryCommand(page: Page, command: string): Promise<void> {
  await page.getByLabel("The command", { exact: true }).fill(command);
  await page.getByRole("button", { name: "Ask the policy" }).click();
}

describe("tools and rules on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  pageTest("rules are added as sentences, ordered and removed, and tried at the real policy", async () => {
    await using t = await start();
    await withPage(
      browser,
      t.url,
      async (page) => {
        await page.getByText("There are no rules.").waitFor();
        await page.getByText(/Commands run without a sandbox, because the config/).waitFor();
        await tryCommand(page, "git log -5");
        await page.getByText("It would ask first.").waitFor();
        await page.getByText("That runs without a sandbox.").waitFor();

        await addRule(page, "git *", "Allow");
        const rules = page.locator("ol.cards > li");
        await rules.getByText("Commands that begin with “git”: allowed.").waitFor();
        await tryCommand(page, "git log -5");
        await page.getByText("It would be done: a rule allows it.").waitFor();
        await addRule(page, "git *", "Never", "Owners");
        await rules.getByText("Commands that begin with “git”: never, for owners.").waitFor();
        await tryCommand(page, "git log -5");
        await page.getByText("It would be refused.").waitFor();
        await page.getByRole("button", { name: "Rule 2 up" }).click();
        await rules.first().getByText("never, for owners").waitFor();
        await tryCommand(page, "git log -5");
        await page.getByText("It would be done: a rule allows it.").waitFor();
        assert.deepEqual((await t.stored()).policy.rules, [
          { tool: "exec", argument: "git *", role: "owner", verdict: "deny" },
          { tool: "exec", argument: "git *", verdict: "allow" },
        ]);
        await addRule(page, "npm *", "Allow");
        await rules.getByText(/It allows nothing: /).waitFor();
        await assertAccessible(page);

        const config = await t.stored();
        await writeFile(t.file, JSON.stringify({ ...config, policy: { rules: [{ verdict: "ask" }] } }));
        await page.getByRole("button", { name: "Remove rule 1" }).click();
        await page.getByRole("alert").getByText("The config was changed meanwhile").waitFor();
        await rules.getByText("Everything: asks first.").waitFor();
        assert.equal(await rules.count(), 1);
        await page.getByRole("button", { name: "Remove rule 1" }).click();
        await page.getByText("There are no rules.").waitFor();
      },
      refusals,
    );
  });

  pageTest("the mode is chosen in words, and doing all without asking needs a second yes", async () => {
    await using t = await start();
    await withPage(
      browser,
      t.url,
      async (page) => {
        const card = (name: string) => page.getByRole("listitem", { name, exact: true });
        await card("Ask first").getByText("Now").waitFor();
        await card("Do it without asking").getByRole("button", { name: "Use this" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
        await card("Ask first").getByText("Now").waitFor();
        await card("Do it without asking").getByRole("button", { name: "Use this" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Do it without asking" }).click();
        await card("Do it without asking").getByText("Now").waitFor();
        assert.equal((await t.stored()).agents.defaults.executionMode, "auto");
        await tryCommand(page, "df -h");
        await page.getByText("It would just be done.").waitFor();
      },
      refusals,
    );
  });

  pageTest("what was always allowed is shown with who said it, and is asked about once it is revoked", async () => {
    await using t = await start();
    const answered = t.gateway.ask("make tea");
    const asked = await t.gateway.waitForEvent(({ type }) => type === "human_input_asked");
    assert.ok(asked.type === "human_input_asked");
    await t.gateway.gateway.api.answerQuestion({
      sessionKey: "webui:test",
      requestId: asked.payload.request_id,
      answer: "allow_always",
    });
    await answered;
    await withPage(
      browser,
      t.url,
      async (page) => {
        const card = page.getByRole("listitem", { name: "exec echo tea" });
        await card.getByText(/^For you in webui:test\. Said by you, /).waitFor();
        await card.getByRole("button", { name: "Revoke" }).click();
        await page.getByText("Nothing was allowed for always.").waitFor();
        assert.deepEqual(t.gateway.gateway.api.policy().grants, []);
      },
      refusals,
    );
  });

  pageTest("on a phone: the web tools are switched, and nothing is wider than the phone", async () => {
    await using t = await start();
    await withPage(
      browser,
      t.url,
      async (page) => {
        const row = page.getByRole("listitem", { name: "web_search", exact: true });
        await row.getByRole("switch").click();
        await row.getByRole("switch", { checked: false, disabled: false }).waitFor();
        assert.equal((await t.stored()).tools.web.search.provider, "off");
        await row.getByRole("switch").click();
        await row.getByRole("switch", { checked: true, disabled: false }).waitFor();
        const switches = page.locator(".row .switch");
        const heights = await switches.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
        assert.deepEqual(new Set(heights), new Set([44]), "what is on is said beside each switch");
        await page.getByRole("button", { name: "Add a rule" }).click();
        await assertAccessible(page);
        assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
      },
      { ...refusals, context: phone },
    );
  });

  pageTest("without a token the page says why it may not loosen anything", async () => {
    await using t = await start({ gateway: {} });
    await withPage(
      browser,
      t.url,
      async (page) => {
        await page.getByRole("button", { name: "Add a rule" }).click();
        const save = (disabled: boolean) => page.getByRole("button", { name: "Add this rule", disabled });
        await page.getByText("Every command: asks first.").waitFor();
        await save(true).waitFor();
        await page.getByLabel("Yes, this is meant for all of them").check();
        await save(false).waitFor();
        await page.getByLabel("What then?").selectOption("Allow");
        await save(true).waitFor();
        await page.getByLabel("Which one? Empty: all").fill("git *");
        await save(false).click();
        await page
          .getByRole("alert")
          .getByText(/only where gateway\.token is set/)
          .waitFor();
        assert.equal((await t.stored()).policy, undefined);
      },
      { expected: refusals.expected },
    );
  });
});
