import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { z } from "zod";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { type CliSandbox, openCli } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";

const token = "1:dead-letters";

async function lettersOf(cli: CliSandbox): Promise<readonly { readonly id: string; readonly kind: string }[]> {
  return JSON.parse((await cli.run(["dead", "list", "--json"])).stdout).letters;
}

test("a reply that was given up is listed, shown, sent again, and dropped, with a gateway and without", async (t) => {
  await using cli = await openCli();
  const telegram = await startFakeTelegram({ token });
  t.after(() => telegram.stop());
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using _model = await withModel(cli, { text: "The answer is 42." }, { channels });
  const { child, url } = await startCliGateway(cli);

  assert.equal((await cli.run(["dead", "list"])).stdout, "Nothing was given up.\n");
  telegram.failNext({ method: "sendMessage", status: 403 });
  telegram.pushText({ chatId: 42, userId: 42, text: "hello" });
  const dead = async (): Promise<number> => {
    const answer = await (await fetch(`${url}/api/dead`)).json();
    return z.object({ letters: z.array(z.unknown()) }).parse(answer).letters.length;
  };
  await until("it is given up", async () => (await dead()) === 1, 15_000);

  const [letter] = await lettersOf(cli);
  const id = letter?.id ?? "";
  assert.deepEqual([letter?.kind, /#1$/.test(id)], ["reply", true]);
  const list = await cli.run(["dead", "list"]);
  assert.match(list.stdout, /^ID +WHAT +CHAT +GIVEN UP +WHY\n\S+#1 +reply +telegram:42 +20\S+ +.*blocked/);
  const shown = await cli.run(["dead", "show", id]);
  assert.match(shown.stdout, /^Reply to: +telegram:42$[\s\S]*^Why: +.*blocked[\s\S]*\n\nThe answer is 42\.\n$/m);
  const asJson = JSON.parse((await cli.run(["dead", "show", id, "--json"])).stdout);
  assert.deepEqual([asJson.id, asJson.content, asJson.attempts, asJson.files], [id, "The answer is 42.", 1, []]);

  const again = await cli.run(["dead", "redrive", id]);
  assert.deepEqual([again.code, again.stdout, again.stderr], [0, `${id} is tried again\n`, ""]);
  await until("it is sent", () => telegram.sent.some(({ text }) => text === "The answer is 42."), 15_000);
  assert.equal(await dead(), 0);
  await until(
    "it counts as answered",
    async () => /1 answered, 0 lost/.test((await cli.run(["ledger", "check"])).stdout),
    15_000,
  );
  for (const args of [["show"], ["redrive"], ["drop"]]) {
    const unknown = await cli.run(["dead", ...args, id]);
    assert.deepEqual([unknown.code, unknown.stdout], [1, ""], args.join());
    assert.equal(unknown.stderr, `maxclaw: There is no dead letter ${id}. "maxclaw dead list" shows them.\n`);
  }

  for (const chat of [43, 44]) {
    telegram.failNext({ method: "sendMessage", status: 403 });
    telegram.pushText({ chatId: chat, userId: chat, text: "hello" });
    await until("it is given up", async () => (await dead()) === chat - 42, 15_000);
  }
  child.kill("SIGTERM");
  await once(child, "exit");
  const [first, second] = await lettersOf(cli);
  const dropped = await cli.run(["dead", "drop", first?.id ?? ""]);
  assert.deepEqual([dropped.code, dropped.stdout], [0, `${first?.id} is forgotten\n`]);
  const waiting = await cli.run(["dead", "redrive", second?.id ?? ""]);
  assert.deepEqual([waiting.code, waiting.stdout], [0, `${second?.id} is tried again\n`]);
  assert.match(
    waiting.stderr,
    /^No gateway is running: it is tried again as soon as one is\. Start it with: maxclaw gateway\n$/,
  );
  assert.deepEqual(await lettersOf(cli), []);
  const before = telegram.sent.length;
  await startCliGateway(cli);
  await until("it is sent at the next start", () => telegram.sent.length > before, 15_000);
  assert.equal(telegram.sent.at(-1)?.chatId, "44");
});
