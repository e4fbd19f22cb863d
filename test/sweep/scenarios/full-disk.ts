import { join } from "node:path";
import { fillUp, makeRoom, mountSmallDisk } from "../../support/engine/small-disk.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";
import { Crowd } from "./crowd.js";
import { costOf, failIfBroken, moment, pick, type Scenario, upTo } from "./scenario.js";

/** The disk gets full between the moment in which a reply is shown and its receipt. */
export const fullDisk: Scenario = {
  name: "full disk",
  what: "a disk that gets full as a reply was shown, before its receipt; kills meanwhile and starts on the full disk",
  promise: "no reply is shown again without a mark, nothing accepted is lost, and a start that needs room says so",
  rounds: { test: 3, sweep: 25 },
  missing: withoutSmallDisk,
  async run({ rounds, random, nursery }) {
    using disk = mountSmallDisk("4m");
    await using crowd = await Crowd.open(nursery, { chats: 4, home: join(disk.folder, "home"), sendRetryMs: 50 });
    let [kills, refused] = [0, 0];
    await crowd.start();
    for (let round = 0; round < rounds; round += 1) {
      crowd.telegram.answerNextLate({ method: "sendMessage", ms: 100 + random() * 100 });
      const before = crowd.telegram.sent.length;
      for (let messages = upTo(4, random); messages > 0; messages -= 1) crowd.say(pick(crowd.chats, random), "plain");
      await crowd.until("a reply is shown", () => crowd.telegram.sent.length > before);
      fillUp(disk.folder, pick([0, 0, 500, 5000], random));
      if (random() < 0.5) crowd.say(pick(crowd.chats, random), "plain");
      await moment(random() * 500);
      if (random() < 0.6) {
        await crowd.kill();
        kills += 1;
        if (random() < 0.5) makeRoom(disk.folder);
        refused += await startOrRefuse(crowd, () => makeRoom(disk.folder));
      }
      makeRoom(disk.folder);
      await crowd.quiet();
    }
    const evidence = await crowd.evidence();
    const broken = await crowd.findBroken();
    await crowd.stop(2000);
    failIfBroken([...broken, ...(await crowd.verify())], crowd.log());
    return costOf(evidence, { kills, stops: 1, note: `${refused} starts refused for want of room` });
  },
};

/** 1 when there was no room to start, which has to be said in words. */
async function startOrRefuse(crowd: Crowd, free: () => void): Promise<number> {
  try {
    await crowd.start();
    return 0;
  } catch (error) {
    if (!/Free some space/.test(String(error))) throw error;
    await crowd.kill();
    free();
    await crowd.start();
    return 1;
  }
}
