import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { echo } from "../../support/worlds/channels/harness-world.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";

async function openWorld(answer: AnswerScript) {
  const model = await startFakeOpenAI({ answer });
  const telegram = await startFakeTelegram({ token: "4242:parked" });
  const home = await tempHome();
  const configure = async (more: object = {}): Promise<void> => {
    const channels = {
      telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"], ...more },
    };
    await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels })));
  };
  await configure();
  return {
    model,
    telegram,
    home,
    configure,
    textsTo: (chatId: number) => telegram.sent.filter((one) => one.chatId === String(chatId)).map(({ text }) => text),
    async [Symbol.asyncDispose]() {
      await telegram.stop();
      await model[Symbol.asyncDispose]();
    },
  };
}

test("while a file is fetched 150 messages of others are answered, and after kill -9 the file is, once and in order", async () => {
  await using w = await openWorld(echo);
  const { telegram } = w;
  const fileId = telegram.keepFile(Buffer.from("the whole report"));
  const person = { chat: { id: 1, type: "private" }, from: { id: 1, is_bot: false, first_name: "Ann" } };
  {
    await using daemon = await startDaemon({ home: w.home });
    telegram.hangNext({ method: "download" });
    telegram.pushMessage({ ...person, document: { file_id: fileId, file_name: "report.txt" }, caption: "read this" });
    await until("it is being fetched", () => telegram.calls("download") === 1, 20_000);
    telegram.pushMessage({ ...person, text: "and this" });
    for (let n = 0; n < 150; n++)
      telegram.pushText({ chatId: 100 + (n % 15), userId: 100 + (n % 15), text: `message ${n}` });
    await until("nothing is left with Telegram", () => telegram.pending === 0, 20_000);
    assert.deepEqual(w.textsTo(1), []);
    await daemon.end("SIGKILL");
  }
  await using daemon = await startDaemon({ home: w.home });
  await until("all of it is answered", () => w.textsTo(1).join("\n").includes("and this"), 20_000);
  for (let chat = 100; chat < 115; chat++)
    await until(
      `chat ${chat} is answered`,
      () =>
        w
          .textsTo(chat)
          .join()
          .includes(`message ${chat + 35}`),
      30_000,
    );
  const asked = w.model.requests.map(({ userText }) => userText).join("\n");
  assert.match(asked, /report\.txt[\s\S]*read this[\s\S]*and this/);
  await daemon.end("SIGTERM");
  const { code, stdout } = await runMaxclaw(["ledger", "check", "--json"], w.home);
  assert.equal(code, 0, stdout);
  const ofAnn = w.textsTo(1).join("\n");
  for (const text of ["read this", "and this"]) assert.equal(ofAnn.split(`${text}`).length, 2, ofAnn);
});

test("a long reply that is ready while its channel is off comes in pieces when it is back", async () => {
  const words = Array.from({ length: 1500 }, (_, n) => `word${n}`);
  await using w = await openWorld((request) =>
    request.index === 0 ? { text: ["so"], hang: "start" } : { text: words.join(" ") },
  );
  {
    await using daemon = await startDaemon({ home: w.home });
    w.telegram.pushText({ chatId: 7, userId: 7, text: "tell me all" });
    await w.model.waitForRequests(1);
    await daemon.end("SIGKILL");
  }
  await w.configure({ enabled: false });
  {
    await using daemon = await startDaemon({ home: w.home });
    await until(
      "it is answered",
      async () => {
        const status = (await (await fetch(`${daemon.url}/api/status`)).json()) as { outboundWaiting?: number };
        return (status.outboundWaiting ?? 0) > 0;
      },
      20_000,
    );
    await daemon.end("SIGTERM");
  }
  await w.configure();
  await using _daemon = await startDaemon({ home: w.home });
  await until("all of it is shown", () => w.textsTo(7).join(" ").includes("word1499"), 20_000);
  assert.deepEqual(
    w
      .textsTo(7)
      .join(" ")
      .match(/word\d+/g),
    words,
  );
  assert.ok(w.textsTo(7).length > 1);
});
