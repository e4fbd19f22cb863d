import { z } from "zod";
import type { Channel, ChannelContext, Publish } from "../../../src/channels/channel.js";
import { ChannelError, messageOf } from "../../../src/errors.js";
import { sleep } from "../../../src/util/async/sleep.js";

const cursorName = "relay:position";
const updates = z.object({
  updates: z.array(z.object({ position: z.number(), chatId: z.string(), text: z.string() })),
});
const receipt = z.object({ messageId: z.number() });
const busyRetryMs = 20;

/** The relay's side in the gateway. The ids of outbound messages go with them, so that it can tell repeats. */
export function createRelayChannel(url: string, { cursor }: ChannelContext): Channel {
  const call = async (path: string, init: RequestInit): Promise<unknown> => {
    let response: Response;
    try {
      response = await fetch(`${url}${path}`, init);
      if (!response.ok) throw new Error(`status ${response.status}`);
      return await response.json();
    } catch (error) {
      throw new ChannelError(`The relay did not answer: ${messageOf(error)}`, {
        retryable: true,
        outcome: "unknown",
        cause: error,
      });
    }
  };
  return {
    name: "relay",

    async run(publish, onConnected, signal) {
      let after = Number((await cursor(cursorName)) ?? 0);
      while (!signal.aborted) {
        const taken = updates.parse(await call(`/updates?after=${after}`, { signal }));
        onConnected();
        for (const { position, chatId, text } of taken.updates) {
          await pass(publish, chatId, text, position, signal);
          after = Math.max(after, position);
        }
      }
    },

    /** A line is a message, so that most answers of the sweep are several of them. */
    split: (content) => content.split("\n"),

    async send({ id, chatId, content }, signal) {
      const body = JSON.stringify({ id, chatId, text: content });
      const answer = receipt.parse(await call("/messages", { method: "POST", body, signal }));
      return { platformMessageId: String(answer.messageId) };
    },
  };
}

/** Again until it is taken: the platform's position may not move on before. */
async function pass(
  publish: Publish,
  chatId: string,
  text: string,
  position: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const outcome = await publish({
      chatId,
      senderId: chatId,
      content: text,
      chatType: "dm",
      addressed: true,
      platformMessageId: String(position),
      dedupId: `relay:${position}`,
      cursor: { name: cursorName, value: String(position) },
    });
    if (outcome.status !== "busy") return;
    await sleep(busyRetryMs, signal);
  }
}
