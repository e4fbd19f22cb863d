import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { until } from "../../../support/engine/engine-kit.js";
import { readQrCode } from "../../../support/qr-code.js";
import { openChromium, pageTest } from "../../../support/worlds/http/chromium.js";
import { type Nginx, startNginx } from "../../../support/worlds/http/nginx.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium, withoutNginx } from "../../../support/worlds/needs.js";

const token = "page-token-of-twenty-characters";
const phone = {
  userAgent:
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/604.1",
  viewport: { width: 390, height: 844 },
  hasTouch: true,
};

describe("the page behind a proxy", { timeout: 180_000, skip: withoutChromium() || withoutNginx() }, () => {
  let browser: Browser;
  let backend: Backend;
  let nginx: Nginx;
  const contexts: BrowserContext[] = [];

  const open = async (url: string, more: object = {}): Promise<Page> => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, ...more });
    contexts.push(context);
    return await openIn(context, url);
  };
  const openIn = async (context: BrowserContext, url: string): Promise<Page> => {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(url);
    return page;
  };

  before(async () => {
    browser = await openChromium(["chat.example"]);
    const gateway = { token, basePath: "/assistant", trustedProxies: ["127.0.0.1"] };
    backend = await startBackend({ token, config: { gateway } });
    nginx = await startNginx(new URL(backend.url).origin, "/assistant", "chat.example");
  });
  after(async () => {
    for (const context of contexts) await context.close();
    await browser?.close();
    await nginx?.[Symbol.asyncDispose]();
    await backend?.stop();
  });

  for (const how of ["whole", "stripped"] as const)
    pageTest(`signs in, chats and stays signed in below a path that the proxy passes on ${how}`, async () => {
      const url = nginx[how];
      const page = await open("about:blank");
      page.on("request", (request) => assert.ok(request.url().startsWith(url.slice(0, -1)), request.url()));
      page.on("websocket", (socket) => assert.equal(socket.url(), `${url.replace("https", "wss")}ws`));
      await page.goto(url.slice(0, -1));
      assert.equal(page.url().split("#")[0], url, "the path gets its slash");
      await signIn(page);
      const startOf = async (name: string): Promise<number | undefined> =>
        (await page.getByRole("button", { name, exact: true }).boundingBox())?.x;
      assert.equal(await startOf("Devices"), await startOf("Archived chats"), "below each other");
      await send(page, "greet me");
      await page.locator(".message.assistant .markdown").filter({ hasText: "friend" }).waitFor();
      const [cookie, ...others] = await page.context().cookies();
      assert.deepEqual(others, []);
      const { name = "", path, httpOnly, secure, sameSite, value = "", expires = 0 } = cookie ?? {};
      assert.deepEqual(
        { path, httpOnly, secure, sameSite },
        { path: "/assistant", httpOnly: true, secure: true, sameSite: "Strict" },
      );
      assert.match(value, /^[\w-]{43}$/);
      assert.match(name, /^__Secure-maxclaw-\d+$/);
      assert.ok(expires * 1000 - Date.now() > 89 * 86_400_000);
      assert.equal(
        await page.evaluate("document.cookie + JSON.stringify([{ ...sessionStorage }, { ...localStorage }])"),
        "[{},{}]",
      );
      await page.reload();
      await page.locator(".message.assistant .markdown").filter({ hasText: "friend" }).waitFor();
      await page.getByRole("button", { name: "Sign out", exact: true }).click();
      await page.getByRole("textbox", { name: "Token" }).waitFor();
      assert.deepEqual(await page.context().cookies(), []);
    });

  pageTest("a cookie that was given over TLS is not sent without it", async () => {
    const page = await open(nginx.whole);
    await signIn(page);
    const plain = await openIn(page.context(), nginx.plain);
    const [request] = await Promise.all([
      plain.waitForRequest(/\/api\/status$/),
      plain.reload(),
      plain.getByRole("textbox", { name: "Token" }).waitFor(),
    ]);
    assert.equal((await request.allHeaders()).cookie, undefined);
  });

  pageTest("a phone gets in by the picture, once; signed out elsewhere, it loses everything at once", async () => {
    const desk = await open(nginx.whole);
    await signIn(desk);
    await desk.getByRole("button", { name: "Devices" }).click();
    const dialog = desk.getByRole("dialog", { name: "Devices" });
    await dialog.getByText("this device").waitFor();
    await dialog.getByRole("button", { name: "Add a phone" }).click();
    await dialog.getByRole("img", { name: "QR code of the invitation" }).waitFor();
    assert.equal(await dialog.getByText("gateway.publicUrl").count(), 0, "others can open the link");
    const link = await dialog.getByLabel("Link of the invitation").inputValue();
    assert.equal(readQrCode(await squaresOf(desk)), link);
    assert.match(link, new RegExp(`^${nginx.whole}#join=[\\w-]{22}$`));

    const mobile = await open(link, phone);
    await mobile.getByLabel("Message", { exact: true }).waitFor();
    assert.doesNotMatch(mobile.url(), /join/);
    await send(mobile, "greet me");
    await mobile.locator(".message.assistant .markdown").filter({ hasText: "friend" }).waitFor();
    await dialog.getByText("Safari on iPhone is signed in now.").waitFor();
    assert.doesNotMatch(await nginx.log(), /join=/, "the code is in no log");

    const second = await open(link, phone);
    await second.getByText("This invitation is used or too old.").waitFor();

    await dialog.getByRole("button", { name: "Rename Safari on iPhone" }).click();
    await desk.getByRole("textbox", { name: "Name" }).fill("My phone");
    await desk.getByRole("button", { name: "Rename", exact: true }).click();
    const other = await openIn(mobile.context(), nginx.whole);
    await other.getByLabel("Message", { exact: true }).fill("hidden in the other tab");
    await mobile.getByLabel("Message", { exact: true }).fill("not for others");
    await until("it is kept", async () => (await draftsOf(mobile)).length >= 1);
    await dialog.getByRole("button", { name: "Sign out My phone" }).click();
    await desk.getByRole("dialog", { name: "Sign out My phone?" }).getByRole("button", { name: "Sign out" }).click();
    await mobile.getByRole("textbox", { name: "Token" }).waitFor();
    assert.equal(await mobile.locator(".message, .session-open").count(), 0);
    await other.getByRole("textbox", { name: "Token" }).waitFor();
    assert.deepEqual(await draftsOf(mobile), []);
    await signIn(other);
    assert.equal(
      await other.getByLabel("Message", { exact: true }).inputValue(),
      "",
      "who is next finds nothing of it",
    );
    await dialog.getByText("My phone").waitFor({ state: "detached" });
  });

  pageTest("who has only been away for too long still has what was not sent", async () => {
    const page = await open(nginx.whole);
    await signIn(page);
    await page.getByLabel("Message", { exact: true }).fill("half a thought");
    await until("it is kept", async () => (await draftsOf(page)).length === 1);
    await page.context().clearCookies();
    await page.reload();
    await page.getByRole("textbox", { name: "Token" }).waitFor();
    await signIn(page);
    await until("it is back", async () => {
      return (await page.getByLabel("Message", { exact: true }).inputValue()) === "half a thought";
    });
  });

  pageTest("who has not sent something is asked before they sign out; anybody else is not", async () => {
    const page = await open(nginx.whole);
    await signIn(page);
    const field = page.getByLabel("Message", { exact: true });
    const signOut = page.getByRole("button", { name: "Sign out", exact: true });
    const question = page.getByRole("dialog", { name: "Sign out here?" });
    await signOut.waitFor();
    await field.fill("half a thought");
    await signOut.click();
    await question.getByText("What you have written here and not sent will be gone.").waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await field.inputValue(), "half a thought");
    await signOut.click();
    await question.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("textbox", { name: "Token" }).waitFor();
    await signIn(page);
    assert.equal(await field.inputValue(), "");
    await signOut.click();
    await page.getByRole("textbox", { name: "Token" }).waitFor();
  });

  pageTest("two tabs of one browser sign out together, and either may ask first", async () => {
    const first = await open(nginx.whole);
    await signIn(first);
    const second = await openIn(first.context(), nginx.whole);
    const signOut = (page: Page) => page.getByRole("button", { name: "Sign out", exact: true });
    await signOut(second).waitFor();
    await signOut(first).click();
    for (const page of [first, second]) await page.getByRole("textbox", { name: "Token" }).waitFor();
    await signIn(second);
    await second.getByLabel("Message", { exact: true }).waitFor();
    // Whoever comes back to the other tab is in there too.
    await first.evaluate('window.dispatchEvent(new Event("focus"))');
    await first.getByRole("dialog").waitFor({ state: "detached" });
    await signOut(first).waitFor();
  });
});

/** What the browser keeps of what was written and not sent. */
async function draftsOf(page: Page): Promise<readonly string[]> {
  return await page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("maxclaw " + new URL(".", document.baseURI).pathname);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const all = opening.result.transaction("drafts").objectStore("drafts").getAll();
      all.onsuccess = () => resolve(all.result.map(({ text }) => text));
      opening.result.close();
    };
  })`);
}

async function signIn(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Token" }).fill(token);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

async function send(page: Page, text: string): Promise<void> {
  const field = page.getByLabel("Message", { exact: true });
  await field.fill(text);
  await field.press("Enter");
}

/** The squares of the picture, as they are drawn. */
async function squaresOf(page: Page): Promise<readonly (readonly boolean[])[]> {
  const size = Number((await page.locator(".qr").getAttribute("viewBox"))?.split(" ")[2]);
  const drawn = (await page.locator(".qr path").getAttribute("d")) ?? "";
  const dark = new Set([...drawn.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x} ${y}`));
  const places = Array.from({ length: size }, (_, at) => at);
  return places.map((y) => places.map((x) => dark.has(`${x} ${y}`)));
}
