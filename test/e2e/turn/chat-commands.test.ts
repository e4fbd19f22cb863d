import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { commands } from "../../../src/agent/commands/chat-command.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { assertSound, startWithModel, tempHome } from "../../support/worlds/gateway.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";

const owner = 1;
const guest = 2;

/** A gateway with one owner on Telegram. `ask` says something there and gives the next thing that is said. */
async function start(answer: AnswerScript = { text: "ok" }, allowFrom: readonly string[] = ["*"]) {
  const telegram = await startFakeTelegram({ token: "4242:commands" });
  const home = await tempHome();
  const skills = join(home, "workspace", "skills");
  await mkdir(skills, { recursive: true });
  await writeFile(
    join(skills, "invoice.md"),
    "---\nname: Bills\ndescription: Write an invoice.\n---\nAsk for the month.",
  );
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom } };
  const scripted = await startWithModel(answer, { channels, owners: [`telegram:${owner}`] }, { home });
  return {
    ...scripted,
    telegram,
    state: join(home, "workspace", ".skills_state.json"),
    async ask(userId: number, text: string, chatId = userId): Promise<string> {
      const before = telegram.sent.length;
      telegram.pushText({ chatId, userId, text, ...(chatId < 0 ? { replyTo: { messageId: 1, fromBot: true } } : {}) });
      return (await telegram.waitForSent(before + 1)).at(before)?.text ?? "";
    },
    async [Symbol.asyncDispose]() {
      await scripted[Symbol.asyncDispose]();
      await telegram.stop();
    },
  };
}

test("/new says so when words came with it that nobody has read", async () => {
  await using t = await start();
  assert.doesNotMatch(await t.ask(guest, "/new"), /after \/new/);
  assert.match(await t.ask(guest, "/new What is tea?"), /I did not read the words after \/new/);
  assert.equal(t.model.requests.length, 0);
});

test("in a group only an owner has the conversation summarised", async () => {
  await using t = await start();
  assert.match(await t.ask(guest, "/compact", -5), /^In a group only an owner/);
  assert.equal(await t.ask(owner, "/compact", -5), "There is nothing to summarise yet.");
  assert.equal(await t.ask(guest, "/compact"), "There is nothing to summarise yet.", "in a chat of their own they may");
});

test("an unknown command is answered at once, and no model is asked; other texts that begin with a slash are texts", async () => {
  await using t = await start();
  assert.equal(
    await t.ask(owner, "/hepl me"),
    "/hepl is not a command. Did you mean /help? /help lists them. To send it as text, begin with two slashes.",
  );
  assert.match(await t.ask(guest, "/start"), /^Hello\./);
  assert.equal(t.model.requests.length, 0);
  for (const text of ["/etc/hosts is empty", "//hepl", "/usr\nis full", "/ is the root"])
    assert.equal(await t.ask(owner, text), "ok", text);
});

test("/help names every command and what it does, and to guests none that is an owner's", async () => {
  await using t = await start();
  assert.doesNotMatch(await t.ask(guest, "/help"), /\/pair/);
  const help = await t.ask(owner, "/help");
  for (const [name, meaning] of Object.entries(commands)) assert.ok(help.includes(`/${name} – ${meaning}`), name);
  for (const name of [
    "help",
    "new",
    "stop",
    "status",
    "model",
    "skills",
    "cron",
    "approve",
    "deny",
    "pair",
    "usage",
    "undo",
    "plan",
  ])
    assert.ok(Object.hasOwn(commands, name), name);
});

test("/skills lists them for all; an owner switches them, from the next message on, and nothing else of the file changes", async () => {
  await using t = await start();
  await writeFile(t.state, JSON.stringify({ Bills: true, other: false }));
  assert.match(await t.ask(guest, "/skills"), /• invoice \(on\): Write an invoice\.[\s\S]*\/skills off NAME/);
  assert.match(await t.ask(guest, "/skills off invoice"), /Only an owner/);
  assert.equal(JSON.parse(await readFile(t.state, "utf8")).Bills, true);
  await t.ask(owner, "hello");
  assert.match(t.model.requests.at(-1)?.bodyText ?? "", /Ask for the month/);
  assert.match(await t.ask(owner, "/skills off bills"), /invoice is off from the next message on/);
  assert.deepEqual(JSON.parse(await readFile(t.state, "utf8")), { other: false, invoice: false });
  await t.ask(guest, "hello");
  assert.doesNotMatch(t.model.requests.at(-1)?.bodyText ?? "", /Ask for the month/);
  assert.match(await t.ask(guest, "/skills"), /invoice \(off\)/);
  assert.match(await t.ask(owner, "/skills on $invoice"), /invoice is on/);
  assert.match(await t.ask(owner, "/skills on nothing"), /There is no skill “nothing”/);
  assert.match(await t.ask(owner, "/skills what"), /^\/skills off NAME/);
  await writeFile(t.state, "{ broken");
  assert.match(await t.ask(owner, "/skills off invoice"), /cannot be changed: [\s\S]*Repair or remove it/);
  assert.equal(await readFile(t.state, "utf8"), "{ broken", "what cannot be read is not written over");
  const told = (await t.gateway.events("system")).flatMap((event) =>
    event.type === "settings_changed" && event.payload.key === "skill" ? [event.payload.to] : [],
  );
  assert.deepEqual(told, ["invoice off", "invoice on"]);
  assertSound(await t.gateway.events(`telegram:${owner}`));
});

