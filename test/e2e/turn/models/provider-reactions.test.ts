import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { startFakeAnthropic } from "../../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { projectFile } from "../../../support/project.js";
import { startGateway, type TestGateway } from "../../../support/worlds/gateway.js";
import type { FakeModelServer, RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";

/** What each kind of failure looks like on the wire. */
const failures: Readonly<Record<string, ScriptedAnswer>> = {
  auth: { status: 401 },
  billing: { status: 402 },
  rate_limit: { status: 429 },
  overloaded: { status: 503 },
  timeout: { status: 408 },
  network: { text: ["a", "b"], cutAfter: 3 },
  garbage: { text: "a", garbage: "event: message_delta\ndata: {oops\n\n" },
  context_overflow: { status: 413 },
  bad_request: { status: 400 },
  not_found: { status: 404 },
};

interface Row {
  readonly kind: string;
  readonly isAskedAgain: boolean;
  readonly isStoodInFor: boolean;
  readonly restSeconds: number;
  readonly isFault: boolean;
  readonly code: string;
}

function documentedRows(): readonly Row[] {
  const page = readFileSync(projectFile("docs/providers.md"), "utf8");
  const lines = page.split("\n").filter((line) => /^\| `[a-z_]+` +\|.*\| `[A-Z_]+` +\|$/.test(line));
  return lines.map((line) => {
    const [kind = "", , again, next, rest = "", fault, code = ""] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", ""));
    return {
      kind,
      isAskedAgain: again !== "no",
      isStoodInFor: next === "yes",
      restSeconds: Number(/^(\d+) s$/.exec(rest)?.[1] ?? 0),
      isFault: fault === "yes",
      code,
    };
  });
}

const play = ({ body }: RecordedRequest): ScriptedAnswer =>
  failures[String(body.model)] ?? { text: `${String(body.model)} answers` };

async function withGateway(
  server: FakeModelServer,
  apiFormat: string,
  fallbacks: readonly string[],
  use: (gateway: TestGateway, ask: (kind: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  const config = {
    agents: { defaults: { model: "acme/good", fallbacks } },
    providers: { acme: { apiKey: "key-of-acme", apiBase: server.apiBase, apiFormat } },
  };
  await using gateway = await startGateway({ config, modelRetryMs: 1 });
  const ask = async (kind: string): Promise<string> => {
    const key = `webui:${kind}`;
    await gateway.gateway.api.createSession({ key, model: `acme/${kind}` });
    const outcome = await gateway.ask("hello", { key });
    if (outcome.end === "complete") return outcome.response;
    const failed = (await gateway.events(key)).findLast((event) => event.type === "turn_execution_failed");
    return failed?.type === "turn_execution_failed" ? failed.payload.code : "";
  };
  await use(gateway, ask);
}

const requestsFor = (server: FakeModelServer, kind: string): number =>
  server.requests.filter(({ body }) => body.model === kind).length;

for (const [apiFormat, startFake] of [
  ["openai", startFakeOpenAI],
  ["anthropic", startFakeAnthropic],
] as const) {
  const rows = documentedRows().filter(({ kind }) => kind !== "circuit_open");

  test(`${apiFormat}: with a stand-in each failure is met as docs/providers.md says`, async () => {
    assert.deepEqual(rows.map(({ kind }) => kind).sort(), Object.keys(failures).sort());
    await using server = await startFake({ answer: play });
    await withGateway(server, apiFormat, ["acme/stand-in"], async (gateway, ask) => {
      for (const { kind, isAskedAgain, isStoodInFor, restSeconds, code } of rows) {
        assert.equal(await ask(kind), isStoodInFor ? "stand-in answers" : code, kind);
        assert.equal(requestsFor(server, kind), isAskedAgain ? 3 : 1, `${kind}: attempts`);
        const told = (await gateway.gateway.api.status()).problems.find((problem) =>
          problem.startsWith(`acme/${kind} is asked`),
        );
        const rest = Number(/for another (\d+) s/.exec(told ?? "")?.[1] ?? 0);
        assert.ok(rest <= restSeconds && rest > restSeconds - 30, `${kind}: rests ${rest} s`);
        if (!isStoodInFor) continue;
        // While it rests the stand-in goes first; a model that needs no rest is asked first again.
        assert.equal(await ask(kind), "stand-in answers", kind);
        assert.equal(requestsFor(server, kind), (isAskedAgain ? 3 : 1) + (restSeconds > 0 ? 0 : 1), `${kind}: rest`);
      }
    });
  });

  test(`${apiFormat}: alone each failure is told with its code, and faults open the circuit`, async () => {
    await using server = await startFake({ answer: play });
    await withGateway(server, apiFormat, [], async (gateway, ask) => {
      for (const { kind, isAskedAgain, isFault, code } of rows) {
        const each = isAskedAgain ? 3 : 1;
        assert.equal(await ask(kind), code, kind);
        assert.equal(requestsFor(server, kind), each, `${kind}: attempts`);
        for (let n = 2; n <= 6; n += 1) assert.equal(await ask(kind), isFault ? "CIRCUIT_OPEN" : code, kind);
        // What is too long is made smaller and sent again, as long as there is something to leave out.
        if (kind !== "context_overflow")
          assert.equal(requestsFor(server, kind), isFault ? 5 : 6 * each, `${kind}: after five faults nothing is sent`);
      }
      const opened = (await gateway.events("system"))
        .flatMap((event) =>
          event.type === "connection_state_changed" && event.payload.peer === "provider" ? [event.payload] : [],
        )
        .filter(({ name }) => name.includes("/"));
      assert.deepEqual(
        opened.map(({ name, from, to }) => [name, from, to]),
        rows.filter(({ isFault }) => isFault).map(({ kind }) => [`acme/${kind}`, "connected", "disconnected"]),
      );
      assert.ok(opened.every(({ reason }) => reason?.includes("acme")));
    });
  });
}
