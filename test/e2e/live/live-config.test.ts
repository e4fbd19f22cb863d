import assert from "node:assert/strict";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gate, until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, startWithModel, tempHome } from "../../support/worlds/gateway.js";
import type { RecordedRequest } from "../../support/worlds/model-script.js";

const soon = (holds: () => boolean | Promise<boolean>, what: string) => until(what, holds);
const token = "4242:live-secret";

async function start() {
  const telegram = await startFakeTelegram({ token });
  const channel = (more: object) => ({
    channels: { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["7"], ...more } },
    inbound: { senderPerMinute: 0, chatPerMinute: 0 },
  });
  const world = await startWithModel(
    (request: RecordedRequest) => ({ text: `${String(request.body.model)} answers` }),
    channel({}),
  );
  const file = join(world.gateway.home, "config.json");
  const text = (more: object = {}, channelMore: object = {}): string =>
    JSON.stringify({ ...openAIConfig(world.model.apiBase), ...channel(channelMore), ...more });
  const status = () => world.api.status();
  return {
    ...world,
    telegram,
    file,
    text,
    write: (more?: object, channelMore?: object) => writeFile(file, text(more, channelMore)),
    status,
    inForce: async (what: string) => {
      const line = () =>
        world.gateway.log.lines.some((one) => JSON.stringify(one.fields.settings ?? []).includes(what));
      await soon(line, `${what} to be in force`);
    },
    /** Waits until the status says this of the config. */
    told: async (restart: readonly string[], problem?: RegExp) =>
      await soon(async () => {
        const { config } = await status();
        const isTold = problem === undefined ? config?.problem === undefined : problem.test(config?.problem ?? "");
        return isTold && config?.restart.join() === restart.join();
      }, `config: ${restart.join()} ${problem}`),
    say: (userId: number, said: string) => void telegram.pushText({ chatId: userId, userId, text: said }),
    sentTo: (chatId: number) => telegram.sent.filter((one) => one.chatId === String(chatId)).map((one) => one.text),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await telegram.stop();
    },
  };
}

const withModel = (model: string) => ({ agents: { defaults: { model } } });

test("another model in the file answers the next message, without a restart", async () => {
  await using place = await start();
  assert.equal((await place.gateway.ask("hello")).response, "test-model answers");
  await place.write(withModel("openai/other-model"));
  await soon(async () => (await place.status()).model === "openai/other-model", "the other model");
  assert.equal((await place.gateway.ask("hello again")).response, "other-model answers");
  assert.deepEqual((await place.status()).config, { path: place.file, restart: [] });
});

test("a broken edit changes nothing and is told, until it is corrected", async () => {
  await using place = await start();
  for (const [broken, why] of [
    ['{"agents": {"defaults": {"model": ', /line 1, column 35: the file ends here.*goes on as before/],
    ["", /the file is empty/],
    [place.text({ agents: { defaults: { model: "openai/other-model", maxTokens: "many" } } }), /maxTokens: expected/],
    [place.text({ agnets: {} }), /unknown key "agnets".*did you mean "agents"/],
  ] as const) {
    await writeFile(place.file, broken);
    await place.told([], why);
    const { problems, channels, model } = await place.status();
    assert.ok(problems.some((problem) => why.test(problem)));
    assert.deepEqual([channels.map(({ name }) => name), model], [["telegram"], "openai/test-model"]);
  }
  assert.equal((await place.gateway.ask("hello")).response, "test-model answers");
  await rm(place.file);
  await place.told([], /not there any more/);
  await mkdir(place.file);
  await place.told([], /cannot be read/);
  await rm(place.file, { recursive: true });
  await place.write(withModel("openai/other-model"));
  await place.told([]);
  assert.equal((await place.gateway.ask("hello")).response, "other-model answers");
  assert.ok(place.gateway.log.lines.some((line) => JSON.stringify(line).includes("not there any more")));
});

test("who may talk changes with the file", async () => {
  await using place = await start();
  await soon(async () => (await place.status()).channels[0]?.state === "connected", "the channel");
  place.say(8, "may I?");
  place.say(7, "I may");
  await soon(() => place.sentTo(7).length === 1, "the answer to 7");
  assert.deepEqual(place.sentTo(8), []);
  await place.write({}, { allowFrom: ["8"] });
  await place.inForce("allowFrom");
  place.say(7, "and now?");
  place.say(8, "me too?");
  await soon(() => place.sentTo(8).length === 1, "the answer to 8");
  assert.deepEqual([place.sentTo(8), place.sentTo(7).length], [["test-model answers"], 1]);
  assert.deepEqual((await place.status()).config?.restart, []);
});

