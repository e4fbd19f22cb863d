import { z } from "zod";
import { harmless, print, printTable } from "../output.js";

const common = {
  id: z.string(),
  kind: z.enum(["message", "reply"]),
  sessionKey: z.string(),
  channel: z.string(),
  chatId: z.string(),
  thread: z.string().optional(),
  reason: z.string(),
  acceptedAt: z.string(),
  buriedAt: z.string(),
  attempts: z.number(),
};
const list = z.object({ letters: z.array(z.object({ ...common, begin: z.string() })) });
const whole = z.object({ ...common, content: z.string(), files: z.array(z.string()) });

export function printDeadLetters(answer: unknown): void {
  const { letters } = list.parse(answer);
  if (letters.length === 0) {
    print("Nothing was given up.");
    return;
  }
  printTable(
    ["ID", "WHAT", "CHAT", "GIVEN UP", "WHY"],
    letters.map((one) => [one.id, one.kind, chatOf(one), one.buriedAt, one.reason]),
  );
}

export function printDeadLetter(answer: unknown): void {
  const { id, kind, sessionKey, reason, acceptedAt, buriedAt, attempts, content, files, ...place } =
    whole.parse(answer);
  const rows: [string, string][] = [
    ["Id", id],
    [kind === "message" ? "Message from" : "Reply to", chatOf(place)],
    ["Conversation", sessionKey],
    ["Accepted", acceptedAt],
    ["Given up", `${buriedAt}, after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`],
    ["Why", reason],
    ...(files.length === 0 ? [] : [["Files", files.join(", ")] satisfies [string, string]]),
  ];
  for (const [name, text] of rows) print(`${`${name}:`.padEnd(14)} ${harmless(text)}`);
  print(`\n${harmless(content)}`);
}

function chatOf({ channel, chatId, thread }: { channel: string; chatId: string; thread?: string | undefined }): string {
  return [channel, chatId, ...(thread === undefined ? [] : [thread])].join(":");
}
