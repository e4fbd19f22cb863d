import type { Engine } from "../../engine/engine.js";
import { statusSentence } from "../../util/words/status-sentences.js";

const shownForMs = 7 * 24 * 3600 * 1000;

/** Replies of the last week that did not reach their chat: how many per channel, and the newest by its chat and reason. */
export async function findUndelivered({ dead }: Pick<Engine, "dead">, now: number): Promise<readonly string[]> {
  const letters = (await dead.list()).flatMap(({ work, reason, buriedAt }) =>
    "attachments" in work.body && work.queue === "outbound" && now - buriedAt < shownForMs
      ? [{ channel: work.body.channel, chat: work.body.chatId, reason, buriedAt }]
      : [],
  );
  return [...new Set(letters.map(({ channel }) => channel))].flatMap((name) => {
    const own = letters.filter(({ channel }) => channel === name);
    const newest = own.reduce((a, b) => (b.buriedAt >= a.buriedAt ? b : a));
    const { chat, reason } = newest;
    return own.length === 1
      ? statusSentence("undelivered_one", { name, chat, reason })
      : statusSentence("undelivered", { n: own.length, name, chat, reason });
  });
}
