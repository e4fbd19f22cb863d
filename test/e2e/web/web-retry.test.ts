import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/worlds/http/axe.js";
import { pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { backendOfBlock, browserOfBlock } from "../../support/worlds/http/page-block.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";
import { withoutChromium } from "../../support/worlds/needs.js";

const asked: string[] = [];
let isBroken = true;

function answer({ method, userText }: RecordedRequest): ScriptedAnswer {
  const text = userText.split("\n\n").at(-1) ?? "";
  if (method !== "GET") asked.push(text);
  if (!isBroken) return { text: `You said: ${text}` };
  return text.startsWith("busy")
    ? { status: 429, headers: { "retry-after": "120" }, body: { error: { message: "slow down" } } }
    : { status: 400, body: { error: { message: "no such thing" } } };
}

describe("failed turns on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();
  const backend = backendOfBlock({ answer });

  const onPage = (scenario: (page: Page) => Promise<void>, phone = false): Promise<void> =>
    withPage(browser(), backend().url, scenario, phone ? { context: { viewport: { width: 390, height: 844 } } } : {});

  pageTest("a failed turn is tried again with a button, the message stays one, and the line says when", () =>
    onPage(async (page) => {
      isBroken = true;
      await write(page, "which colour?");
      const line = page.locator(".notice[data-tone=error]");
      const button = line.getByRole("button", { name: "Try again" });
      await button.waitFor();
      await assertAccessible(page);
      isBroken = false;
      await button.click();
      await page.locator(".message.assistant", { hasText: "You said: which colour?" }).waitFor();
      await line.getByText(/^Tried again at /).waitFor();
      assert.equal(await button.count(), 0);
      assert.equal(await page.locator(".message.user").count(), 1);
      await page.reload();
      await page.locator(".notice", { hasText: "Tried again at" }).waitFor();
      assert.equal(await page.locator(".message.user").count(), 1);
      assert.deepEqual(asked.splice(0), ["which colour?", "which colour?"]);
    }),
  );

  pageTest("a try that is refused says why in its place", () =>
    onPage(async (page) => {
      isBroken = true;
      let isMute = false;
      // What happens meanwhile does not reach the page.
      await page.routeWebSocket(/\/ws/, (socket) => {
        const server = socket.connectToServer();
        server.onMessage((frame) => {
          if (!isMute || String(frame).includes('"response"')) socket.send(frame);
        });
      });
      await page.reload();
      await write(page, "one");
      const line = page.locator(".notice[data-tone=error]");
      await line.getByRole("button", { name: "Try again" }).waitFor();
      const key = decodeURIComponent(page.url().split("#").at(-1) ?? "");
      isMute = true;
      await retryElsewhere(backend().url, key);
      await line.getByRole("button", { name: "Try again" }).click();
      await line.getByText(/^Not tried again: .* was already tried again\.$/).waitFor();
    }),
  );

  pageTest("a turn whose provider is busy says that it is tried again by itself, until something else is written", () =>
    onPage(async (page) => {
      isBroken = true;
      await write(page, "busy one");
      await page.getByText("Will be tried again when the provider answers").waitFor();
      await assertAccessible(page);
      isBroken = false;
      await write(page, "never mind");
      await page.locator(".message.assistant", { hasText: "You said: never mind" }).waitFor();
      assert.equal(await page.getByText("Will be tried again when the provider answers").isVisible(), false);
      assert.equal(await page.locator(".notice").getByRole("button", { name: "Try again" }).isVisible(), false);
    }, true),
  );
});

async function write(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

/** Somebody else is faster. */
async function retryElsewhere(url: string, key: string): Promise<void> {
  const path = `${new URL(url).origin}/api/sessions/${encodeURIComponent(key)}`;
  const response = await fetch(`${path}/events?limit=1000`);
  const body: unknown = await response.json();
  const events = typeof body === "object" && body !== null && "events" in body ? body.events : [];
  const failed = Array.isArray(events)
    ? events.findLast(({ type }: { readonly type: string }) => type === "turn_execution_failed")
    : undefined;
  const tried = await fetch(`${path}/retry`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ turnId: String(failed?.turn_id ?? ""), messageId: "msg_elsewhere" }),
  });
  assert.equal(tried.status, 202);
}
