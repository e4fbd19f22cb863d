import type { MendedHomeLog, Repair, TakenOver } from "../../../offline/repair.js";
import { counted } from "../../../util/text/counted.js";
import { harmless } from "../output.js";

/** What a repair has found and done. */
export function repairLines({ journal, takenOver, logs, before }: Repair): readonly string[] {
  const isWhole = journal.setAside.length === 0 && takenOver === undefined;
  if (isWhole && logs.length === 0)
    return [
      "Nothing is damaged. Nothing was changed.",
      ...(before.length === 0 ? [] : ["What maxclaw status shows was repaired before:"]),
      ...before.map(harmless),
    ];
  const lines = isWhole ? ["The journal is not damaged."] : [];
  if (journal.setAside.length > 0)
    lines.push(
      `Kept ${counted(journal.keptTransactions, "transaction")}; ${counted(journal.lostBytes, "byte")} could not be read.`,
    );
  if (takenOver !== undefined) lines.push(...takenOverLines(takenOver));
  const kept = [...journal.setAside, ...(takenOver?.setAside ?? [])];
  for (const path of kept) lines.push(`The damaged file is kept as ${path}`);
  if (kept.length > 0)
    lines.push(
      "It holds words of all conversations, also of those that you delete later. Delete it once you do not need it.",
    );
  lines.push(...logs.flatMap(logLines));
  if (!isWhole) lines.push("Start the gateway, then run: maxclaw ledger check");
  return lines.map(harmless);
}

function takenOverLines(taken: TakenOver): readonly string[] {
  const { loss, restored, lost, notAnsweredTwice, notSentTwice, unsent } = taken;
  return [
    loss,
    "Recovered from the conversations:",
    `  ${counted(notAnsweredTwice, "message")} answered already, ${counted(notSentTwice, "reply", "replies")} sent already`,
    `  ${counted(restored.length, "accepted message")} to be answered again`,
    ...restored.map((text) => `    ${text}`),
    ...(lost.length === 0 ? [] : ["Lost, and to be sent again:", ...lost.map((text) => `    ${text}`)]),
    ...(unsent.length === 0 ? [] : ["Replies that may not have arrived; look into the chat:"]),
    ...unsent.map(({ id, sessionKey }) => `    ${sessionKey}: ${id}`),
    'Also gone may be pairings, approvals ("always" too), scheduled jobs, and accepted messages that are in no conversation.',
    "Their senders have to repeat those messages; look through your jobs and approvals.",
  ];
}

function logLines({ sessionKey, lost, restored, keptIn }: MendedHomeLog): readonly string[] {
  const ranges = lost.map(({ from_seq: from, to_seq: to }) => (from === to ? `${from}` : `${from} to ${to}`));
  const outcome = ranges.length === 0 ? "nothing is lost" : `lost: events ${ranges.join(", ")}`;
  return [
    `The log of ${sessionKey} was damaged: ${counted(restored, "event")} brought back, ${outcome}.`,
    ...(keptIn === undefined ? [] : [`The damaged file is kept as ${keptIn}`]),
  ];
}
