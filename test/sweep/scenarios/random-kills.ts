import { Crowd } from "./crowd.js";
import { slowAnswer } from "./crowd-model.js";
import { costOf, failIfBroken, moment, pick, type Scenario, upTo } from "./scenario.js";

/** Many chats are at work at each kill, and none of their messages is to blame. */
export const randomKills: Scenario = {
  name: "random kills",
  what: "kills from outside under the load of many chats",
  promise: "no message is given up, none is lost, and what repeats is marked",
  rounds: { test: 8, sweep: 100 },
  async run({ rounds, random, nursery }) {
    await using crowd = await Crowd.open(nursery, { chats: 24, answer: slowAnswer(random, 200) });
    for (let kills = 0; kills < rounds; kills += 1) {
      for (let messages = upTo(24, random); messages > 0; messages -= 1) crowd.say(pick(crowd.chats, random), "plain");
      if (await crowd.start(random() < 0.2 ? { nth: upTo(100, random) } : undefined)) await moment(random() * 400);
      await crowd.kill();
    }
    await crowd.start();
    await crowd.quiet();
    const { deadLetters } = await crowd.status();
    const evidence = await crowd.evidence();
    const broken = [...(await crowd.findBroken())];
    if (deadLetters > 0) broken.push(`${deadLetters} dead letters`);
    await crowd.stop(2000);
    failIfBroken([...broken, ...(await crowd.verify())], crowd.log());
    return costOf(evidence, { kills: rounds, stops: 1 });
  },
};
