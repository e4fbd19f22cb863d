// Run: npm install --save-dev maxclaw && node --test
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { loadExtensionTools } from "maxclaw";
import { MyChat } from "./my-chat.mjs";

const tools = await loadExtensionTools();

/** The platform, as far as the channel uses it. `updates` are what people do there. */
async function openPlatform() {
  /** @type {{ call: string, body: any }[]} */
  const calls = [];
  /** @type {object[]} */
  const updates = [];
  const server = createServer(async (request, response) => {
    const address = new URL(request.url ?? "/", "http://localhost");
    if (request.headers.authorization !== "Bearer right") return void response.writeHead(401).end();
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (address.pathname === "/updates") {
      const news = updates.slice(Number(address.searchParams.get("after")));
      // Nothing new: the call stays open.
      if (news.length > 0 || address.searchParams.get("wait") === "0") response.end(JSON.stringify({ updates: news }));
      return;
    }
    calls.push({ call: address.pathname, body: JSON.parse(Buffer.concat(chunks).toString()) });
    response.end(JSON.stringify({ id: `m${calls.length}` }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    apiRoot: `http://127.0.0.1:${port}`,
    calls,
    updates,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A context as the gateway gives it. @param {import("maxclaw").Press} [press] @returns {import("maxclaw").OwnChannelContext} */
function context(press = async () => ({ status: "taken", text: "Yes" })) {
  const kept = new Map();
  return {
    cursor: async () => undefined,
    press,
    records: {
      get: (id) => kept.get(id),
      put: async (id, value) => void kept.set(id, value),
      delete: async (id) => void kept.delete(id),
      list: () => [...kept].map(([id, value]) => ({ id, value })),
    },
  };
}

/** @param {import("maxclaw").OwnChannelContext} own @param {string} apiRoot */
const open = (own, apiRoot, token = "right") => new MyChat({ apiRoot, token, busyRetryMs: 10 }, own, tools);

test("passes on what people write and press, and says it to the platform", async (t) => {
  const platform = await openPlatform();
  t.after(platform.close);
  platform.updates.push({ n: 1, kind: "message", id: "u1", chat: "ann", from: "ann", text: "hello" });
  platform.updates.push({ n: 2, kind: "press", id: "u2", chat: "ann", from: "ann", text: "ask_1:1" });
  const stop = new AbortController();
  /** @type {string[]} */
  const seen = [];
  const all = new Promise((resolve) => {
    const note = (/** @type {string} */ what) => void (seen.push(what) === 2 && resolve(undefined));
    const own = context(async ({ value }) => {
      note(`pressed ${value}`);
      return { status: "taken", text: "Yes" };
    });
    const running = open(own, platform.apiRoot).run(
      async ({ content, dedupId }) => {
        note(`${dedupId}: ${content}`);
        return { status: "accepted" };
      },
      () => {},
      stop.signal,
    );
    running.catch(resolve);
  });
  await all;
  stop.abort();
  assert.deepEqual(new Set(seen), new Set(["my-chat:u1: hello", "pressed ask_1:1"]));
});

test("sends each message with a key by which the platform knows a repeat", async (t) => {
  const platform = await openPlatform();
  t.after(platform.close);
  const message = {
    id: "out_1#1",
    channel: "my-chat",
    chatId: "ann",
    sessionKey: "my-chat:ann",
    content: "Hi",
    attachments: [],
  };
  const receipt = await open(context(), platform.apiRoot).send(message, new AbortController().signal);
  assert.equal(receipt.platformMessageId, "m1");
  assert.deepEqual(platform.calls, [
    { call: "/messages", body: { key: "out_1#1", chat: "ann", text: "Hi", buttons: [] } },
  ]);
});

test("a wrong token ends the run with an error that trying again cannot cure", async (t) => {
  const platform = await openPlatform();
  t.after(platform.close);
  const run = open(context(), platform.apiRoot, "wrong").run(
    async () => ({ status: "accepted" }),
    () => {},
    new AbortController().signal,
  );
  await assert.rejects(run, (error) => error instanceof tools.errors.ChannelError && !error.retryable);
});