test("what needs a restart is told by name, also besides what is taken over, and no more once it is taken back", async () => {
  await using place = await start();
  await place.write({ ...withModel("openai/other-model"), gateway: { port: 4711, host: "127.0.0.2" } });
  await place.told(["gateway.host", "gateway.port"]);
  const { problems, model } = await place.status();
  assert.equal(model, "openai/other-model");
  assert.deepEqual(
    problems.filter((problem) => problem.includes("Restart")),
    ["Restart the gateway: the config has changed at gateway.host, gateway.port."],
  );
  await place.write();
  await place.told([]);
});

test("a file that is replaced, reached by a link, or written a thousand times is followed, and the last one counts", async () => {
  await using place = await start();
  const elsewhere = join(place.gateway.home, "elsewhere");
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, "mine.json"), place.text(withModel("openai/linked")));
  await symlink(join(elsewhere, "mine.json"), `${place.file}.new`);
  await rename(`${place.file}.new`, place.file);
  await soon(async () => (await place.status()).model === "openai/linked", "what the link leads to");
  await writeFile(join(elsewhere, "next"), place.text(withModel("openai/behind")));
  await rename(join(elsewhere, "next"), join(elsewhere, "mine.json"));
  await soon(async () => (await place.status()).model === "openai/behind", "a change behind the link");
  for (let n = 0; n < 1000; n++) await place.write(withModel(`openai/model-${n}`));
  await soon(async () => (await place.status()).model === "openai/model-999", "the last of many");
  assert.equal((await place.status()).config?.problem, undefined);
});

test("a budget and a rule of the file count from the next message on", async () => {
  await using place = await start();
  await place.write({ budgets: { day: { turns: 0 } }, policy: { rules: [{ tool: "exec", verdict: "deny" }] } });
  await soon(async () => (await place.api.policy()).rules.length === 1, "the rule");
  assert.equal((await place.gateway.ask("hello")).end, "failed");
  await place.write({ budgets: {} });
  await soon(async () => (await place.api.policy()).rules.length === 0, "no rule");
  assert.equal((await place.gateway.ask("hello")).response, "test-model answers");
});

test("titles are given as the file says now", async () => {
  await using place = await start();
  const titleOf = async (key: string) => {
    await place.gateway.ask("What is a title?", { key });
    const { sessions } = await place.api.listSessions({ limit: 10, offset: 0 });
    return sessions.find((one) => one.key === key)?.title;
  };
  assert.equal(await titleOf("webui:first"), "What is a title?");
  await place.write({ memory: { titles: "off" } });
  await soon(
    () => place.gateway.log.lines.some((line) => JSON.stringify(line).includes("memory.titles")),
    "the change",
  );
  assert.equal(await titleOf("webui:second"), undefined);
  assert.deepEqual((await place.status()).config?.restart, []);
});

test("a channel that is switched off stops, and goes on once it is switched on again", async () => {
  await using place = await start();
  await soon(async () => (await place.status()).channels[0]?.state === "connected", "the channel");
  await place.write({}, { enabled: false });
  await soon(async () => (await place.status()).channels.length === 0, "the channel to be off");
  assert.deepEqual((await place.status()).config?.restart, []);
  place.say(7, "are you there?");
  await place.write({}, { allowFrom: ["7", "8"] });
  await soon(() => place.sentTo(7).length === 1, "the answer");
  assert.equal((await place.status()).channels[0]?.state, "connected");
  place.say(8, "and I?");
  await soon(() => place.sentTo(8).length === 1, "the answer to 8");
});

test("a channel whose settings change goes on with them, and one whose list changes is not disturbed", async () => {
  await using place = await start();
  await soon(async () => (await place.status()).channels[0]?.state === "connected", "the channel");
  const logins = () => place.telegram.calls("getMe");
  assert.equal(logins(), 1);
  await place.write({}, { allowFrom: ["7", "8"] });
  await place.inForce("allowFrom");
  place.say(8, "may I?");
  await soon(() => place.sentTo(8).length === 1, "the answer to 8");
  assert.equal(logins(), 1);
  const other = await startFakeTelegram({ token: "4343:another" });
  try {
    const held = gate();
    place.model.setAnswer({ text: ["slow", " answer"], pause: { before: "answer", until: held.opened } });
    place.say(7, "take your time");
    await place.model.waitForRequests(2);
    await place.write({}, { token: other.token, apiRoot: other.url });
    await soon(() => other.calls("getUpdates") > 0, "the other bot");
    await place.told([]);
    held.open();
    await soon(() => other.sent.length === 1, "the answer of the turn that ran");
    place.model.setAnswer({ text: "quick" });
    other.pushText({ chatId: 7, userId: 7, text: "and you?" });
    await soon(() => other.sent.length === 2, "the other bot's answer");
    assert.deepEqual(
      other.sent.map(({ text }) => text),
      ["slow answer", "quick"],
    );
    const asked = place.telegram.calls("getUpdates");
    place.say(7, "are you still here?");
    await place.gateway.ask("hello");
    assert.equal(place.telegram.calls("getUpdates"), asked);
    assert.equal(place.sentTo(7).length, 0);
  } finally {
    await other.stop();
  }
});

