import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gate, until } from "../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../support/fakes/models/fake-openai.js";
import { type ClusterWorld, startClusterWorld } from "../support/postgres/cluster.js";
import { startNode, statuses } from "../support/postgres/gateways.js";
import { callThenDone } from "../support/worlds/channels/chat-world.js";
import type { TestGateway } from "../support/worlds/gateway.js";
import { openSocket, type TestSocket } from "../support/worlds/http/http-clients.js";
import { cast, changesIn, startOne } from "../support/worlds/tools/sub-agents.js";

const token = "a-long-token-0123456789";
const visit = { address: "127.0.0.1", browser: "Test", isSecure: false };

describe("what two gateways on one Postgres keep, changed at the same moment", { timeout: 180_000 }, () => {
  let world: ClusterWorld;
  before(async () => {
    world = await startClusterWorld();
  });
  after(() => world[Symbol.asyncDispose]());

  /** Presses at both nodes in the same moment. */
  const both = async <T>(
    [a, b]: readonly [TestGateway, TestGateway],
    press: (node: TestGateway, index: number) => Promise<T>,
  ): Promise<readonly PromiseSettledResult<T>[]> => await Promise.allSettled([press(a, 0), press(b, 1)]);

  test("an always that is given and taken back at both counts at both alike, and who has none is asked again", async () => {
    const cluster = await world.cluster();
    const path = join(cluster.workspace, "notes.txt");
    await using model = await startFakeOpenAI({
      answer: callThenDone("write_file", { path, content: "Dear friend" }),
    });
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const nodes = [a, b] as const;
    const key = "webui:always";
    const grantsOf = ({ gateway }: TestGateway): readonly string[] => gateway.api.policy().grants.map(({ id }) => id);
    const asked = async (node: TestGateway): Promise<string> => {
      await until("it is asked", () => node.gateway.api.listQuestions().length === 1);
      return node.gateway.api.listQuestions()[0]?.requestId ?? "";
    };
    const answer = (node: TestGateway, requestId: string) =>
      node.gateway.api.answerQuestion({ sessionKey: key, requestId, answer: "allow_always" });
    let id = "";
    for (let round = 1; round <= 3; round += 1) {
      const posted = await a.post(`write it down ${round}`, { key });
      await asked(b);
      const requestId = await asked(a);
      assert.deepEqual(statuses(await both(nodes, (node) => answer(node, requestId))), ["fulfilled", "rejected"]);
      assert.equal((await b.outcome(posted, key)).end, "complete");
      await until("both have it", () => nodes.every((node) => grantsOf(node).length === 1));
      assert.equal((await b.ask("again", { key })).end, "complete");
      assert.deepEqual(b.gateway.api.listQuestions(), []);
      id = grantsOf(a)[0] ?? "";
      assert.deepEqual(statuses(await both(nodes, ({ gateway }) => gateway.api.revokeGrant(id))), [
        "fulfilled",
        "rejected",
      ]);
      await until("neither has it", () => nodes.every((node) => grantsOf(node).length === 0));
    }
    // Given at one while it is taken back at the other, where it may be there already or not.
    const posted = await b.post("once more", { key });
    const requestId = await asked(a);
    await Promise.allSettled([answer(a, requestId), b.gateway.api.revokeGrant(id)]);
    assert.equal((await b.outcome(posted, key)).end, "complete");
    await until("both say the same", () => grantsOf(a).length === grantsOf(b).length);
  });

  test("a device that is signed out at one node is out at the other: its connection ends, and it cannot come back", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "hello" }) });
    const cluster = await world.cluster();
    const more = { gateway: { token } };
    await using a = await startNode(cluster, model.apiBase, more);
    await using b = await startNode(cluster, model.apiBase, more);
    const cookieFor = async (): Promise<{ readonly cookie: string; readonly id: string }> => {
      const login = await fetch(`http://${a.gateway.address}/api/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token }),
      });
      const [ofA, ofB] = [a, b].map(({ gateway: { address } }) => address.slice(address.lastIndexOf(":") + 1));
      const cookie = (login.headers.getSetCookie()[0]?.split(";")[0] ?? "").replace(ofA ?? "", ofB ?? "");
      return { cookie, id: (await a.gateway.api.devices.list())[0]?.id ?? "" };
    };
    const url = `http://${b.gateway.address}`;
    const { cookie, id } = await cookieFor();
    // At once, before the other node has seen the sign-in.
    const socket = await openSocket(url, { origin: url, headers: { cookie } });
    assert.ok((await socket.command("session_list")).success);
    const outcomes = await both([a, b], ({ gateway }) => gateway.api.devices.remove(id));
    assert.ok(statuses(outcomes).includes("fulfilled"), JSON.stringify(outcomes));
    await assertEnds(socket);
    assert.equal((await fetch(`${url}/api/status`, { headers: { cookie } })).status, 401);

    const second = await cookieFor();
    const other = await openSocket(url, { origin: url, headers: { cookie: second.cookie } });
    await a.gateway.api.devices.remove(second.id);
    await assertEnds(other);
    assert.equal((await fetch(`${url}/api/status`, { headers: { cookie: second.cookie } })).status, 401);
  });

  test("an invitation lets one in, whichever node made it and however many ask at once", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "hello" }) });
    const cluster = await world.cluster();
    const more = { gateway: { token } };
    await using a = await startNode(cluster, model.apiBase, more);
    await using b = await startNode(cluster, model.apiBase, more);
    for (let round = 1; round <= 5; round += 1) {
      const [maker, other] = round % 2 === 0 ? [a, b] : [b, a];
      const { code } = await maker.gateway.api.devices.invite();
      const joined = await Promise.all([other, maker].map(({ gateway }) => gateway.api.devices.join(code, visit)));
      assert.equal(joined.filter((one) => one !== undefined).length, 1, `round ${round}`);
    }
    const { code } = await a.gateway.api.devices.invite();
    assert.ok((await b.gateway.api.devices.join(code, visit)) !== undefined, "at once at the other node");
    assert.equal(await a.gateway.api.devices.join(code, visit), undefined);
    await until("both list all of them", async () =>
      (await Promise.all([a, b].map(({ gateway }) => gateway.api.devices.list()))).every(({ length }) => length === 6),
    );
  });

  test("a sub-agent that is stopped at one node stops wherever it runs, and its parent hears of it once", async () => {
    const held = gate();
    const answer = cast({
      parent: (_, done) => (done === 0 ? startOne("Find the answer.") : { text: "I have asked a helper." }),
      child: () => ({ text: ["looking ", "and found"], pause: { before: "and found", until: held.opened } }),
      told: () => ({ text: "I was told." }),
    });
    await using model = await startFakeOpenAI({ answer });
    const cluster = await world.cluster();
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    for (const [round, stopper] of [a, b].entries()) {
      const key = `webui:parent${round}`;
      const runs = (): number => model.requests.filter(({ userText }) => userText.includes("[You are a sub-")).length;
      const before = runs();
      await a.ask("What is the answer?", { key });
      await until("the helper works", () => runs() > before);
      const outcomes = await Promise.allSettled([
        stopper.gateway.api.stopTurn(key),
        (stopper === a ? b : a).gateway.api.stopTurn(key),
      ]);
      assert.ok(
        outcomes.some((one) => one.status === "fulfilled" && one.value.stopped),
        JSON.stringify(outcomes),
      );
      const states = async (): Promise<readonly string[]> => changesIn(await a.events(key)).map(({ to }) => to);
      await until("it has ended", async () => (await states()).length >= 3, 20_000);
      assert.equal((await states()).length, 3, JSON.stringify(await states()));
      const child = (await b.gateway.api.listSessions({ limit: 10, offset: 0 })).sessions.find(({ key: one }) =>
        one.startsWith(`${key}:spawn:`),
      );
      await until("its turn was ended", async () =>
        (await b.events(child?.key ?? "")).some(({ type }) => type === "turn_execution_cancelled"),
      );
    }
    held.open();
  });

  test("a job that is run at both now runs twice, and both nodes have both ends", async () => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "done" }) });
    const cluster = await world.cluster();
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const job = await a.gateway.api.cron.add({ prompt: "look", every: "1h" });
    await until("both have it", async () => (await b.gateway.api.cron.list()).length === 1);
    const outcomes = await both([a, b], ({ gateway }) => gateway.api.cron.run(job.id));
    assert.deepEqual(statuses(outcomes), ["fulfilled", "fulfilled"], JSON.stringify(outcomes));
    for (const { gateway } of [a, b])
      await until("it has both runs", async () => {
        const runs = await gateway.api.cron.history({ jobId: job.id, limit: 5 });
        return runs.length === 2 && runs.every(({ status }) => status === "success");
      });
    assert.equal(model.requests.length, 2);
  });

  test("facts that both keep at the same moment are all in MEMORY.md, and skills that both switch off are all off", async () => {
    await using model = await startFakeOpenAI({
      answer: (request) => callThenDone("memory_write", { text: request.userText.split("\n").at(-1) ?? "" })(request),
    });
    const cluster = await world.cluster();
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    const facts = Array.from({ length: 6 }, (_, n) => `Fact number ${n}.`);
    const keep = async (fact: string, n: number): Promise<string> => {
      const node = n % 2 === 0 ? a : b;
      const key = `webui:m${n}`;
      const id = await node.post(fact, { key });
      return (await node.gateway.api.waitForTurn(key, id, AbortSignal.timeout(60_000))).end;
    };
    assert.deepEqual(
      await Promise.all(facts.map(keep)),
      facts.map(() => "complete"),
    );
    const kept = (await readFile(join(cluster.workspace, "memory", "MEMORY.md"), "utf8")).trim().split("\n");
    assert.deepEqual([...kept].sort(), facts.map((fact) => `- ${fact}`).sort());
    await both([a, b], ({ gateway }, index) => gateway.api.memory.forget(facts[index] ?? ""));
    assert.equal((await a.gateway.api.memory.facts()).length, facts.length - 2);

    const names = (await a.gateway.api.listSkills()).map(({ name }) => name).slice(0, 4);
    const [one, two, three, four] = names;
    await Promise.all(
      [a, b].flatMap(({ gateway }, index) =>
        (index === 0 ? [one, two] : [three, four]).map((name) => gateway.api.skills.enable(name ?? "", false)),
      ),
    );
    for (const { gateway } of [a, b]) {
      const off = async (): Promise<readonly string[]> =>
        (await gateway.api.listSkills()).filter(({ enabled }) => !enabled).map(({ name }) => name);
      await until("all four are off", async () => (await off()).length === names.length);
    }
    await b.ask("hello", { key: "webui:after" }).catch(() => undefined);
    assert.doesNotMatch(model.requests.at(-1)?.bodyText ?? "", new RegExp(`- ${one}:`));
  });

  test("/new and /undo at the same moment: both are done, one after the other, and both nodes show the same chat", async () => {
    await using model = await startFakeOpenAI({
      answer: ({ userText }) => ({ text: `re: ${userText.split("\n").at(-1)}` }),
    });
    const cluster = await world.cluster();
    await using a = await startNode(cluster, model.apiBase);
    await using b = await startNode(cluster, model.apiBase);
    for (let round = 1; round <= 3; round += 1) {
      const key = `webui:new${round}`;
      for (const text of ["apples", "pears"]) await a.ask(text, { key });
      const [fresh, undone] = await Promise.all([a.ask("/new", { key }), b.ask("/undo", { key })]);
      assert.deepEqual([fresh.end, undone.end], ["complete", "complete"]);
      const [ofA, ofB] = await Promise.all([a, b].map((node) => node.events(key)));
      assert.deepEqual(ofA, ofB);
      const before = model.requests.length;
      await b.ask("what now?", { key });
      assert.doesNotMatch(model.requests.at(-1)?.bodyText ?? "", /apples|pears/, "the context is new");
      assert.equal(model.requests.length, before + 1);
    }
  });
});

async function assertEnds({ socket, closed }: TestSocket): Promise<void> {
  await until("its connection ends", () => socket.readyState === socket.CLOSED);
  assert.equal((await closed).code, 1008);
}