test("/cron lists, switches, runs and removes the chat's own jobs; in a group only who made one, or an owner, changes it", async () => {
  await using t = await start(({ userText, index, bodyText }) => {
    const isAnswered = bodyText.lastIndexOf('"role":"tool"') > bodyText.lastIndexOf('"role":"user"');
    if (!/remind us|remind me/.test(userText) || isAnswered) return { text: `done ${userText.split("\n").at(-1)}` };
    const input = { action: "add", message: "tea", name: userText.endsWith("us") ? "ours" : "mine", every: "2h" };
    return { toolCalls: [{ id: `c${index}`, name: "cron", input }] };
  });
  assert.match(await t.ask(guest, "/cron"), /Nothing is scheduled in this chat[\s\S]*To add one, just say/);
  await t.ask(guest, "remind me");
  assert.match(await t.ask(guest, "remind us", -7), /May I add a scheduled job/);
  assert.match(await t.ask(guest, "/approve", -7), /done remind us/);
  assert.match(await t.ask(guest, "/cron"), /^1\. job_\w+ "mine": every 2.*, next /m);
  assert.match(await t.ask(guest, "/cron disable 1"), /"mine".*, off/);
  assert.match(await t.ask(guest, "/cron history 1"), /It has not run yet/);
  assert.match(await t.ask(guest, "/cron on 1"), /"mine".*, next /);
  const before = t.telegram.sent.length;
  assert.match(await t.ask(guest, "/cron run 1"), /^It runs now: job_/);
  await until("the job has run", () =>
    t.telegram.sent.slice(before).some(({ text }) => /Scheduled: mine.*tea/.test(text)),
  );
  await t.gateway.waitForEvent(
    (event) => event.type === "schedule_run_changed" && event.payload.status === "completed",
    `telegram:${guest}`,
  );
  assert.match(await t.ask(guest, "/cron history 1"), /completed/);
  assert.match(await t.ask(guest, "/cron remove 2"), /There is no job 2 in this chat/);
  assert.match(await t.ask(guest, "/cron explode 1"), /^\/cron remove N/);
  assert.match(await t.ask(guest, "/cron remove"), /^Which one\?/);
  assert.match(await t.ask(3, "/cron remove 1", -7), /Only the person who asked for this job, or an owner/);
  assert.match(await t.ask(3, "/cron", -7), /"ours"/);
  assert.match(await t.ask(owner, "/cron remove 1", -7), /^Removed: job_\w+ "ours"/);
  assert.match(await t.ask(guest, "/cron remove 1"), /^Removed: job_\w+ "mine"/);
  assert.match(await t.ask(guest, "/cron"), /Nothing is scheduled/);
});

test("/pair shows an owner who waits and lets them in or out; guests and groups are refused", async () => {
  await using t = await start({ text: "hello" }, []);
  const stranger = 9;
  const code = /\b[A-Z2-9]{4,}(?:-[A-Z2-9]+)*\b/.exec(await t.ask(stranger, "hi"))?.[0] ?? "";
  assert.notEqual(code, "");
  const list = await t.ask(owner, "/pair");
  assert.ok(list.includes(code), list);
  assert.match(list, /Waiting:\n• \S+: telegram:9/);
  assert.match(await t.ask(owner, "/pair", -7), /Not in a chat that others read/);
  assert.match(await t.ask(owner, "/pair ZZZZZZZZ"), /No one is waiting with the code ZZZZZZZZ/);
  assert.match(await t.ask(owner, `/pair ${code.toLowerCase()}`), /^telegram:9.*may talk to me now/);
  assert.equal(await t.ask(stranger, "hi again"), "hello");
  assert.match(await t.ask(stranger, "/pair"), /Only an owner of this assistant may give people access/);
  assert.match(await t.ask(stranger, `/pair ${code}`), /Only an owner/);
  assert.match(await t.ask(owner, "/pair"), /Nobody waits\.[\s\S]*Let in:\n• telegram:9/);
  assert.match(await t.ask(owner, "/pair revoke telegram:9"), /may not talk to me any more/);
  assert.match(await t.ask(owner, "/pair revoke telegram:9"), /telegram:9 is not paired/);
  assert.match(await t.ask(owner, "/pair revoke nobody"), /^\/pair CODE/);
  assert.deepEqual(t.api.listPairings().paired, []);
});

test("the page and the terminal have the same commands, as an owner", async () => {
  await using t = await start();
  assert.match((await t.gateway.ask("/skills off invoice", { key: "cli:default" })).response, /invoice is off/);
  assert.match((await t.gateway.ask("/cron")).response, /Nothing is scheduled/);
  assert.match((await t.gateway.ask("/pair list")).response, /Nobody waits/);
  assert.match((await t.gateway.ask("/plan")).response, /There is no plan here/);
});
