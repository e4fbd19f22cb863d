import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gate, until } from "../support/engine/engine-kit.js";
import { startFakeTelegram } from "../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../support/fakes/models/fake-openai.js";
import { startDaemon } from "../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../support/worlds/gateway.js";

/** What a restart with turns under way was like, from outside. */
export interface Restart {
  readonly chats: number;
  /** From the start of the process to its READY line. */
  readonly readyMs: number;
  /** From the start of the process until the model was asked again for the last of the turns. */
  readonly resumedMs: number;
  /** What each chat was shown in the end. */
  readonly shown: ReadonlyMap<string, readonly string[]>;
  /** Requests to the model: one per chat before the kill, one after it. */
  readonly asked: number;
}

const limitMs = 60_000;

/** Kills the real program with a turn under way in each of so many chats, starts it again and measures. */
export async function measureRestart(chats: number): Promise<Restart> {
  const held = gate();
  const isDown = { yes: false };
  await using model = await startFakeOpenAI({
    answer: async ({ userText }) => {
      if (isDown.yes) await held.opened;
      const chat = /chat (\d+)/.exec(userText)?.[1];
      return isDown.yes ? { text: `answer to chat ${chat}` } : { text: "never to the end", hang: "middle" };
    },
  });
  await using telegram = await startFakeTelegram({ token: "4242:restart" });
  const home = await tempHome();
  try {
    const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
    await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels })));
    await using first = await startDaemon({ home, readyLimitMs: limitMs });
    for (let chat = 1; chat <= chats; chat += 1)
      telegram.pushText({ chatId: chat, userId: chat, text: `chat ${chat}` });
    await until("every turn is under way", () => model.requests.length === chats, limitMs);
    await first.end("SIGKILL");

    isDown.yes = true;
    const beganAt = Date.now();
    await using second = await startDaemon({ home, readyLimitMs: limitMs });
    const readyMs = Date.now() - beganAt;
    await until("every turn goes on", () => model.requests.length === 2 * chats, limitMs);
    const resumedMs = Date.now() - beganAt;
    held.open();
    await telegram.waitForSent(chats, limitMs);
    await second.end("SIGTERM");
    const shown = new Map<string, readonly string[]>();
    for (const { chatId, text } of telegram.sent) shown.set(chatId, [...(shown.get(chatId) ?? []), text]);
    return { chats, readyMs, resumedMs, shown, asked: model.requests.length };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

export function restartSentence({ chats, readyMs, resumedMs }: Restart): string {
  return `After a kill with a turn under way in ${chats} chats the program was ready ${readyMs} ms after its start, and all of the turns went on after ${resumedMs} ms.`;
}
