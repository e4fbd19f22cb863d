import { readFile } from "node:fs/promises";
import type { Subject } from "../bench/subject.js";

export interface Load {
  readonly perSecond: number;
  readonly messages: number;
  readonly chats: number;
  readonly sampleMs: number;
}

/** Resident memory at a moment. */
export interface Sample {
  readonly seconds: number;
  readonly megabytes: number;
}

/** Sends the messages round the chats at an even pace, and looks at the program's memory meanwhile. */
export async function soak(subject: Subject, load: Load): Promise<readonly Sample[]> {
  const { telegram } = subject;
  const startedAt = performance.now();
  const samples: Sample[] = [];
  let nextSample = 0;
  const sample = async (): Promise<void> => {
    if (performance.now() - startedAt < nextSample) return;
    nextSample += load.sampleMs;
    samples.push({ seconds: (performance.now() - startedAt) / 1000, megabytes: await subject.rssMegabytes() });
  };
  for (let sent = 0; sent < load.messages; ) {
    const due = Math.min(load.messages, Math.ceil(((performance.now() - startedAt) * load.perSecond) / 1000));
    // A program that falls behind is not buried: what waits at the platform is not its memory.
    const room = telegram.sent.length + 4 * load.chats;
    for (; sent < Math.min(due, room); sent += 1) telegram.pushText(messageOf(sent, load.chats));
    await sample();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const end = performance.now() + 120_000;
  while (telegram.sent.length < load.messages) {
    if (performance.now() > end) throw new Error(`Only ${telegram.sent.length} of ${load.messages} were answered`);
    await sample();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return samples;
}

/** The highest resident memory since the program began, also between two samples. */
export async function peakMegabytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1000;
}

/** The processor time that the program has taken since it began. */
export async function processorMs(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // Behind the name, which may hold anything: the state, and ten fields later the two times in hundredths of a second.
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return (user + system) * 10;
}

/** How much the memory grows in a minute over the last two thirds of the samples: the slope of the line through them. */
export function slopePerMinute(samples: readonly Sample[]): number {
  const last = samples.slice(Math.floor(samples.length / 3));
  const mean = (of: (sample: Sample) => number): number => last.reduce((sum, one) => sum + of(one), 0) / last.length;
  const [x, y] = [mean(({ seconds }) => seconds), mean(({ megabytes }) => megabytes)];
  const over = last.reduce((sum, one) => sum + (one.seconds - x) * (one.megabytes - y), 0);
  const under = last.reduce((sum, one) => sum + (one.seconds - x) ** 2, 0);
  return (over / under) * 60;
}

function messageOf(n: number, chats: number) {
  const chat = 1000 + (n % chats);
  const text = `Message ${n}: ${"what do you think of this? ".repeat(1 + (n % 7))}`;
  return { chatId: chat, userId: chat, text };
}
