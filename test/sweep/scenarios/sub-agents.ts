import type { Evidence } from "../evidence.js";
import { Crowd, hasMarker, markerOf } from "./crowd.js";
import { slowAnswer } from "./crowd-model.js";
import { costOf, failIfBroken, moment, pick, type Scenario, upTo } from "./scenario.js";

const kinds = ["plain", "plain", "delegate"] as const;

/** As many sub-agents as may wait over several ends. */
const agents = { defaults: { model: "openai/test-model" }, spawn: { atOnce: 32 } };

/** Orderly stops and kills take turns while sub-agents work. */
export const subAgents: Scenario = {
  name: "sub-agents",
  what: "orderly stops and kills while sub-agents work",
  promise: "the files are sound after each end, each event id is there once, and each result is told once",
  rounds: { test: 5, sweep: 40 },
  async run({ rounds, random, nursery }) {
    await using crowd = await Crowd.open(nursery, { chats: 6, answer: slowAnswer(random, 150), config: { agents } });
    let [kills, stops] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      for (let messages = upTo(6, random); messages > 0; messages -= 1)
        crowd.say(pick(crowd.chats, random), pick(kinds, random));
      await crowd.start();
      await moment(random() * 400);
      const isKill = random() < 0.4;
      if (isKill) await crowd.kill();
      else await crowd.stop(pick([0, 0, 30, 2000], random));
      kills += isKill ? 1 : 0;
      stops += isKill ? 0 : 1;
      failIfBroken(await crowd.verify(), crowd.log());
    }
    await crowd.start();
    await crowd.quiet();
    const evidence = await crowd.evidence();
    const broken = [...(await crowd.findBroken()), ...untold(evidence)];
    await crowd.stop(2000);
    failIfBroken([...broken, ...(await crowd.verify())], crowd.log());
    return costOf(evidence, { kills, stops: stops + 1 });
  },
};

/** Each piece of work has its sub-agent's result in the conversation once. */
function untold({ chats }: Evidence): readonly string[] {
  return chats.flatMap(({ said, look }) =>
    said.flatMap((text) => {
      if (!text.startsWith("delegate")) return [];
      const results = look.events.filter(
        (event) =>
          event.type === "user_message" &&
          event.payload.content.some(
            (part) => part.type === "text" && part.text.includes("found ") && hasMarker(part.text, markerOf(text)),
          ),
      );
      return results.length === 1 ? [] : [`${look.key}: the result of "${text}" was told ${results.length} times`];
    }),
  );
}
