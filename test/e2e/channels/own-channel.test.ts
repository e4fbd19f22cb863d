import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeMyChat } from "../../support/fakes/fake-my-chat.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { projectFile } from "../../support/project.js";
import { echo } from "../../support/worlds/channels/harness-world.js";
import { harnessOver } from "../../support/worlds/channels/over-fake.js";
import { openAIConfig, startGateway, tempHome } from "../../support/worlds/gateway.js";

test("a channel that somebody begins with what we give them shows each answer once, also after cuts and a restart", async () => {
  const fake = await startFakeMyChat();
  const far = harnessOver(fake.platform);
  await using model = await startFakeOpenAI({ answer: echo });
  await using _far = { [Symbol.asyncDispose]: () => far[Symbol.asyncDispose]() };
  const home = await tempHome();
  await cp(projectFile("examples/channel/my-chat.mjs"), join(home, "my-chat.mjs"));
  const options = { apiRoot: fake.platform.server.url, token: fake.token };
  const config = openAIConfig(model.apiBase, {
    extensions: [{ module: "./my-chat.mjs", options }],
    owners: ["my-chat:ann"],
    reactors: { live: false },
  });
  const said = async (text: string) => {
    fake.write("ann", text);
    await until(
      `${text} is answered`,
      () => far.showings("ann").some((shown) => shown === `You said: ${text}`),
      15_000,
    );
  };
  await using first = await startGateway({ home, config, sendTimeoutMs: 1000, sendRetryMs: 50 });
  for (const fault of far.faults) {
    far.failNextSend(fault);
    await said(`after ${fault}`);
  }
  far.loseConnection();
  await said("after a lost connection");
  await using _second = await first.restart(config);
  await said("after a restart");
  const expected = [...far.faults, "a lost connection", "a restart"].map((what) => `You said: after ${what}`);
  assert.deepEqual(far.showings("ann"), expected);
});
