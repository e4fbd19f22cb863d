import type { Evidence } from "../evidence.js";
import { repliesIn } from "../evidence.js";
import { Crowd } from "./crowd.js";
import { costOf, failIfBroken, moment, pick, type Scenario, type ScenarioRun, upTo } from "./scenario.js";

/** What a platform in trouble says for a while. */
const troubles = [
  { status: 401, description: "Unauthorized" },
  { status: 404, description: "Not Found" },
  { status: 429, retryAfter: 1 },
  { status: 500 },
  { status: 502, body: "<html><title>502 Bad Gateway</title></html>" },
] as const;
/** The last chat has blocked the bot. */
const chats = 6;
const blocked = chats;

/** The platform refuses for a while what it would take later, and for good what goes to one chat. */
export const refusals: Scenario = {
  name: "refusals",
  what: "a platform that answers 401, 404, 429 and 5xx for a while, and one chat that has blocked the bot; kills between",
  promise: "each reply is shown or named as a dead letter, and the ledger says answered only of what was shown",
  rounds: { test: 2, sweep: 15 },
  async run(run) {
    await using crowd = await Crowd.open(run.nursery, { chats, sendRetryMs: 50 });
    crowd.telegram.failNext({
      method: "sendMessage",
      status: 403,
      chatId: String(blocked),
      times: Number.MAX_SAFE_INTEGER,
    });
    let kills = 0;
    for (let round = 0; round < run.rounds; round += 1) {
      await crowd.start();
      trouble(crowd, run);
      for (let messages = upTo(8, run.random); messages > 0; messages -= 1)
        crowd.say(pick(crowd.chats, run.random), "plain");
      if (run.random() < 0.5) await moment(run.random() * 1000);
      else await crowd.quiet();
      failIfBroken(tooEarly(crowd, await crowd.evidence()), crowd.log());
      await crowd.kill();
      kills += 1;
    }
    await crowd.start();
    await crowd.quiet();
    const evidence = await crowd.evidence();
    const { deadLetters, problems } = await crowd.status();
    const broken = [...crowd.broken, ...undelivered(evidence), ...tooEarly(crowd, evidence)];
    const wanted = repliesIn(evidence.chats[blocked - 1]?.look.events ?? []).length;
    if (deadLetters !== wanted) broken.push(`${deadLetters} dead letters, and ${wanted} replies were refused for good`);
    if (wanted > 0 && !problems.some((text) => text.includes(`chat ${blocked}`)))
      broken.push(`status does not name the blocked chat: ${problems.join(" ")}`);
    await crowd.stop(2000);
    failIfBroken([...broken, ...(await crowd.verify())], crowd.log());
    return costOf(evidence, { kills, stops: 1, note: `${wanted} dead letters, told` });
  },
};

/** The pause before the next poll doubles with each failure in a row, so there are few of those. */
function trouble({ telegram }: Crowd, { random }: ScenarioRun): void {
  if (random() < 0.5) telegram.failNext({ method: "getUpdates", ...pick(troubles, random), times: upTo(2, random) });
  for (let faults = upTo(3, random); faults > 0; faults -= 1) {
    const chatId = String(upTo(chats - 1, random));
    telegram.failNext({ method: "sendMessage", ...pick(troubles, random), chatId, times: upTo(3, random) });
  }
}

/** Replies whose story says that they are out, and that nobody was shown. */
function tooEarly(crowd: Crowd, { chats: all, ledger }: Evidence): readonly string[] {
  return all.flatMap(({ look, name }, index) => {
    const shown = crowd.shownIn(index + 1);
    return repliesIn(look.events).flatMap(({ id, content, story }) => {
      const isShown = shown.includes(content.trim());
      if (story.some(({ status }) => status === "sent") && !isShown)
        return [`${name}: ${id} is told as sent and was not shown`];
      const isOver = story.some(({ status }) => status === "refused" || status === "dead_letter");
      const ends = look.events.flatMap((event) =>
        event.type === "turn_execution_complete" && id.startsWith(event.turn_id ?? "-")
          ? event.payload.message_ids
          : [],
      );
      return ends
        .filter((message) => isOver && ledger.get(message) === "answered")
        .map((message) => `${name}: ${message} is called answered and was not shown`);
    });
  });
}

function undelivered({ chats: all, ledger }: Evidence): readonly string[] {
  return all.flatMap(({ look, name, shown, said }, index) => {
    const isBlocked = index + 1 === blocked;
    const broken: string[] = [];
    for (const { id, content, story } of repliesIn(look.events)) {
      const times = shown.filter((text) => text === content.trim()).length;
      const isMarked = story.some(({ mayRepeat }) => mayRepeat);
      if (isBlocked ? times > 0 : times === 0) broken.push(`${name}: ${id} was shown ${times} times`);
      if (times > 1 && !isMarked) broken.push(`${name}: ${id} was shown ${times} times without a mark`);
    }
    const ends = look.events.flatMap((event) =>
      event.type === "user_message_queued" ? [ledger.get(event.payload.message_id) ?? "unknown"] : [],
    );
    const wanted = isBlocked ? "undelivered" : "answered";
    if (ends.length !== said.length) broken.push(`${name}: ${said.length} messages, ${ends.length} in the ledger`);
    return [
      ...broken,
      ...ends.filter((end) => end !== wanted).map((end) => `${name}: a message is ${end} and not ${wanted}`),
    ];
  });
}
