import { mkdirSync, renameSync, rmdirSync } from "node:fs";
import { createSessionFiles } from "../../../src/sessions/file-names.js";
import { Crowd } from "./crowd.js";
import { costOf, failIfBroken, type Scenario } from "./scenario.js";

/** More than Telegram hands out at once. */
const behind = 240;
const vain = 120;
const stuck = 1;
const asker = 1;
const others = 99;
/** No other chat may wait for longer, on a machine that is busy. */
const patienceMs = 20_000;

/** One chat waits for its person with hundreds of messages behind; the others do not notice. */
export const openQuestion: Scenario = {
  name: "open question",
  what: `a group with an open question and ${behind} messages behind it, while others talk; kills between`,
  promise: "the others are answered, status names the group, and after the answer all that waited is answered in order",
  rounds: { test: 1, sweep: 5 },
  async run({ rounds, nursery }) {
    await using crowd = await Crowd.open(nursery, { chats: 5, hasGroup: true, asksBack: true });
    await crowd.start();
    crowd.say(stuck, "ask", asker);
    await crowd.shows(stuck, "Which one");
    for (let n = 0; n < behind; n += 1) crowd.say(stuck, "plain", others);
    let slowest = 0;
    for (let round = 0; round < rounds; round += 1) {
      slowest = Math.max(slowest, await othersGoOn(crowd));
      await namedInStatus(crowd, "has a question open");
      await crowd.kill();
      await crowd.start();
    }
    slowest = Math.max(slowest, await othersGoOn(crowd));
    await crowd.answerQuestion(stuck, "this one");
    await crowd.quiet();
    const evidence = await crowd.evidence();
    const broken = await crowd.findBroken();
    await crowd.stop(2000);
    failIfBroken([...broken, ...(await crowd.verify())], crowd.log());
    return costOf(evidence, { kills: rounds, stops: 1, note: `the others waited ${slowest} ms at most` });
  },
};

/** One chat's log cannot be opened; what is sent there is refused with a word, and nothing else is held up. */
export const unreadableLog: Scenario = {
  name: "unreadable log",
  what: "a chat whose log cannot be opened, while others talk; kills between",
  promise: "the others are answered, the person is told, status names the chat, and it goes on once the log is back",
  rounds: { test: 1, sweep: 5 },
  async run({ rounds, nursery }) {
    await using crowd = await Crowd.open(nursery, { chats: 5 });
    const log = createSessionFiles(crowd.sessions).logPath(crowd.keyOf(stuck));
    let [slowest, before] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      await crowd.start();
      await crowd.answered(crowd.say(stuck, "plain"));
      await crowd.quiet();
      await crowd.stop(2000);
      renameSync(log, `${log}.away`);
      mkdirSync(log);
      crowd.unreadable.add(stuck);
      await crowd.start();
      before = crowd.shownIn(stuck).length;
      crowd.sayInVain(stuck);
      for (let n = 0; n < vain; n += 1) crowd.sayInVain(stuck);
      slowest = Math.max(slowest, await othersGoOn(crowd));
      await namedInStatus(crowd, "");
      await crowd.until("the person is told", () => crowd.shownIn(stuck).length > before, patienceMs);
      slowest = Math.max(slowest, await othersGoOn(crowd));
      await crowd.kill();
      rmdirSync(log);
      renameSync(`${log}.away`, log);
      crowd.unreadable.delete(stuck);
    }
    await crowd.start();
    await crowd.answered(crowd.say(stuck, "plain"));
    await crowd.quiet();
    const evidence = await crowd.evidence();
    const broken = await crowd.findBroken();
    await crowd.stop(2000);
    failIfBroken([...broken, ...(await crowd.verify())], crowd.log());
    return costOf(evidence, { kills: rounds, stops: rounds + 1, note: `the others waited ${slowest} ms at most` });
  },
};

/** Resolves with how long the slowest of the other chats waited for its answer. */
async function othersGoOn(crowd: Crowd): Promise<number> {
  const texts = crowd.chats.filter((chat) => chat !== stuck).map((chat) => crowd.say(chat, "plain"));
  const slowest = Math.max(...(await Promise.all(texts.map((text) => crowd.answered(text)))));
  if (slowest > patienceMs) throw new Error(`others waited ${slowest} ms`);
  return slowest;
}

async function namedInStatus(crowd: Crowd, reason: string): Promise<void> {
  const key = crowd.keyOf(stuck);
  await crowd.until(
    `status names ${key}`,
    async () => {
      const { stuckChats } = await crowd.status();
      return stuckChats.some((chat) => chat.sessionKey === key && chat.reason.includes(reason));
    },
    patienceMs,
  );
}
