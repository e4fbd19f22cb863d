import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ClientError } from "../../../src/client/client-error.js";
import type { SendMessage } from "../../../src/client/commands.js";
import { Outbox } from "../../../src/web/outbox/outbox.js";
import { MemoryOutboxStore } from "../../../src/web/outbox/outbox-store.js";
import { until } from "../../support/engine/engine-kit.js";

const key = "webui:0000beef";

describe("the outbox of the page", () => {
  test("keeps a message that could not go, and a later page sends it once, under the same id", async () => {
    const store = new MemoryOutboxStore();
    const first = world(store, { isDown: true });
    first.outbox.send(key, written("hello"));
    await until("it was tried", () => first.tries.length === 1);
    const [kept] = await store.messages();
    assert.equal(kept?.text, "hello");

    const second = world(store);
    await second.outbox.load();
    await until("it is there", () => second.sent.length === 1);
    assert.deepEqual(
      second.sent.map(({ messageId }) => messageId),
      [kept?.messageId],
    );
    second.outbox.resume();
    await until("it is gone", async () => (await store.messages()).length === 0);
    assert.equal(second.sent.length, 1);
  });

  test("sends the messages of a chat in the order in which they were written, also when the first one has a file to bring", async () => {
    const { outbox, sent, release } = world(new MemoryOutboxStore(), { holdsUploads: true });
    outbox.send(key, { ...written("first"), files: [file("a.txt")] });
    outbox.send(key, written("second"));
    outbox.send("webui:0000cafe", written("elsewhere"));
    await until("the other chat waits for nobody", () => sent.length === 1);
    release();
    await until("all are there", () => sent.length === 3);
    assert.deepEqual(
      sent.map(({ content }) => content),
      ["elsewhere", "first", "second"],
    );
    assert.equal(sent[1]?.attachments?.[0]?.path, "/up/a.txt");
  });

  test("shows why a message is refused, over a reload too, and goes on with the next one", async () => {
    const store = new MemoryOutboxStore();
    const { outbox, sent } = world(store, { refuses: "bad" });
    outbox.send(key, written("bad"));
    outbox.send(key, written("good"));
    await until("the second one is there", () => sent.length === 1);
    const [refused] = outbox.of(key);
    assert.equal(refused?.error, "Not this one");
    const later = world(store);
    await later.outbox.load();
    assert.deepEqual(
      later.outbox.of(key).map(({ error }) => error),
      ["Not this one"],
    );
    assert.equal(later.sent.length, 0, "nobody has asked for another try");
    later.outbox.retry(refused?.messageId ?? "");
    await until("it is there", () => later.sent.length === 1);
  });

  test("does not replace an answer of today with a message of yesterday", async () => {
    const store = new MemoryOutboxStore();
    world(store, { isDown: true }).outbox.send(key, { ...written("instead"), mode: "cancel" });
    await until("it is kept", async () => (await store.messages()).length === 1);
    const later = world(store);
    await later.outbox.load();
    await until("it is there", () => later.sent.length === 1);
    assert.equal(later.sent[0]?.mode, undefined);
  });

  test("brings a file again that may have gone from the gateway, when somebody tries again", async () => {
    const { outbox, sent, uploads } = world(new MemoryOutboxStore(), { refuses: "look" });
    outbox.send(key, { ...written("look"), files: [file("a.txt")] });
    await until("it is refused", () => outbox.of(key)[0]?.error !== undefined);
    outbox.retry(outbox.of(key)[0]?.messageId ?? "");
    await until("it is refused again", () => sent.length === 0 && uploads.length === 2);
  });

  test("brings a file again that a stop of the gateway has cut, whichever of the two is noticed first", async () => {
    for (const isBackFirst of [false, true]) {
      const { outbox, sent, uploads, goDown, comeBack } = world(new MemoryOutboxStore(), {
        cutsUploads: 1,
        isBackFirst,
      });
      outbox.send(key, { ...written("look"), files: [file("a.txt")] });
      await until("it was cut", () => uploads.length > 0);
      if (!isBackFirst) {
        goDown();
        comeBack();
      }
      await until("it is there", () => sent.length === 1);
      assert.deepEqual(outbox.of(key), []);
      assert.equal(uploads.length, 2);
    }
    const alone = world(new MemoryOutboxStore(), { cutsUploads: 9, noticeMs: 1 });
    alone.outbox.send(key, { ...written("look"), files: [file("a.txt")] });
    await until("it says why", () => alone.outbox.of(key)[0]?.error === "a.txt could not be sent");
    assert.equal(alone.uploads.length, 1, "the connection was there all the time");
  });

  test("keeps a message that the gateway does not take because it is stopping", async () => {
    const { outbox, sent, tries, goDown, comeBack } = world(new MemoryOutboxStore(), { stopsAt: "hello" });
    outbox.send(key, written("hello"));
    await until("it was tried", () => tries.length === 1);
    goDown();
    comeBack();
    await until("it is there", () => sent.length === 1);
  });

  test("leaves a message in the page until its event comes, where the chat is open", async () => {
    const { outbox, sent } = world(new MemoryOutboxStore(), { open: key });
    outbox.send(key, written("hello"));
    await until("it is sent", () => sent.length === 1);
    const [shown] = outbox.of(key);
    assert.equal(shown?.text, "hello");
    outbox.drop(shown?.messageId ?? "");
    assert.deepEqual(outbox.of(key), []);
  });
});

