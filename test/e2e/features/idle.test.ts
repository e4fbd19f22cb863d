import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";

/** Notes who makes a formatter of times: the first one of a process takes 8 MB. */
const spy = (notes: string) => `
import { appendFileSync } from "node:fs";
const note = () => appendFileSync(${JSON.stringify(notes)}, new Error("made").stack + "\\n");
Intl.DateTimeFormat = new Proxy(Intl.DateTimeFormat, {
  apply(of, self, args) { note(); return Reflect.apply(of, self, args); },
  construct(of, args) { note(); return Reflect.construct(of, args); },
});`;

test("a gateway that waits for its first message has made no formatter of times; the first message makes one", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "hello" } });
  const telegram = await startFakeTelegram({ token: "42:idle" });
  const home = await tempHome();
  const notes = join(home, "notes");
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels })));
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(spy(notes))}`;
  try {
    await using daemon = await startDaemon({ home, env: { NODE_OPTIONS } });
    await until("Telegram is asked", () => telegram.calls("getUpdates") > 0, 15_000);
    assert.equal((await fetch(`${daemon.url}/health`)).status, 200);
    assert.equal(existsSync(notes) ? readFileSync(notes, "utf8") : "", "");
    telegram.pushText({ chatId: 7, userId: 7, text: "hi" });
    await telegram.waitForSent(1, 15_000);
    assert.ok(existsSync(notes));
  } finally {
    await telegram.stop();
  }
});
