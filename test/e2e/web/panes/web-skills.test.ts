import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";
import { assertAccessible } from "../../../support/worlds/http/axe.js";
import { pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { browserOfBlock } from "../../../support/worlds/http/page-block.js";
import { withoutChromium } from "../../../support/worlds/needs.js";
import { zipOf } from "../../../support/zip.js";

const refusals = { expected: /the server responded with a status of 4\d\d/ };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: "dark" } as const;
const doc = (text: string): string => `---\nname: tea\ndescription: How to make tea.\n---\n\n${text}\n`;

async function start() {
  const model = await startFakeOpenAI({ answer: { text: "The tea is ready." } });
  const gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const skills = join(gateway.workspace, "skills");
  return {
    model,
    skills,
    url: `${gateway.gateway.pageUrl}#/skills`,
    put: async (name: string, text: string) => {
      await mkdir(join(skills, name), { recursive: true });
      await writeFile(join(skills, name, "SKILL.md"), text);
    },
    read: (name: string) => readFile(join(skills, name, "SKILL.md"), "utf8"),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

function cardOf(page: Page, name: string) {
  return page.getByRole("listitem", { name, exact: true });
}

describe("skills on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();

  pageTest(
    "a skill is written, refused while it is broken, tried in a new chat, switched off and deleted",
    async () => {
      await using t = await start();
      await withPage(
        browser(),
        t.url,
        async (page) => {
          await cardOf(page, "weather").getByText("Comes with maxclaw").waitFor();
          await page.getByRole("button", { name: "New skill" }).click();
          await page.getByLabel("Name", { exact: true }).fill("../tea");
          await page.getByRole("button", { name: "Write it" }).click();
          await page.getByRole("alert").getByText('"../tea" is not a valid skill name').waitFor();
          await page.getByLabel("Name", { exact: true }).fill("tea");
          await page.getByLabel("When is it to be used?").fill("How to make tea.");
          await page.getByRole("button", { name: "Write it" }).click();
          const text = page.getByLabel("The text of tea");
          await text.waitFor();
          const written = await text.inputValue();
          assert.match(written, /^---\nname: tea\ndescription: "How to make tea\."\n---\n/);

          const save = page.getByRole("button", { name: "Save" });
          // Nothing is to be saved yet.
          await page.getByRole("button", { name: "Save", disabled: true }).waitFor();
          await text.fill(written.replace("name: tea", "name: [tea"));
          await save.click();
          await page
            .getByRole("alert")
            .getByText(/tea was not saved\. Its front matter cannot be read/)
            .waitFor();
          assert.equal(await t.read("tea"), written);
          // A text area takes a second for each megabyte on a slow machine.
          await text.fill("x".repeat(600 * 1024));
          await save.click();
          await page.getByRole("alert").getByText("It has 600 kB. A skill may have 512 kB.").waitFor();
          await text.fill(doc("Boil water first. See [the list](list.md)."));
          await save.click();
          await page.getByText("Saved. The next message uses it.").waitFor();
          await page.getByText("It names list.md, which is not beside it.").waitFor();
          assert.match(await t.read("tea"), /Boil water first/);
          await assertAccessible(page);

          await page.getByLabel("What should the assistant do with it?").fill("Make a cup.");
          await page.getByRole("button", { name: "Try it" }).click();
          await page.getByRole("article").getByText("The tea is ready.").waitFor();
          assert.match(t.model.requests.at(-1)?.userText ?? "", /Boil water first/);
          assert.match(t.model.requests.at(-1)?.userText ?? "", /@skill:tea Make a cup\./);

          await page.goto(t.url);
          const card = cardOf(page, "tea");
          await card.getByRole("switch", { name: "tea is on" }).click();
          await card.getByRole("switch", { checked: false, disabled: false }).waitFor();
          assert.match(await readFile(join(t.skills, "..", ".skills_state.json"), "utf8"), /"tea": false/);
          await card.getByRole("button", { name: "Open tea" }).click();
          await page.getByText("It is off. Switch it on to try it.").waitFor();
          await page.getByRole("button", { name: "Delete" }).click();
          const dialog = page.getByRole("dialog");
          await dialog.getByText(join(t.skills, "tea", "SKILL.md")).waitFor();
          await dialog.getByRole("button", { name: "Delete" }).click();
          await cardOf(page, "weather").waitFor();
          await card.waitFor({ state: "detached" });
        },
        refusals,
      );
    },
  );

  pageTest("two tabs that write one skill: the second one is told, and loses nothing", async () => {
    await using t = await start();
    await t.put("tea", doc("Boil water."));
    await withPage(
      browser(),
      `${t.url}/tea`,
      async (page) => {
        const text = page.getByLabel("The text of tea");
        await text.fill(doc("From this tab."));
        await t.put("tea", doc("From another tab."));
        await page.getByRole("button", { name: "Save" }).click();
        const told = page.getByRole("alert").filter({ hasText: "The file was changed meanwhile" });
        await told.waitFor();
        assert.match(await t.read("tea"), /another tab/);
        assert.match(await text.inputValue(), /this tab/);
        await told.getByRole("button", { name: "Save mine" }).click();
        await page.getByText("Saved. The next message uses it.").waitFor();
        assert.match(await t.read("tea"), /this tab/);

        await text.fill(doc("Once more from this tab."));
        await t.put("tea", doc("From another tab again."));
        await page.getByRole("button", { name: "Save" }).click();
        await told.getByRole("button", { name: "Show what is there now" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Show what is there now" }).click();
        await told.waitFor({ state: "detached" });
        assert.equal(await text.inputValue(), doc("From another tab again."));
      },
      refusals,
    );
  });

  pageTest("on a phone: what is wrong is named, and what changes on the disk shows up by itself", async () => {
    await using t = await start();
    await t.put("broken", "---\nname: [x\n---\nText.\n");
    await t.put("huge", "x".repeat(1_100_000));
    await withPage(
      browser(),
      t.url,
      async (page) => {
        await cardOf(page, "broken")
          .getByText(/Its front matter cannot be read/)
          .waitFor();
        await page.getByText(/huge.*larger than 1 MB/).waitFor();
        await assertAccessible(page);
        await t.put("tea", doc("Boil water."));
        await cardOf(page, "tea").getByText("How to make tea.").waitFor();
        await rm(join(t.skills, "tea"), { recursive: true });
        await cardOf(page, "tea").waitFor({ state: "detached" });
        const width = await page.evaluate("document.documentElement.scrollWidth");
        assert.equal(width, 390, "nothing is wider than the phone");
      },
      { context: phone },
    );
  });

  pageTest("a zip of the reader is installed, and replaces what is there only after a question", async () => {
    await using t = await start();
    await withPage(
      browser(),
      t.url,
      async (page) => {
        await page.getByRole("button", { name: "Install" }).click();
        const form = page.locator(".form");
        const install = form.getByRole("button", { name: "Install" });
        await install.click();
        await form.getByRole("alert").getByText("Say where it is, or choose a file.").waitFor();
        await form.getByLabel("Where is it?").fill("/nowhere/at/all");
        await install.click();
        await form
          .getByRole("alert")
          .getByText(/is not a folder, a zip, a \.md file or a git address/)
          .waitFor();
        await form.getByLabel("Where is it?").fill("");
        const choose = (text: string) =>
          form.getByLabel("Or a zip or .md file of this device").setInputFiles({
            name: "tea.zip",
            mimeType: "application/zip",
            buffer: zipOf([{ name: "SKILL.md", content: doc(text) }]),
          });
        await choose("Boil water.");
        await install.click();
        await form.getByText("Installed: tea.").waitFor();
        await cardOf(page, "tea").getByText("From your workspace").waitFor();
        await choose("Boil it twice.");
        await install.click();
        await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
        assert.match(await t.read("tea"), /Boil water/);
        await install.click();
        await page.getByRole("dialog").getByRole("button", { name: "Replace" }).click();
        await form.getByText("Installed: tea.").waitFor();
        assert.match(await t.read("tea"), /Boil it twice/);
      },
      refusals,
    );
  });

  pageTest("changing a skill that comes with maxclaw makes a copy, and deleting that brings it back", async () => {
    await using t = await start();
    await withPage(browser(), `${t.url}/weather`, async (page) => {
      await page.getByText("This one comes with maxclaw.").waitFor();
      const text = page.getByLabel("The text of weather");
      await text.fill(`${await text.inputValue()}\nSay it in Fahrenheit.\n`);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText(/Saved as your own copy/).waitFor();
      assert.match(await t.read("weather"), /Fahrenheit\.\n$/);
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await cardOf(page, "weather").getByText("Comes with maxclaw").waitFor();
    });
  });
});
