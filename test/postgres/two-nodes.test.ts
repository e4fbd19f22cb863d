import assert from "node:assert/strict";
import { symlink } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { gate, until } from "../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../support/fakes/models/fake-openai.js";
import { type ClusterWorld, startClusterWorld } from "../support/postgres/cluster.js";
import { startNode } from "../support/postgres/gateways.js";
import { assertSound, type TestGateway } from "../support/worlds/gateway.js";
import type { ScriptedAnswer } from "../support/worlds/model-script.js";
import { cast, spawn } from "../support/worlds/tools/sub-agents.js";

describe("two gateways on one Postgres", () => {
  let world: ClusterWorld;
  before(async () => {
    world = await startClusterWorld();
  });
  after(() => world[Symbol.asyncDispose]());

  test("a chat goes on at either of them, and both list it with all that was said", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "hello" }) });
    const cluster = await world.cluster();
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const first = await a.ask("one", { key: "webui:x" });
    assert.equal(first.end, "complete");
    const second = await b.ask("two", { key: "webui:x" });
    assert.equal(second.end, "complete");
    for (const node of [a, b]) {
      const said = (await node.events("webui:x")).filter(({ type }) => type === "user_message").length;
      assert.equal(said, 2);
      const { sessions } = await node.gateway.api.listSessions({ limit: 10, offset: 0 });
      assert.deepEqual(
        sessions.map((session) => session.key),
        ["webui:x"],
      );
    }
    assert.match(JSON.stringify(model.requests.at(-1)?.body), /one.*hello.*two/);
  });

  test("a turn that one node has begun goes on at the other, which had turns of this chat before, and the log is sound", async () => {
    const held = gate();
    await using model = await startFakeOpenAI({
      answer: ({ userText }) =>
        userText.includes("hold")
          ? { text: ["begun ", "and done"], pause: { before: "and done", until: held.opened } }
          : { text: "hello" },
    });
    const cluster = await world.cluster();
    const key = "webui:on";
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const begun = async (): Promise<readonly string[]> =>
      (await a.events(key)).flatMap(({ type, metadata }) =>
        type === "turn_execution_start" ? [metadata.instance_id] : [],
      );
    for (let n = 0; n < 40 && new Set(await begun().catch(() => [])).size < 2; n += 1)
      await (n % 2 === 0 ? a : b).ask(`number ${n}`, { key });
    assert.equal(new Set(await begun()).size, 2, "both have worked in this chat");
    const posted = await a.post("hold this", { key });
    await until("the model was asked", () => model.requests.some(({ bodyText }) => bodyText.includes("hold this")));
    const holder = (await begun()).at(-1);
    const [first, second] = (await a.gateway.api.status()).engine?.nodeId === holder ? [a, b] : [b, a];
    await first.gateway.drain(0);
    await first.gateway[Symbol.asyncDispose]();
    held.open();
    assert.equal((await second.outcome(posted, key)).end, "complete");
    assertSound(await second.events(key));
  });

  test("a node says what of its config is not as on the node before", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "hello" }) });
    const cluster = await world.cluster();
    const warned = ({ log }: TestGateway): readonly string[] =>
      log.lines.flatMap(({ message }) => (/The config of this node differs/.test(message) ? [message] : []));
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    await using c = await startNode(cluster, model.apiBase, { owners: ["telegram:42"], skills: { default: "none" } });
    assert.deepEqual([a, b].flatMap(warned), []);
    assert.equal(warned(c).length, 1);
    assert.match(warned(c)[0] ?? "", /before it: owners, skills\. /);
  });

  test("a node whose workspace is another folder says so, and one that has the same one elsewhere does not", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "hello" }) });
    const cluster = await world.cluster();
    const linked = `${cluster.workspace}-link`;
    const told = ({ log }: TestGateway): readonly string[] =>
      log.lines.flatMap(({ message }) => (/is not the folder that the node before/.test(message) ? [message] : []));
    await using a = await startNode(cluster, model.apiBase);
    await symlink(cluster.workspace, linked);
    await using b = await startNode({ ...cluster, workspace: linked }, model.apiBase);
    await using c = await startNode({ ...cluster, workspace: `${cluster.workspace}-own` }, model.apiBase);
    assert.deepEqual([a, b].flatMap(told), []);
    assert.equal(told(c).length, 1);
    assert.match(told(c)[0] ?? "", /workspace-own is not .* Mount the same folder on all nodes\./);
  });

  test("a question that one node asks is open at the other, and of two answers at once one counts", async () => {
    const asking: ScriptedAnswer = {
      toolCalls: [{ name: "ask_human", input: { question: "Red or blue?", options: ["red", "blue"] } }],
    };
    await using model = await startFakeOpenAI({
      answer: (request) => (JSON.stringify(request.body).includes('"role":"tool"') ? { text: "thanks" } : asking),
    });
    const cluster = await world.cluster();
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const key = "webui:q";
    const posted = await a.post("ask me", { key });
    await until("both show the question", () =>
      [a, b].every(({ gateway }) => gateway.api.listQuestions().some(({ sessionKey }) => sessionKey === key)),
    );
    const [question] = b.gateway.api.listQuestions();
    assert.ok(question !== undefined);
    const press = (node: TestGateway, answer: string) =>
      node.gateway.api.answerQuestion({ sessionKey: key, requestId: question.requestId, answer });
    const outcomes = await Promise.allSettled([press(a, "red"), press(b, "blue")]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.equal((await a.outcome(posted, key)).response, "thanks");
    const answers = (await b.events(key)).filter(({ type }) => type === "human_input_answered");
    assert.equal(answers.length, 1);
    await until("nobody is asked any more", () =>
      [a, b].every(({ gateway }) => gateway.api.listQuestions().length === 0),
    );
  });

  test("a turn is stopped from either node, and a session that one deletes is gone at the other", async () => {
    const held = gate();
    await using model = await startFakeOpenAI({
      answer: () => ({ text: ["begun ", "and never done"], pause: { before: "never done", until: held.opened } }),
    });
    const cluster = await world.cluster();
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const key = "webui:s";
    const posted = await a.post("go", { key });
    await until("a turn runs", () => model.requests.length > 0);
    const stops = await Promise.all([a, b].map(({ gateway }) => gateway.api.stopTurn(key)));
    assert.ok(stops.some(({ stopped }) => stopped));
    assert.equal((await b.outcome(posted, key)).end, "cancelled");
    held.open();
    await b.gateway.api.deleteSession(key);
    for (const node of [a, b])
      await until("it is in no list", async () => {
        const { sessions } = await node.gateway.api.listSessions({ limit: 10, offset: 0 });
        return sessions.length === 0;
      });
    await assert.rejects(a.gateway.api.getSession(key), /no session|There is no/i);
  });

  test("a page at one node sees an answer grow that the other writes, and a third of it resumes anywhere", async () => {
    const held = gate();
    const words = ["one ", "two ", "three"];
    await using model = await startFakeOpenAI({
      answer: () => ({ text: words, pause: { before: "three", until: held.opened } }),
    });
    const cluster = await world.cluster();
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const key = "webui:live";
    const posted = await a.post("count", { key });
    const seen: string[] = [];
    await Promise.all(
      [a, b].map(async (node) => {
        await node.waitForEvent((event) => event.type === "text_delta" && event.payload.text.includes("two"), key);
        seen.push("two");
      }),
    );
    assert.equal(seen.length, 2);
    held.open();
    assert.equal((await b.outcome(posted, key)).response, words.join(""));
    const [ofA, ofB] = await Promise.all([a.events(key), b.events(key)]);
    assert.deepEqual(ofA, ofB);
  });

  test("a job that one adds runs once, and what a browser or a device has at one holds at the other at once", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "done" }) });
    const cluster = await world.cluster();
    const more = { gateway: { token: "a-long-token-0123456789" } };
    await using a = await startNode(cluster, model.apiBase, more);
    await using b = await startNode(cluster, model.apiBase, more);
    const [ofA, ofB] = [a.gateway.address, b.gateway.address];
    const login = await fetch(`http://${ofA}/api/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: more.gateway.token }),
    });
    // The very next request goes to the other node, as behind a proxy: there both have one name, and so has the cookie.
    const cookie = (login.headers.getSetCookie()[0]?.split(";")[0] ?? "").replace(portOf(ofA), portOf(ofB));
    assert.equal((await fetch(`http://${ofB}/api/status`, { headers: { cookie } })).status, 200);
    const [key, same] = await Promise.all([a, b].map(({ gateway }) => gateway.api.attention?.pushKey()));
    assert.ok(key !== undefined && key === same, "push services see one sender");

    const job = await b.gateway.api.cron.add({ prompt: "look", at: new Date(Date.now() + 1500).toISOString() });
    const runsOf = async (): Promise<number> =>
      (await b.events(job.sessionKey)).filter(({ type }) => type === "turn_execution_complete").length;
    await until("it has run", async () => (await runsOf().catch(() => 0)) > 0);
    await until("both say so", async () => {
      const seen = await Promise.all([a, b].map(({ gateway }) => gateway.api.cron.history({ limit: 5 })));
      return seen.every(([run]) => run?.status === "success");
    });
    assert.equal(await runsOf(), 1);
    assert.equal(model.requests.length, 1);
  });

  test("a sub-agent that one node starts reports once, though both follow it", async () => {
    const answer = cast({
      parent: (_, done) =>
        done === 0
          ? { toolCalls: [spawn({ action: "start", task: "Find the answer.", label: "finder" })] }
          : { text: "I have asked a helper." },
      child: () => ({ text: "the answer is 42" }),
      told: () => ({ text: "My helper says 42." }),
    });
    await using model = await startFakeOpenAI({ answer });
    const cluster = await world.cluster();
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const key = "webui:p";
    await a.ask("What is the answer?", { key });
    await until("the parent has told it", async () =>
      (await b.events(key)).some(
        (event) => event.type === "assistant_message" && JSON.stringify(event.payload).includes("My helper says 42."),
      ),
    );
    const changes = (await a.events(key)).flatMap((event) =>
      event.type === "subagent_state_changed" ? [event.payload.to] : [],
    );
    assert.deepEqual(changes, ["pending", "running", "completed"]);
    const results = (await a.events(key)).filter(
      (event) => event.type === "user_message_queued" && event.payload.result_of !== undefined,
    );
    assert.equal(results.length, 1);
  });
});

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(":") + 1);
}
