import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { InboxItem, InboxView } from "../../../../src/api/inbox/inbox-api.js";
import type { GatewayEvent } from "../../../../src/events/event.js";
import { until } from "../../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { type ModelGateway, startWithModel } from "../../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";

const token = "1:inbox";

interface World extends AsyncDisposable {
  readonly telegram: FakeTelegram;
  readonly world: ModelGateway;
  call(method: string, path: string, body?: object): Promise<Response>;
  /** What waits, once it holds so much of a kind. */
  waiting(kind: InboxItem["kind"], count: number): Promise<InboxView>;
}

async function openWorld(answer: (request: RecordedRequest) => ScriptedAnswer): Promise<World> {
  const telegram = await startFakeTelegram({ token });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url } };
  const config = { channels, owners: ["telegram:42"] };
  const world = await startWithModel(answer, config, { modelRetryMs: 1 });
  const call = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${world.url}/api/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    });
  const read = async (): Promise<InboxView> => (await (await call("GET", "inbox")).json()) as InboxView;
  return {
    telegram,
    world,
    call,
    async waiting(kind, count) {
      const isThere = async (): Promise<boolean> =>
        (await read()).items.filter((item) => item.kind === kind).length === count;
      await until(`${count} ${kind} in the inbox`, isThere, 15_000);
      return await read();
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await telegram.stop();
    },
  };
}

type ItemOf<K, I = InboxItem> = I extends { readonly kind: infer Kind } ? (K extends Kind ? I : never) : never;

function itemOf<K extends InboxItem["kind"]>({ items }: InboxView, kind: K): ItemOf<K> {
  const found = items.find((item): item is InboxItem & ItemOf<K> => item.kind === kind);
  assert.ok(found !== undefined, `${kind} is in the inbox`);
  return found;
}

const train: ScriptedAnswer = {
  toolCalls: [{ name: "ask_human", input: { question: "Which train?", options: ["07:05", "08:32"] } }],
};

/** Says hello, and asks when the first message about a train comes. */
function asksOnce(): (request: RecordedRequest) => ScriptedAnswer {
  let hasAsked = false;
  return ({ userText }) => {
    const asks = userText.includes("train") && !hasAsked;
    hasAsked ||= asks;
    return asks ? train : { text: "Hello." };
  };
}

describe("the inbox", { timeout: 60_000 }, () => {
  test("holds questions, strangers and dead letters, newest first, and each goes when it is dealt with", async () => {
    await using my = await openWorld(asksOnce());
    const { telegram, call, world } = my;
    const { api } = world;
    assert.deepEqual(await (await call("GET", "inbox")).json(), { count: 0, items: [] });

    telegram.failNext({ method: "sendMessage", status: 403 });
    telegram.pushText({ chatId: 42, userId: 42, text: "hello" });
    const dead = itemOf(await my.waiting("dead", 1), "dead");
    telegram.pushText({ chatId: 77, userId: 77, text: "let me in" });
    const stranger = itemOf(await my.waiting("stranger", 1), "stranger");
    await api.send({ sessionKey: "webui:trip", content: "book a train" });
    const all = await my.waiting("question", 1);
    const question = itemOf(all, "question");

    assert.equal(all.count, 3);
    assert.deepEqual(
      all.items.map(({ kind }) => kind),
      ["question", "stranger", "dead"],
    );
    const { letter, channel, chatId, text, reason } = dead;
    assert.deepEqual([letter, channel, chatId, text], ["reply", "telegram", "42", "Hello."]);
    assert.match(reason, /blocked/);
    assert.deepEqual(
      [stranger.channel, stranger.senderId, stranger.id],
      ["telegram", "77", `stranger:${stranger.code}`],
    );
    const { asks, sessionKey, chatKey, options, allowCustom } = question;
    assert.deepEqual(
      [asks, question.text, sessionKey, chatKey],
      ["decision", "Which train?", "webui:trip", "webui:trip"],
    );
    assert.deepEqual([question.title, allowCustom], ["book a train", true]);
    assert.ok(Math.abs(Date.now() - Date.parse(question.at)) < 30_000, "it says since when it waits");

    const answer = { requestId: question.requestId, answer: options[1]?.id };
    assert.equal((await call("POST", `sessions/${sessionKey}/answer`, answer)).status, 200);
    await my.waiting("question", 0);
    assert.equal((await call("POST", "pairings/refuse", { code: stranger.code })).status, 200);
    await my.waiting("stranger", 0);
    assert.equal((await call("POST", "pairings/refuse", { code: stranger.code })).status, 404);
    assert.equal((await call("POST", `dead/${encodeURIComponent(dead.letterId)}/redrive`)).status, 200);
    await until("it is sent", () => telegram.sent.some((sent) => sent.text === "Hello."), 15_000);
    assert.equal((await my.waiting("dead", 0)).count, 0);
  });

  test("holds the newest run of a job while it has failed and nobody has looked at it", async () => {
    let isBroken = true;
    const broken: ScriptedAnswer = { status: 400, body: { error: { message: "no such model" } } };
    await using my = await openWorld(() => (isBroken ? broken : { text: "Watered." }));
    const { id } = await my.world.api.cron.add({ title: "Plants", prompt: "water the plants", every: "1h" });
    await my.world.api.cron.run(id);
    const first = itemOf(await my.waiting("failed_job", 1), "failed_job");
    assert.deepEqual([first.title, first.jobId, first.sessionKey], ["Plants", id, "webui:scheduled"]);
    assert.ok(first.text.length > 10, "it says why");

    const dismiss = (item: string) => my.call("POST", `inbox/${encodeURIComponent(item)}/dismiss`);
    assert.equal((await dismiss(first.id)).status, 200);
    assert.equal((await my.waiting("failed_job", 0)).count, 0);
    assert.equal((await dismiss(first.id)).status, 404);
    assert.equal((await dismiss("stranger:ABCDEFGH")).status, 400);

    await my.world.api.cron.run(id);
    const second = itemOf(await my.waiting("failed_job", 1), "failed_job");
    assert.notEqual(second.id, first.id, "what fails again waits again");
    isBroken = false;
    await my.world.api.cron.run(id);
    await my.waiting("failed_job", 0);
  });

  test("tells each change as an event that is on `*` or `system` already", async () => {
    await using my = await openWorld(asksOnce());
    const { telegram, call, world } = my;
    const seen: string[] = [];
    const keep = (event: GatewayEvent): void => {
      seen.push(event.type === "settings_changed" ? event.payload.key : event.type);
    };
    const types = ["human_input_asked", "human_input_answered", "outbound_delivery_changed", "settings_changed"];
    const subscriptions = ["*", "system"].map((target) => world.api.subscribe(target, { types }, keep));
    const told = (name: string): Promise<void> => until(`${name} is told`, () => seen.includes(name), 15_000);
    telegram.pushText({ chatId: 77, userId: 77, text: "let me in" });
    await told("pairing_request");
    const { code } = itemOf(await my.waiting("stranger", 1), "stranger");
    await call("POST", "pairings/approve", { code });
    await told("pairing");
    telegram.failNext({ method: "sendMessage", status: 403 });
    telegram.pushText({ chatId: 42, userId: 42, text: "hello" });
    await told("outbound_delivery_changed");
    const { letterId } = itemOf(await my.waiting("dead", 1), "dead");
    await call("DELETE", `dead/${encodeURIComponent(letterId)}`);
    await told("dead_letter");
    await world.api.send({ sessionKey: "webui:trip", content: "book a train" });
    await told("human_input_asked");
    for (const subscription of subscriptions) subscription.close();
  });
});
