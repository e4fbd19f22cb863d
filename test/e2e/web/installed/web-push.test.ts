import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, CDPSession, Page, Worker } from "playwright-core";
import { isNight } from "../../../../src/web/panes/inbox/night.js";
import { until } from "../../../support/engine/engine-kit.js";
import { type FakePushService, startFakePushService } from "../../../support/fakes/push-service.js";
import { assertAccessible } from "../../../support/worlds/http/axe.js";
import { openWholeChromium, pageTest, withWorker } from "../../../support/worlds/http/chromium.js";
import { startNginx } from "../../../support/worlds/http/nginx.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium, withoutNginx } from "../../../support/worlds/needs.js";

const token = "page-token-of-twenty-characters";

/** The browser's own push service is far away: this is what it would give. */
const fakeSubscription = (json: object): string => `
  const json = ${JSON.stringify(json)};
  let current = null;
  PushManager.prototype.getSubscription = async () => current;
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    const text = atob(applicationServerKey.replaceAll("-", "+").replaceAll("_", "/"));
    const key = Uint8Array.from(text, (sign) => sign.charCodeAt(0)).buffer;
    return (current = {
      endpoint: json.endpoint,
      options: { applicationServerKey: key },
      toJSON: () => json,
      unsubscribe: async () => ((current = null), true),
    });
  };
`;

/** What the worker shows at the moment. */
const shownNow = `registration.getNotifications().then((all) => all.map(({ title, body, tag, silent, actions }) =>
  ({ title, body, tag, silent, actions: (actions ?? []).map(({ action, title }) => action + "=" + title) })))`;

const press = (action: string): string => `registration.getNotifications().then(([notification]) =>
  self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action: ${JSON.stringify(action)} })))`;

/** How often the worker has shown something, from the first time that this is asked. */
const countShows = `self.shows ??= (() => {
  const done = { count: 0 };
  const show = registration.showNotification.bind(registration);
  registration.showNotification = async (title, options) => {
    await show(title, options);
    done.count += 1;
  };
  return done;
})(), self.shows.count`;

interface Shown {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly silent: boolean;
  readonly actions: readonly string[];
}

describe("what is pushed to the page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;
  let service: FakePushService;

  before(async () => {
    browser = await openWholeChromium(["chat.example"], ["--ignore-certificate-errors"]);
    let publicKey = "";
    service = await startFakePushService(() => publicKey);
    const gateway = { token, basePath: "/assistant", trustedProxies: ["127.0.0.1"] };
    backend = await startBackend({ token, config: { gateway, tools: { web: { fetch: { allow: [service.host] } } } } });
    ({ publicKey } = Object(await (await call(backend, "GET", "api/push")).json()));
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
    await service?.[Symbol.asyncDispose]();
  });

  const onPage = (
    name: string,
    scenario: (parts: Parts) => Promise<void>,
    { phone = false, url = backend.url } = {},
  ): Promise<void> => {
    const { subscription } = service.subscribe(name);
    return withWorker(
      browser,
      url,
      async (page) => {
        await page.evaluate("navigator.serviceWorker.ready.then(() => true)");
        const [worker] = page.context().serviceWorkers();
        assert.ok(worker !== undefined);
        await scenario({ page, worker, deliver: await deliverTo(page, url) });
      },
      {
        token,
        context: {
          permissions: ["notifications"],
          ignoreHTTPSErrors: true,
          ...(phone ? { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } : {}),
        },
        onPage: (page) => page.addInitScript(fakeSubscription(subscription)),
        expected: /401|409/,
      },
    );
  };

  pageTest("turned on in the inbox, it is shown, answered by its button, and off after signing out", () =>
    onPage("desk", async ({ page, worker, deliver }) => {
      await openInbox(page);
      await page.getByLabel("Also when this page is closed").click();
      await page
        .getByRole("switch", { name: "Also when this page is closed", checked: true, disabled: false })
        .waitFor();
      await assertAccessible(page);
      // Nobody looks any more.
      await page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })");
      await page.evaluate("void document.dispatchEvent(new Event('visibilitychange'))");
      const answer = ask(backend, "ask me");
      await until("it is pushed", () => service.received.some(({ path }) => path === "/desk"), 15_000);
      const pushed = service.received.findLast(({ path }) => path === "/desk")?.text ?? "";
      await deliver(pushed);
      const [shown, ...others] = await shownBy(worker, 1);
      assert.deepEqual(others, []);
      assert.deepEqual(shown, {
        title: "A question: ask me",
        body: "Which train shall I book?",
        tag: JSON.parse(pushed).id,
        silent: isNight(new Date()),
        actions: ["1=07:05, one change in Bern", "2=08:32, direct"],
      });
      await worker.evaluate(press("2"));
      assert.match(await answer, /Booked it\./);
      await shownBy(worker, 0);

      await deliver(JSON.stringify({ ...JSON.parse(pushed), quietNights: false }));
      assert.equal((await shownBy(worker, 1))[0]?.silent, false);
      await showing(worker, () => worker.evaluate(press("1")));
      const [refusal] = await shownBy(worker, 1);
      assert.equal(refusal?.title, "Your answer was not taken");
      assert.match(refusal?.body ?? "", /closed/);

      await page.getByRole("button", { name: "Sign out", exact: true }).click();
      await page.getByRole("textbox", { name: "Token" }).waitFor();
      const seen = service.requests();
      void ask(backend, "ask me").catch(() => undefined);
      await until("it waits", async () => (await inboxOf(backend)).length === 1);
      const [waiting] = await inboxOf(backend);
      const path = `api/sessions/${encodeURIComponent(waiting?.sessionKey ?? "")}/answer`;
      const taken = await call(backend, "POST", path, { requestId: waiting?.requestId, answer: "1" });
      assert.ok(taken.ok, await taken.text());
      await until("nothing waits", async () => (await inboxOf(backend)).length === 0);
      assert.equal(service.requests(), seen);
    }),
  );

  pageTest(
    "a click brings the reader to it in the inbox, also on a phone; what says nothing is shown all the same",
    () =>
      onPage(
        "phone",
        async ({ page, worker, deliver }) => {
          await deliver("");
          assert.equal((await shownBy(worker, 1))[0]?.title, "maxclaw");
          await worker.evaluate("registration.getNotifications().then((all) => all.forEach((one) => one.close()))");
          void ask(backend, "ask me");
          await until("it waits", async () => (await inboxOf(backend)).length === 1);
          const [waiting] = await inboxOf(backend);
          assert.ok(waiting !== undefined);
          const { id, sessionKey, requestId } = waiting;
          const notice = { id, kind: "question", title: "ask me", text: "Which?", sessionKey, requestId, actions: [] };
          await deliver(JSON.stringify({ ...notice, language: "zh", quietNights: true }));
          const [shown] = await shownBy(worker, 1);
          assert.equal(shown?.title, "一个问题：ask me");
          // Only a press of a person lets a worker bring its window to the front.
          await worker.evaluate(press("")).catch(() => undefined);
          const card = page.locator(".inbox-card");
          await card.waitFor();
          await until("the card has the focus", async () => (await page.evaluate("document.activeElement.id")) === id);
          await card.getByRole("button", { name: "07:05" }).click();
          await page.getByText("Nothing waits for you.").waitFor();
        },
        { phone: true },
      ),
  );

  pageTest(
    "behind a proxy with TLS, below a path, it is turned on, shown and answered just so",
    async () => {
      await using nginx = await startNginx(new URL(backend.url).origin, "/assistant", "chat.example");
      await onPage(
        "proxy",
        async ({ page, worker, deliver }) => {
          await openInbox(page);
          await page.getByLabel("Also when this page is closed").click();
          await page
            .getByRole("switch", { name: "Also when this page is closed", checked: true, disabled: false })
            .waitFor();
          await page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })");
          await page.evaluate("void document.dispatchEvent(new Event('visibilitychange'))");
          const answer = ask(backend, "ask me");
          await until("it is pushed", () => service.received.some(({ path }) => path === "/proxy"), 15_000);
          await deliver(service.received.findLast(({ path }) => path === "/proxy")?.text ?? "");
          const [shown] = await shownBy(worker, 1);
          assert.equal(shown?.title, "A question: ask me");
          await worker.evaluate(press("2"));
          assert.match(await answer, /Booked it\./);
          await shownBy(worker, 0);
        },
        { url: nginx.whole },
      );
    },
    withoutNginx(),
  );
});

