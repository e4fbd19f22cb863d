import type { FakeModel } from "./fake-model.js";
import { type Subject, until } from "./subject.js";

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** From the arrival of a message at the platform to its answer there, one message after the other: median in ms. */
export async function latency({ telegram }: Subject, messages: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < messages + 20; n++) {
    const before = telegram.sent.length;
    const startedAt = performance.now();
    telegram.pushText({ chatId: 7, userId: 7, text: `message ${n}` });
    await until(() => telegram.sent.length > before);
    if (n >= 20) times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** Messages per second when many chats write at once, each several messages. */
export async function throughput({ telegram }: Subject, chats: number, perChat: number): Promise<number> {
  const before = telegram.sent.length;
  const startedAt = performance.now();
  for (let n = 0; n < perChat; n++)
    for (let chat = 1; chat <= chats; chat++)
      telegram.pushText({ chatId: 1000 + chat, userId: 1000 + chat, text: `burst ${n}` });
  await until(() => telegram.sent.length >= before + chats * perChat);
  return (chats * perChat * 1000) / (performance.now() - startedAt);
}

export interface TurnTimes {
  /** From arrival to the start of the model request, without serialising the request. */
  readonly beforeMs: number;
  /** From the model's last byte to the send. */
  readonly afterMs: number;
  readonly serialiseMs: number;
}

/** One more message in a session of its length, or each in a new session. */
export async function turnTimes({ telegram }: Subject, model: FakeModel, chats: readonly number[]): Promise<TurnTimes> {
  const before: number[] = [];
  const after: number[] = [];
  const serialise: number[] = [];
  for (const chatId of chats) {
    const sent = telegram.sent.length;
    const startedAt = performance.now();
    telegram.pushText({ chatId, userId: chatId, text: "one more" });
    await until(() => telegram.sent.length > sent);
    const sentAt = performance.now();
    const call = model.last;
    if (call === undefined) throw new Error("The model was not asked");
    const request: unknown = JSON.parse(call.body);
    const serialiseFrom = performance.now();
    Buffer.from(JSON.stringify(request));
    const serialiseMs = performance.now() - serialiseFrom;
    serialise.push(serialiseMs);
    before.push(call.startedAt - startedAt - serialiseMs);
    after.push(sentAt - call.endedAt);
  }
  return { beforeMs: median(before), afterMs: median(after), serialiseMs: median(serialise) };
}