interface World {
  readonly isDown?: boolean;
  readonly holdsUploads?: boolean;
  readonly refuses?: string;
  /** So many uploads break off. */
  readonly cutsUploads?: number;
  /** The connection went and came before that. */
  readonly isBackFirst?: boolean;
  /** While the gateway stops it takes no more of this. */
  readonly stopsAt?: string;
  readonly noticeMs?: number;
  /** The chat that the page follows. */
  readonly open?: string;
}

function world(store: MemoryOutboxStore, options: World = {}) {
  const {
    holdsUploads = false,
    refuses,
    open,
    cutsUploads = 0,
    isBackFirst = false,
    stopsAt,
    noticeMs = 60_000,
  } = options;
  let { isDown = false } = options;
  let isStopping = stopsAt !== undefined;
  const sent: SendMessage[] = [];
  const tries: SendMessage[] = [];
  const uploads: string[] = [];
  const waiting: (() => void)[] = [];
  const outbox = new Outbox({
    store,
    noticeMs,
    ready: (sessionKey) => (sessionKey === open ? Promise.resolve() : undefined),
    onChange: () => undefined,
    gateway: () => ({
      state: isDown ? "closed" : "open",
      openSession: async () => ({ sessionKey: key, reused: true }),
      upload: async (content, filename) => {
        uploads.push(filename);
        if (isBackFirst && uploads.length <= cutsUploads) outbox.resume();
        if (uploads.length <= cutsUploads) throw new ClientError("lost", `${filename} could not be sent`);
        if (holdsUploads) await new Promise<void>((resolve) => waiting.push(resolve));
        const sizeBytes = content instanceof Blob ? content.size : content.length;
        return { path: `/up/${filename}`, filename, mimeType: "text/plain", sizeBytes, url: "/api/uploads/x" };
      },
      sendMessage: async (message) => {
        tries.push(message);
        if (isDown) throw new ClientError("lost", "The connection was lost");
        if (isStopping && message.content === stopsAt)
          throw new ClientError("refused", "The gateway is stopping.", "closed");
        if (message.content === refuses) throw new ClientError("refused", "Not this one");
        const isKnown = sent.some(({ messageId }) => messageId === message.messageId);
        if (!isKnown) sent.push(message);
        return {
          messageId: message.messageId ?? "",
          sessionKey: message.sessionKey,
          status: isKnown ? "duplicate" : "accepted",
        };
      },
    }),
  });
  const release = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const goDown = (): void => {
    isDown = true;
  };
  const comeBack = (): void => {
    isDown = false;
    isStopping = false;
    outbox.resume();
  };
  return { outbox, sent, tries, uploads, release, goDown, comeBack };
}

function written(text: string) {
  return { text, mode: undefined, files: [] };
}

function file(name: string) {
  return { name, content: new Blob(["x"]), uploaded: undefined };
}
