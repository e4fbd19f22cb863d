import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createClient } from "../../src/client/node.js";
import type { GatewayEvent } from "../../src/events/event.js";
import { gate, until } from "../support/engine/engine-kit.js";
import { startFakeTelegram } from "../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../support/fakes/models/fake-openai.js";
import { type ClusterWorld, startClusterWorld } from "../support/postgres/cluster.js";
import { askerOf, startNode as startProcess } from "../support/postgres/daemons.js";
import { startNode, statuses } from "../support/postgres/gateways.js";
import type { TestGateway } from "../support/worlds/gateway.js";

describe("two gateways on one Postgres, pressed at the same moment", { timeout: 180_000 }, () => {
  let world: ClusterWorld;
  before(async () => {
    world = await startClusterWorld();
  });
  after(() => world[Symbol.asyncDispose]());

  test("a stranger who is let in at one and refused at the other: one of both counts, and both nodes show which", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "hello" }) });
    const telegram = await startFakeTelegram({ token: "4242:strangers" });
    const { token, url: apiRoot } = telegram;
    const more = { channels: { telegram: { enabled: true, token, apiRoot } }, owners: ["telegram:42"] };
    const cluster = await world.cluster();
    await using a = await startNode(cluster, model.apiBase, more);
    await using b = await startNode(cluster, model.apiBase, more);
    for (const senderId of [71, 72, 73, 74]) {
      telegram.pushText({ chatId: senderId, userId: senderId, text: "let me in" });
      const codeAt = ({ gateway }: TestGateway): string | undefined =>
        gateway.api.listPairings().waiting.find((one) => one.senderId === `${senderId}`)?.code;
      await until("both show the stranger", () => [a, b].every((node) => codeAt(node) !== undefined));
      const code = codeAt(a) ?? "";
      const outcomes = await Promise.allSettled([
        a.gateway.api.approvePairing(code),
        b.gateway.api.refusePairing(code),
      ]);
      assert.deepEqual(statuses(outcomes), ["fulfilled", "rejected"], `${senderId}`);
      const isIn = outcomes[0]?.status === "fulfilled";
      await until("both nodes say the same", () =>
        [a, b].every((node) => {
          const { paired } = node.gateway.api.listPairings();
          return codeAt(node) === undefined && paired.some((one) => one.senderId === `${senderId}`) === isIn;
        }),
      );
    }
    await telegram.stop();
  });

  test("what one node has used of a budget is used at the other as well", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "ok" }) });
    const cluster = await world.cluster();
    const more = { budgets: { day: { turns: 4 } } };
    await using a = await startNode(cluster, model.apiBase, more);
    await using b = await startNode(cluster, model.apiBase, more);
    const ends: string[] = [];
    for (let n = 0; n < 6; n += 1)
      ends.push((await (n % 2 === 0 ? a : b).ask(`number ${n}`, { key: `webui:b${n}` })).end);
    assert.deepEqual(ends, ["complete", "complete", "complete", "complete", "failed", "failed"]);
    assert.equal(model.requests.length, 4);
  });

  test("of turns that begin at the same moment at both no more are let in than a budget has room for", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "ok" }) });
    const cluster = await world.cluster();
    const more = { budgets: { day: { turns: 4 } } };
    await using a = await startNode(cluster, model.apiBase, more);
    await using b = await startNode(cluster, model.apiBase, more);
    const asked = Array.from({ length: 10 }, (_, n) =>
      (n % 2 === 0 ? a : b).ask(`number ${n}`, { key: `webui:t${n}` }),
    );
    const ends = (await Promise.all(asked)).map(({ end }) => end);
    assert.deepEqual(ends.filter((end) => end === "complete").length, 4, ends.join(" "));
    assert.equal(model.requests.length, 4);
    // What was refused counts for nothing, on either node.
    await until("both say the same", () => [a, b].every(({ gateway }) => gateway.api.usage(1).days[0]?.turns === 4));
  });

  test("/undo at both leaves out two turns and not one, and both nodes read the chat alike", async () => {
    await using model = await startFakeOpenAI({
      answer: ({ userText }) => ({ text: `re: ${userText.split("\n").at(-1)}` }),
    });
    const cluster = await world.cluster();
    const key = "webui:undo";
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    for (const text of ["apples", "pears", "plums"]) await a.ask(text, { key });
    const answers = await Promise.all([a, b].map((node) => node.ask("/undo", { key })));
    assert.deepEqual(answers.map(({ response }) => /“(\w+)”/.exec(response)?.[1]).sort(), ["pears", "plums"]);
    for (const node of [a, b]) {
      const shown = async (): Promise<string> => JSON.stringify((await node.gateway.api.getSession(key)).messages);
      await until("nothing of it is shown", async () => !/re: (pears|plums)/.test(await shown()));
      assert.match(await shown(), /re: apples/);
    }
  });

  test("a chat that is deleted at both is gone once, and begins anew at either", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "hello" }) });
    const cluster = await world.cluster();
    const key = "webui:gone";
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const ask = async (node: TestGateway, text: string): Promise<void> => {
      const { end, response } = await node.ask(text, { key });
      assert.deepEqual([end, response], ["complete", "hello"], text);
    };
    for (let round = 1; round <= 3; round += 1) {
      await ask(a, "first");
      await ask(b, "second");
      const outcomes = await Promise.allSettled([a, b].map(({ gateway }) => gateway.api.deleteSession(key)));
      assert.ok(statuses(outcomes).includes("fulfilled"), JSON.stringify(outcomes));
      for (const node of [a, b])
        await until("it is in no list", async () => {
          const { sessions } = await node.gateway.api.listSessions({ limit: 10, offset: 0 });
          return sessions.length === 0;
        });
    }
    await ask(b, "anew");
    for (const node of [a, b]) {
      const texts = async (): Promise<readonly string[]> =>
        (await node.gateway.api.getSession(key)).messages.map(({ content }) => content);
      await until("both show the new life", async () => (await texts().catch(() => [])).length === 2);
      assert.deepEqual(await texts(), ["anew", "hello"]);
    }
  });

  test("a message that is sent while its chat is deleted at the other node is answered, or its sender is told that it is gone", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "hello" }) });
    const cluster = await world.cluster();
    const key = "webui:meanwhile";
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const ends = new Set<string>();
    for (let round = 1; round <= 12; round += 1) {
      await a.ask("first", { key });
      const [before, after] = ["before", "after"].map((when) => `msg_${when}_${round}`);
      const sent = b.ask("sent before", { key, messageId: before ?? "" });
      const deleted = a.gateway.api.deleteSession(key);
      const outcomes = await Promise.allSettled([sent, deleted, b.ask("sent after", { key, messageId: after ?? "" })]);
      assert.equal(outcomes[1]?.status, "fulfilled");
      for (const [id, outcome] of [[before, outcomes[0]] as const, [after, outcomes[2]] as const]) {
        const queued = (await b.events(key).catch(() => [])).filter(
          ({ type, payload }) => type === "user_message_queued" && payload.message_id === id,
        );
        if (outcome?.status === "fulfilled") assert.deepEqual([outcome.value?.end], ["complete"], `${id}`);
        else assert.match(String(outcome?.reason), /was deleted|There is no message/);
        if (outcome?.status === "rejected") assert.deepEqual(queued, [], `${id} was said to be gone`);
        ends.add(`${outcome?.status}`);
      }
      // Begins the next life where nothing is left.
      assert.equal((await b.ask("anew", { key })).end, "complete");
    }
    assert.ok(ends.has("fulfilled"), JSON.stringify([...ends]));
  });

  test("the heartbeat beats once, and a job that is removed at both is gone at both", async () => {
    const noon = Date.parse("2026-11-21T12:00:00Z");
    const clock = { offset: noon - 700 - Date.now() };
    const now = (): number => Date.now() + clock.offset;
    await using model = await startFakeOpenAI({ answer: () => ({ text: "HEARTBEAT_OK" }) });
    const cluster = await world.cluster();
    await mkdir(join(cluster.workspace, "memory"), { recursive: true });
    await writeFile(join(cluster.workspace, "memory", "heartbeat.md"), "- look at the plants\n");
    const more = { heartbeat: { enabled: true } };
    await using a = await startNode(cluster, model.apiBase, more, now);
    await using b = await startNode(cluster, model.apiBase, more, now);
    const session = "cron:heartbeat-2026-11-21";
    const over = async (): Promise<number> =>
      (await b.events(session).catch(() => [])).filter(({ type }) => type === "turn_execution_complete").length;
    await until("it has beaten", async () => (await over()) > 0, 30_000);
    const job = await a.gateway.api.cron.add({ prompt: "look", every: "1h" });
    for (const { gateway } of [a, b])
      await until("it has the job", async () => (await gateway.api.cron.list()).some(({ id }) => id === job.id));
    const outcomes = await Promise.allSettled([a, b].map(({ gateway }) => gateway.api.cron.remove(job.id)));
    assert.ok(statuses(outcomes).includes("fulfilled"));
    for (const { gateway } of [a, b])
      await until("it has no job", async () => !(await gateway.api.cron.list()).some(({ id }) => id === job.id));
    assert.equal(await over(), 1);
    assert.equal(model.requests.filter(({ userText }) => userText.includes("[Heartbeat]")).length, 1);
  });

  test("a page that was connected to a node that is killed goes on at a third one: each event once", async () => {
    const held = gate();
    const words = Array.from({ length: 8 }, (_, n) => `word${n} `);
    await using model = await startFakeOpenAI({
      answer: () => ({ text: words, pause: { before: "word5", until: held.opened } }),
    });
    const cluster = await world.cluster();
    const start = (name: string) => startProcess({ name, cluster, apiBase: model.apiBase, args: ["--grace", "0"] });
    await using a = await start("a");
    await using b = await start("b");
    await using c = await start("c");
    const key = "webui:page";
    // Whoever posts it waits for the answer, and may see its gateway die.
    void fetch(`${a.daemon.url}/api/message`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ sessionKey: key, content: "count", messageId: "msg_page" }),
    }).catch(() => undefined);
    await until("a turn runs", () => model.requests.length > 0, 30_000);
    const works = askerOf(model.requests[0] ?? { headers: {} });
    // Neither node of the page is the one with the turn.
    const [left, right] = [a, b, c].filter(({ name }) => name !== works);
    assert.ok(left !== undefined && right !== undefined);
    const place = { url: left.daemon.url };
    const page = createClient({ url: () => place.url, timing: { retryMinMs: 100, retryMaxMs: 500 } });
    const seen: GatewayEvent[] = [];
    page.onError(() => {});
    page.subscribe(key, (event) => seen.push(event), { fromSequence: 0 });
    await until("the page sees it grow", () => JSON.stringify(seen).includes("word4"), 30_000);
    place.url = right.daemon.url;
    await left.daemon.end("SIGKILL");
    held.open();
    await until("the page sees the end", () => seen.some(({ type }) => type === "turn_execution_complete"), 30_000);
    page.close();
    const stored = seen.flatMap(({ seq }) => (seq === null ? [] : [seq]));
    assert.deepEqual(
      stored,
      stored.map((_, index) => index + 1),
    );
    assert.equal(model.requests.length, 1, "the turn went on where it was");
  });
});
