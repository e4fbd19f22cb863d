import type { FakeDiscordWrite } from "../../fakes/discord/messages.js";
import { sendCall, startFakeDiscord } from "../../fakes/fake-discord.js";
import type { ChannelHarness, HarnessMessage, ShownMessage } from "./channel-harness.js";

/** Direct chats on Discord for the shared tests. Threads are only in servers, and have tests of their own. */
export async function openDiscordHarness(): Promise<ChannelHarness> {
  const discord = await startFakeDiscord({ token: "discord-harness" });
  const person = (id: string) => ({ id, username: `user${id}` });
  const stranger = person("100000000000000077");
  const toWrite = ({ from, text = "", files = [], answers }: HarnessMessage): FakeDiscordWrite => ({
    channelId: discord.dmOf(from.chatId),
    author: person(from.senderId),
    content: text,
    files,
    isVoice: files.some((file) => file.isVoice === true),
    ...(answers === undefined
      ? {}
      : { replyTo: { id: "1", content: answers.text, author: answers.isOurs ? discord.bot : stranger } }),
  });
  return {
    channel: "discord",
    config: { token: discord.token, apiRoot: discord.url },
    people: [
      { senderId: "100000000000000042", chatId: "100000000000000042" },
      { senderId: "100000000000000043", chatId: "100000000000000043" },
    ],
    hasVoice: true,
    grows: true,
    knowsRepeats: true,
    // A bot hears about nothing that was written before its first connection.
    write: async (message) => (await discord.gateway.whenKnown(() => discord.write(toWrite(message)))).id,
    edit: async (messageId, { text = "" }) => discord.editAs(messageId, text),
    remove: async (messageId) => discord.deleteAs(messageId),
    shown: (chatId) =>
      discord.sent
        .filter(({ channelId }) => channelId === discord.dmOf(chatId))
        .map(({ content, files }): ShownMessage => ({ text: asRead(content), files })),
    showings: (chatId) =>
      discord.showings.filter(({ channelId }) => channelId === discord.dmOf(chatId)).map(({ text }) => asRead(text)),
    faults: ["429", "401", "5xx", "cut-before", "cut-after", "timeout"],
    failNextSend(fault) {
      if (fault === "429") discord.failNext(sendCall, { kind: "answer", status: 429, retryAfter: 1 });
      else if (fault === "401")
        for (let times = 3; times > 0; times -= 1) discord.failNext(sendCall, { kind: "answer", status: 401 });
      else if (fault === "5xx") discord.failNext(sendCall, { kind: "answer", status: 502 });
      else if (fault === "timeout") discord.failNext(sendCall, { kind: "hang", carriedOut: true });
      else discord.failNext(sendCall, { kind: "cut", carriedOut: fault === "cut-after" });
    },
    loseConnection: () => discord.gateway.lose(),
    [Symbol.asyncDispose]: () => discord[Symbol.asyncDispose](),
  };
}

/** Without the backslashes before characters that are not marks. */
export function asRead(content: string): string {
  return content.replace(/\\([^\w\s])/g, "$1");
}
