import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";

const secret = "correct-horse-battery";

test("what was sent to a model is shown byte for byte, without secrets, until its chat is deleted", async () => {
  await using model = await startFakeOpenAI({
    answer: ({ index }) =>
      index === 0 ? { toolCalls: [{ id: "call_1", name: "list_dir", input: { path: "." } }] } : { text: "Done." },
  });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase, { gateway: { token: secret } }) });
  const get = async (path: string, token = secret) =>
    await fetch(`http://${gateway.gateway.address}/api/sessions/webui%3Amain/${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
  const sent = async (turnId: string, iteration: number) => {
    const response = await get(`turns/${turnId}/sent/${iteration}`);
    assert.equal(response.status, 200);
    return Object(await response.json()).requests;
  };
  const ask = async (text: string): Promise<string> => {
    await gateway.ask(text, { key: "webui:main" });
    return (await gateway.gateway.api.listTurns("webui:main", { limit: 1 })).turns[0]?.turnId ?? "";
  };
  const first = await ask("Look around, 世界");
  for (const iteration of [1, 2]) {
    const was = model.requests[iteration - 1]?.bodyText ?? "";
    const [request, ...others] = await sent(first, iteration);
    assert.deepEqual(others, []);
    assert.equal(request.body, was);
    assert.equal(request.isExact, true);
    assert.equal(request.bytes, Buffer.byteLength(was));
    assert.equal(request.sha256, createHash("sha256").update(was).digest("hex"));
    assert.equal(request.model, "openai/test-model");
  }
  assert.deepEqual(await sent(first, 3), []);

  const second = await ask(`My token is ${secret}`);
  const [request] = await sent(second, 1);
  assert.doesNotMatch(request.body, /correct-horse/);
  assert.match(request.body, /My token is \*\*\*/);
  assert.equal(request.isExact, false);
  assert.equal(
    request.sha256,
    createHash("sha256")
      .update(model.requests.at(-1)?.bodyText ?? "")
      .digest("hex"),
  );

  assert.equal((await get(`turns/${second}/sent/1`, "wrong")).status, 401);
  await gateway.gateway.api.deleteSession("webui:main");
  assert.equal((await get(`turns/${second}/sent/1`)).status, 404);
  await gateway.ask("Again", { key: "webui:main" });
  assert.deepEqual(await sent(second, 1), []);
});
