import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { gate, until } from "../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../support/fakes/models/fake-openai.js";
import { type ClusterWorld, startClusterWorld } from "../support/postgres/cluster.js";
import { askerOf, type NodeProcess, startNode } from "../support/postgres/daemons.js";
import type { FakeModelServer, RecordedRequest } from "../support/worlds/model-script.js";

/** What a chat that was cut off by a kill may wait for at most; a polite stop hands over at once. */
const takeoverMs = 12_000;
const handOverMs = 1000;

describe("three gateway processes on one Postgres", { timeout: 120_000 }, () => {
  let world: ClusterWorld;
  let telegram: FakeTelegram;
  let model: FakeModelServer;
  const nodes: NodeProcess[] = [];
  /** Answers to what contains "hold" wait for this. */
  let held = gate();
  const seen: { readonly by: string; readonly text: string; readonly at: number }[] = [];

  before(async () => {
    world = await startClusterWorld();
    telegram = await startFakeTelegram({ token: "4242:cluster" });
    model = await startFakeOpenAI({
      answer(request) {
        const text = lastTextOf(request);
        seen.push({ by: askerOf(request), text, at: Date.now() });
        const answer = `answer to ${text}`;
        return text.includes("hold")
          ? { text: ["begun ", answer], pause: { before: answer, until: held.opened } }
          : { text: answer };
      },
    });
    const cluster = await world.cluster();
    for (const name of ["a", "b", "c"])
      nodes.push(await startNode({ name, cluster, apiBase: model.apiBase, telegram, args: ["--grace", "0"] }));
  });
  after(async () => {
    held.open();
    for (const node of nodes) await node[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
    await telegram.stop();
    await world[Symbol.asyncDispose]();
  });

  const say = (chatId: string, text: string): void => void telegram.pushText({ chatId, userId: chatId, text });
  const sentTo = (chatId: string): readonly string[] =>
    telegram.sent.filter((message) => message.chatId === chatId).map(({ text }) => text.trim());
  const running = (name: string): NodeProcess => {
    const node = nodes.find((each) => each.name === name);
    assert.ok(node !== undefined);
    return node;
  };

  test("chats are spread over the nodes, each in order, each message answered once", async () => {
    const chats = ["11", "12", "13", "14", "15", "16"];
    for (const round of [1, 2, 3]) for (const chat of chats) say(chat, `m${round} of ${chat}`);
    await until("all is answered", () => chats.every((chat) => sentTo(chat).some((text) => text.includes("m3"))));
    for (const chat of chats) {
      const said = sentTo(chat).join("\n");
      const places = [1, 2, 3].map((round) => said.indexOf(`m${round} of ${chat}`));
      assert.deepEqual(
        places,
        [...places].sort((x, y) => x - y),
        said,
      );
      assert.ok(
        places.every((place) => place >= 0),
        said,
      );
    }
  });

  test("a node that is stopped in the middle of a turn hands it over within a second", async () => {
    held = gate();
    say("21", "please hold this");
    await until("a turn runs", () => seen.some(({ text }) => text === "please hold this"));
    const [first] = seen.filter(({ text }) => text === "please hold this");
    const node = running(first?.by ?? "");
    const stoppedAt = Date.now();
    const ended = node.daemon.end("SIGTERM");
    await until("another node asks", () => seen.filter(({ text }) => text === "please hold this").length > 1);
    const second = seen.filter(({ text }) => text === "please hold this").at(-1);
    assert.notEqual(second?.by, node.name);
    assert.ok((second?.at ?? 0) - stoppedAt <= handOverMs, `${(second?.at ?? 0) - stoppedAt} ms`);
    held.open();
    await until("it is answered", () => sentTo("21").length > 0);
    assert.equal(await ended, 0);
    assert.deepEqual(sentTo("21"), ["begun answer to please hold this"]);
    nodes.splice(nodes.indexOf(node), 1);
  });

  test("a database that crashes and comes back in the middle of it loses nothing and changes no order", async () => {
    const chats = ["31", "32", "33"];
    const texts = (chat: string): readonly string[] => Array.from({ length: 8 }, (_, n) => `n${n} of ${chat}`);
    for (let n = 0; n < 4; n += 1) for (const chat of chats) say(chat, texts(chat)[n] ?? "");
    await until("some is answered", () => sentTo("31").length > 0);
    await world.server.kill();
    for (let n = 4; n < 8; n += 1) for (const chat of chats) say(chat, texts(chat)[n] ?? "");
    await world.server.start();
    await until("all is answered", () => chats.every((chat) => sentTo(chat).join().includes(`n7 of ${chat}`)), 40_000);
    for (const chat of chats) {
      const said = sentTo(chat).join("\n");
      const places = texts(chat).map((text) => said.indexOf(text));
      assert.ok(
        places.every((place) => place >= 0),
        said,
      );
      assert.deepEqual(
        places,
        [...places].sort((x, y) => x - y),
        said,
      );
    }
  });

  test("a node that is killed in the middle of a turn: its chat goes on elsewhere within 12 seconds", async () => {
    held = gate();
    say("41", "hold and die");
    await until("a turn runs", () => seen.some(({ text }) => text === "hold and die"), 30_000);
    const [first] = seen.filter(({ text }) => text === "hold and die");
    const node = running(first?.by ?? "");
    const killedAt = Date.now();
    await node.daemon.end("SIGKILL");
    say("41", "and then?");
    held.open();
    await until("the next node answers both", () => sentTo("41").join().includes("and then?"), 30_000);
    const second = seen.filter(({ text }) => text.includes("hold and die")).at(-1);
    assert.notEqual(second?.by, node.name);
    assert.ok((second?.at ?? 0) - killedAt <= takeoverMs, `${(second?.at ?? 0) - killedAt} ms`);
    nodes.splice(nodes.indexOf(node), 1);
  });
});

function lastTextOf({ body }: RecordedRequest): string {
  const { messages } = body as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };
  const content = messages.findLast(({ role }) => role === "user")?.content;
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return (
    /(m\d of \d+|n\d of \d+|please hold this|hold and die|and then\?)(?!.*(m\d of|n\d of|hold|and then))/s.exec(
      text,
    )?.[1] ?? text
  );
}
