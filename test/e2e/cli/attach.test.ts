import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { GatewayEvent } from "../../../src/events/event.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { until } from "../../support/fakes/web-frames.js";
import { runMaxclaw, spawnMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";
import { postJson } from "../../support/worlds/http/http-server.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";

const key = "webui:attach";
const limitMs = 30_000;

async function world(answer: AnswerScript) {
  const model = await startFakeOpenAI({ answer });
  const home = await tempHome();
  const gateway = { token: "a-token-of-the-test" };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { gateway })));
  const send = (url: string, content: string, stream: boolean): Promise<Response> =>
    postJson(`${url}/api/message`, { sessionKey: key, content, stream }, { authorization: `Bearer ${gateway.token}` });
  return {
    home,
    model,
    /** Resolves with the answer. */
    ask: async (url: string, content: string): Promise<Response> => await send(url, content, false),
    /** Resolves once the message is stored. */
    post: async (url: string, content: string): Promise<void> => {
      const response = await send(url, content, true);
      await response.body?.getReader().read();
    },
    [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
  };
}

test("attach shows the past, then what happens, through kill -9 and a new address, and loses and repeats nothing", async () => {
  await using w = await world([
    { text: "First answer." },
    { toolCalls: [{ id: "call_1", name: "list_dir", input: { path: "." } }] },
    { text: ["There ", "is ", "nothing"], hang: "middle" },
    { text: ["There ", "is ", "nothing ", "in ", "it."], chunkDelayMs: 5 },
    { text: "Third answer." },
  ]);
  await using first = await startDaemon({ home: w.home });
  await w.ask(first.url, "one");
  await using shown = spawnMaxclaw(["attach", key], w.home);
  await using later = spawnMaxclaw(["attach", key, "--from", "3"], w.home);
  await using lines = spawnMaxclaw(["attach", key, "--json"], w.home);
  const hasPast = (): boolean => [shown, later, lines].every((run) => run.stdout().includes("First answer."));
  await until(hasPast, limitMs);
  await w.post(first.url, "two");
  const isHalf = (): boolean => [shown, lines].every((run) => run.stdout().includes("nothing"));
  await until(isHalf, limitMs);
  await first.end("SIGKILL");
  await until(() => shown.stderr().includes("went away"), limitMs);

  await using second = await startDaemon({ home: w.home });
  assert.notEqual(second.url, first.url);
  await until(() => shown.stdout().includes("in it."), limitMs);
  await w.ask(second.url, "three");
  const isOver = (): boolean => [shown, later, lines].every((run) => run.stdout().includes("Third answer."));
  await until(isOver, limitMs);
  const events = await fetch(`${second.url}/api/sessions/${key}/events?limit=10000`, {
    headers: { authorization: "Bearer a-token-of-the-test" },
  });
  const { events: log } = (await events.json()) as { readonly events: readonly GatewayEvent[] };
  const parse = (): readonly GatewayEvent[] =>
    lines
      .stdout()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  await until(() => parse().at(-1)?.seq === log.at(-1)?.seq, limitMs);

  const conversation = [
    "> one",
    "First answer.",
    "> two",
    '· list_dir {"path":"."}',
    "  → ",
    "There is nothing in it.",
    "> three",
    "Third answer.",
    "",
  ];
  assert.deepEqual(shown.stdout().replace(/^ {2}→ .*$/m, "  → "), conversation.join("\n"));
  assert.ok(later.stdout().startsWith("First answer."), later.stdout());
  assert.deepEqual(
    parse().filter(({ seq }) => seq !== null),
    log,
  );
  assert.equal(shown.stderr().match(/went away/g)?.length, 1);
  assert.equal(shown.stderr().match(/is back/g)?.length, 1);
  for (const [run, signal] of [
    [shown, "SIGINT"],
    [later, "SIGTERM"],
  ] as const)
    assert.equal(await run.end(signal), 0, `${signal} leaves`);
});

test("attach says what is wrong: no gateway, no such conversation, a wrong token or place to begin", async () => {
  await using w = await world({ text: "ok" });
  const alone = await runMaxclaw(["attach", key], w.home);
  assert.equal(alone.code, 1);
  assert.match(alone.stderr, /No gateway is running for this home\. Start it with: maxclaw gateway/);
  await using _daemon = await startDaemon({ home: w.home });
  const unknown = await runMaxclaw(["attach", "work"], w.home);
  assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
  assert.match(unknown.stderr, /There is no session cli:work/);
  const stranger = await runMaxclaw(["attach", key], w.home, { MAXCLAW_TOKEN: "wrong" });
  assert.equal(stranger.code, 1);
  assert.match(stranger.stderr, /token is wrong/);
  const place = await runMaxclaw(["attach", key, "--from", "-1"], w.home);
  assert.deepEqual([place.code, place.stdout], [2, ""]);
});
