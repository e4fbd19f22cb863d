import { z } from "zod";
import { harmless, print, printTable } from "./output.js";

const sender = z.object({ channel: z.string(), senderId: z.string(), senderName: z.string().optional() });
const pairings = z.object({
  waiting: z.array(sender.extend({ code: z.string(), expiresAt: z.string() })),
  paired: z.array(sender.extend({ pairedAt: z.string() })),
});

export function printPairings(answer: unknown): void {
  const { waiting, paired } = pairings.parse(answer);
  if (waiting.length + paired.length === 0) {
    print("Nobody waits, and nobody is paired.");
    return;
  }
  printTable(
    ["SENDER", "CODE", "SINCE OR UNTIL", "NAME"],
    [
      ...waiting.map((one) => [idOf(one), one.code, `until ${one.expiresAt}`, one.senderName ?? ""]),
      ...paired.map((one) => [idOf(one), "-", `since ${one.pairedAt}`, one.senderName ?? ""]),
    ],
  );
}

export function nameOfSender(answer: unknown): string {
  const found = sender.parse(answer);
  const name = found.senderName === undefined ? "" : ` (${harmless(found.senderName)})`;
  return `${idOf(found)}${name}`;
}

function idOf({ channel, senderId }: z.output<typeof sender>): string {
  return `${channel}:${senderId}`;
}