interface Parts {
  readonly page: Page;
  readonly worker: Worker;
  readonly deliver: (data: string) => Promise<void>;
}

/** As if the browser had got it from its push service. */
async function deliverTo(page: Page, url: string): Promise<(data: string) => Promise<void>> {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  const found = new Promise<string>((resolve) => {
    devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const own = registrations.find(({ scopeURL, isDeleted }) => scopeURL === url && !isDeleted);
      if (own !== undefined) resolve(own.registrationId);
    });
  });
  await devtools.send("ServiceWorker.enable");
  const registrationId = await found;
  const origin = new URL(url).origin;
  return async (data) => {
    const [worker] = page.context().serviceWorkers();
    assert.ok(worker !== undefined);
    await showing(worker, () => devtools.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data }));
  };
}

/** Resolves once `act` has made the worker show one more. Who asks for all of them meanwhile makes Chromium forget it. */
async function showing(worker: Worker, act: () => Promise<unknown>): Promise<void> {
  const before = Number(await worker.evaluate(countShows));
  await act();
  await until("it is shown", async () => Number(await worker.evaluate(countShows)) > before, 15_000);
}

async function shownBy(worker: Worker, count: number): Promise<readonly Shown[]> {
  const read = async () => (await worker.evaluate(shownNow)) as readonly Shown[];
  let shown: readonly Shown[] = [];
  const areThere = async (): Promise<boolean> => {
    shown = await read();
    return shown.length === count;
  };
  await until(`${count} notifications`, areThere, 15_000).catch((error: unknown) => {
    throw new Error(`${String(error)}; there are ${JSON.stringify(shown)}`, { cause: error });
  });
  return shown;
}

async function openInbox(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Inbox/ }).click();
  await page.getByText("Everything that waits for you").waitFor();
}

async function call({ url }: Backend, method: string, path: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return await fetch(new URL(path, url), { method, headers, ...(body && { body: JSON.stringify(body) }) });
}

async function ask(backend: Backend, content: string): Promise<string> {
  const sessionKey = `webui:${crypto.randomUUID().slice(0, 8)}`;
  return await (await call(backend, "POST", "api/message", { sessionKey, content })).text();
}

interface Waiting {
  readonly id: string;
  readonly sessionKey: string;
  readonly requestId: string;
}

async function inboxOf(backend: Backend): Promise<readonly Waiting[]> {
  const { items } = (await (await call(backend, "GET", "api/inbox")).json()) as { items: readonly Waiting[] };
  return items;
}