test("a token that one account gives up can be another's in the same change", async () => {
  await using place = await start();
  const other = await startFakeTelegram({ token: "4343:another" });
  try {
    const channels = (mine: typeof other, theirs: typeof other) => {
      const section = (of: typeof other) => ({ enabled: true, token: of.token, apiRoot: of.url, allowFrom: ["7"] });
      return { channels: { telegram: section(mine), "telegram-work": section(theirs) } };
    };
    const isUp = async () =>
      (await place.status()).channels.map(({ name, state }) => `${name} ${state}`).join() ===
      "telegram connected,telegram-work connected";
    await place.write(channels(place.telegram, other));
    await soon(isUp, "both");
    await place.write(channels(other, place.telegram));
    await place.inForce("channels.telegram.token");
    await soon(isUp, "both, the other way round");
    place.say(7, "who is this?");
    other.pushText({ chatId: 7, userId: 7, text: "and this?" });
    await soon(() => place.sentTo(7).length === 1 && other.sent.length === 1, "both answers");
    const said = async (key: string) => JSON.stringify((await place.api.getSession(key)).messages);
    assert.match(await said("telegram:7"), /and this\?/);
    assert.match(await said("telegram-work:7"), /who is this\?/);
    assert.deepEqual(
      place.gateway.log.lines.filter((line) => JSON.stringify(line).includes("409")),
      [],
    );
  } finally {
    await other.stop();
  }
});

test("a turn that runs ends with the key that it began with; the next one has the new key", async () => {
  await using place = await start();
  const held = gate();
  place.model.setAnswer({ text: ["slow", " answer"], pause: { before: "answer", until: held.opened } });
  const messageId = await place.gateway.post("hello");
  await place.model.waitForRequests(1);
  const { openai } = openAIConfig(place.model.apiBase).providers as { openai: object };
  await place.write({ providers: { openai: { ...openai, apiKey: "sk-another-key" } } });
  await place.inForce("providers");
  held.open();
  assert.equal((await place.gateway.outcome(messageId)).response, "slow answer");
  place.model.setAnswer({ text: "quick" });
  assert.equal((await place.gateway.ask("and now?")).response, "quick");
  const keys = place.model.requests.map(({ headers }) => headers.authorization);
  assert.deepEqual(keys, ["Bearer sk-test-key", "Bearer sk-another-key"]);
  assert.ok(!JSON.stringify(place.gateway.log.lines).includes("sk-another-key"));
});

test("a file that is away for a moment, or written in two steps, disturbs nothing", async () => {
  await using place = await start();
  const next = place.text(withModel("openai/other-model"));
  await rm(place.file);
  await writeFile(place.file, next.slice(0, 40));
  await writeFile(place.file, next);
  await soon(async () => (await place.status()).model === "openai/other-model", "the other model");
  await place.told([]);
  await rm(place.file);
  await place.told([], /not there any more/);
  assert.equal((await place.gateway.ask("hello")).response, "other-model answers");
  await writeFile(place.file, next.slice(0, 40));
  await place.told([], /cannot be read/);
  await writeFile(place.file, next);
  await place.told([]);
});

test("replies that wait when their channel is switched off go out once it is on again", async () => {
  await using place = await start();
  const held = gate();
  place.model.setAnswer({ text: ["slow", " answer"], pause: { before: "answer", until: held.opened } });
  place.say(7, "take your time");
  await place.model.waitForRequests(1);
  await place.write({}, { enabled: false });
  await soon(async () => (await place.status()).channels.length === 0, "the channel to be off");
  held.open();
  await soon(async () => (await place.status()).outboundWaiting === 1, "the reply to wait");
  assert.deepEqual(place.sentTo(7), []);
  await place.write();
  await place.told([]);
  // Here it would go out within a minute.
  await using _next = await place.gateway.restart();
  await soon(() => place.sentTo(7).includes("slow answer"), "the reply");
  assert.deepEqual(place.sentTo(7), ["slow answer"]);
});

test("killed right after an edit, it starts with what the file says, whole", async () => {
  await using model = await startFakeOpenAI({ answer: ({ body }) => ({ text: `${String(body.model)} answers` }) });
  const home = await tempHome();
  const file = join(home, "config.json");
  const text = (name: string): string =>
    JSON.stringify(
      openAIConfig(model.apiBase, { agents: { defaults: { model: `openai/${name}` } }, gateway: { port: 0 } }),
    );
  await writeFile(file, text("model-0"));
  for (const n of [1, 2, 3]) {
    await using daemon = await startDaemon({ home });
    const status = await (await fetch(`${daemon.url}/api/status`)).text();
    assert.match(status, new RegExp(`"openai/model-${n - 1}"`));
    await writeFile(`${file}.new`, text(`model-${n}`));
    await rename(`${file}.new`, file);
    await daemon.end("SIGKILL");
  }
});
