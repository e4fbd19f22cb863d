import assert from "node:assert/strict";
import { test } from "node:test";
import { readLedger } from "../../../../src/engine/embedded/inspect/ledger.js";
import { until } from "../../../support/engine/engine-kit.js";
import { startWorld } from "../../../support/worlds/channels/chat-world.js";

type World = Awaited<ReturnType<typeof startWorld>>;

const atRest = (w: World) =>
  until("all is done", async () => {
    const { inboundWaiting, outboundWaiting } = await w.gateway.gateway.api.status();
    return inboundWaiting + outboundWaiting === 0;
  });

async function ends(w: World): Promise<readonly string[]> {
  return (await w.gateway.gateway.api.ledger()).map(({ end }) => end);
}

for (const status of [401, 403, 404])
  test(`a ${status} that comes once costs neither the reply nor the connection`, async () => {
    await using w = await startWorld({ text: "the answer" });
    const description = { 401: "Unauthorized", 403: "Access denied", 404: "Not Found" }[status] ?? "";
    w.telegram.failNext({ method: "sendMessage", status, description });
    w.telegram.failNext({ method: "getUpdates", status, description });
    w.say(42, "hello");
    await w.shown("the answer");
    await atRest(w);
    assert.deepEqual(await ends(w), ["answered"]);
    w.say(43, "are you still there");
    await until("it hears again", () => w.telegram.sent.some(({ chatId }) => chatId === "43"), 10_000);
    await until("it says so", async () => (await w.gateway.gateway.api.status()).channels[0]?.state === "connected");
  });

test("a reply that cannot be delivered is named by status and ledger, and is not called answered", async () => {
  await using w = await startWorld({ text: "for nobody" });
  w.telegram.failNext({ method: "sendMessage", status: 403 });
  w.say(42, "hello");
  await until("it is given up", async () => (await w.gateway.gateway.api.status()).deadLetters === 1, 10_000);
  const { problems } = await w.gateway.gateway.api.status();
  assert.match(problems.join("\n"), /One message .* not be delivered on telegram\. It was for chat 42: .*blocked/);
  assert.deepEqual(await ends(w), ["undelivered"]);
  w.gateway = await w.gateway.restart();
  assert.deepEqual(await ends(w), ["undelivered"]);
  const { home, workspace } = await w.gateway.gateway.api.status();
  const offline = await readLedger(home, `${workspace}/.sessions`);
  assert.deepEqual(
    offline.map(({ end }) => end),
    ["undelivered"],
  );
});
