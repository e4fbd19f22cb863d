import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { runMaxclaw } from "../../../support/worlds/daemon.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";

const secret = "correct-horse-battery";

test("sessions sent lists the requests of a turn, and writes one byte for byte; when it is gone it says so", async () => {
  await using model = await startFakeOpenAI({
    answer: ({ index }) =>
      index === 0 ? { toolCalls: [{ id: "call_1", name: "list_dir", input: { path: "." } }] } : { text: "Done." },
  });
  const config = openAIConfig(model.apiBase, { gateway: { token: secret } });
  let gateway = await startGateway({ config });
  const { home } = gateway;
  const run = (...args: readonly string[]) =>
    runMaxclaw(["sessions", "sent", ...args], home, { MAXCLAW_TOKEN: secret });
  try {
    await gateway.ask("Look around, 世界", { key: "webui:main" });
    const bodies = model.requests.map(({ bodyText }) => bodyText);
    const hashes = bodies.map((body) => createHash("sha256").update(body).digest("hex"));
    const listed = await run("webui:main");
    assert.equal(listed.code, 0, listed.stderr);
    const [, first = "", second = ""] = listed.stdout.split("\n");
    assert.match(
      first,
      new RegExp(`^1 +1 +openai/test-model +\\S+Z +${Buffer.byteLength(bodies[0] ?? "")} +${hashes[0]}$`),
    );
    assert.match(
      second,
      new RegExp(`^2 +1 +openai/test-model +\\S+Z +${Buffer.byteLength(bodies[1] ?? "")} +${hashes[1]}$`),
    );
    const [turn = ""] = /turn_\w+/.exec(listed.stderr) ?? [];
    assert.match(listed.stderr, /The whole request: maxclaw sessions sent webui:main turn_\w+ --call 2/);
    for (const call of [1, 2]) {
      const shown = await run("webui:main", turn, "--call", `${call}`);
      assert.equal(shown.stdout, bodies[call - 1]);
      assert.match(shown.stderr, new RegExp(`byte for byte: \\d+ bytes, SHA-256 ${hashes[call - 1]}`));
    }
    const asJson = JSON.parse((await run("webui:main", "--json")).stdout);
    assert.deepEqual([asJson.turnId, asJson.requests.length, asJson.requests[1].body], [turn, 2, bodies[1]]);

    await gateway.ask(`My token is ${secret}`, { key: "webui:main" });
    const hidden = await run("webui:main", "--call", "1");
    assert.match(hidden.stdout, /My token is \*\*\*/);
    assert.match(hidden.stderr, /with secrets hidden\. What was sent had \d+ bytes/);

    const none = await run("webui:main", turn, "--call", "3");
    assert.deepEqual([none.code, none.stdout], [1, ""]);
    assert.match(
      none.stderr,
      /call 3 of turn_\w+ is not kept any more, or nothing was sent\..* maxclaw sessions show webui:main/,
    );
    assert.match((await run("webui:mai")).stderr, /There is no session webui:mai.* Did you mean: webui:main/);

    gateway = await gateway.restart(config);
    const gone = await run("webui:main", turn);
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /in turn_\w+ is not kept any more/);
  } finally {
    await gateway[Symbol.asyncDispose]();
  }
  const after = await run("webui:main");
  assert.equal(after.code, 1);
  assert.match(after.stderr, /No gateway is running\. What was sent is in the memory of the gateway that sent it/);
  assert.match(after.stderr, /It cannot be rebuilt from the log/);
});
