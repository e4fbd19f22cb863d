import type { ChannelContext } from "../../../src/channels/channel.js";
import { createDiscordChannel } from "../../../src/channels/discord/discord.js";
import { toDiscordMarkdown } from "../../../src/channels/formatting/discord-markdown.js";
import { silentLog } from "../../../src/log.js";
import { testChannelContract } from "../../contracts/channel.js";
import { editCall, sendCall, startFakeDiscord } from "../../support/fakes/fake-discord.js";

const loud = 4096;
const [ann, bob] = ["100000000000000042", "100000000000000043"] as const;

testChannelContract("discord", async () => {
  const discord = await startFakeDiscord({ token: "contract-secret" });
  const open = (
    token: string,
    cursor: (name: string) => Promise<string | undefined> = async () => undefined,
    more: Partial<ChannelContext> = {},
  ) =>
    createDiscordChannel(
      { token, apiRoot: discord.url, reconnectMs: 100, identifyGapMs: 0, busyRetryMs: 20, log: silentLog },
      { cursor, sendTimeoutMs: 1000, ...more },
    );
  const userOf = (channelId: string): string => (channelId === discord.dmOf(ann) ? ann : bob);
  const person = (id: string) => ({ id, username: `user${id}` });
  const newest = (chatId: string) => discord.sent.findLast(({ channelId }) => channelId === discord.dmOf(chatId));
  return {
    open: (cursor, actsAtOnce) => open(discord.token, cursor, { actsAtOnce }),
    openWithWrongSecret: () => open("wrong-secret"),
    secrets: ["contract-secret", "wrong-secret"],
    chats: [ann, bob],
    // A bot never hears about a first message that was written while it was away, and no channel can change that.
    write: (chatId, content) =>
      void discord.gateway.whenKnown(() =>
        discord.write({ channelId: discord.dmOf(chatId), author: person(chatId), content }),
      ),
    shown: () => discord.sent.map(({ channelId, content }) => ({ chatId: userOf(channelId), text: content })),
    previewed: () => discord.previewed,
    longestMessage: 2000,
    lengthOf: (piece) => toDiscordMarkdown(piece).length,
    refuseNextSend: (how) =>
      discord.failNext(
        sendCall,
        how === "for good"
          ? { kind: "answer", status: 403, code: 50_007 }
          : { kind: "answer", status: 429, retryAfter: 1 },
      ),
    passingRefusals: [401, 403, 404].map((status) => () => discord.failNext(sendCall, { kind: "answer", status })),
    cutNextSend: () => discord.failNext(sendCall, { kind: "cut", carriedOut: false }),
    hangNextSend: () => discord.failNext(sendCall, { kind: "hang", carriedOut: false }),
    buttons: {
      open: (press) => open(discord.token, undefined, { press }),
      below: (chatId) => newest(chatId)?.components.flatMap((row) => row.components.map(({ label }) => label)) ?? [],
      text: (chatId) => newest(chatId)?.content ?? "",
      press: (chatId, label) => discord.press(newest(chatId)?.id ?? "", label, person(chatId)),
      told: () => discord.interactionReplies.map(({ text, flags }) => ({ text, isLoud: (flags & loud) === 0 })),
      failNextEdit: () => discord.failNext(editCall, { kind: "answer", status: 400, code: 50_035 }),
    },
    loseConnection: () => discord.gateway.lose(300),
    [Symbol.asyncDispose]: () => discord[Symbol.asyncDispose](),
  };
});
