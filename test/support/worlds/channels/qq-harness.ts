import { plainRefusal, sendCall, startFakeQq } from "../../fakes/qq/fake-qq.js";
import type { ChannelHarness, HarnessMessage } from "./channel-harness.js";
import { harnessOver } from "./over-fake.js";

/** Private chats on QQ for the shared tests. Groups and guilds have tests of their own. */
export async function openQqHarness(): Promise<ChannelHarness> {
  const qq = await startFakeQq({ mayBegin: false });
  const { server, chats } = qq;
  const platform = { server, chats, sendCall, refusal: plainRefusal };
  const shortIds = (chatId: string, text: string): string => {
    const own = chats.in(chatId).findLast((one) => one.text === text);
    return own === undefined ? "REFIDX_unknown" : `REFIDX_${own.id}`;
  };
  const write = ({ from, text = "", files = [], answers }: HarnessMessage): string =>
    qq.write({
      from: from.senderId,
      text,
      files,
      ...(answers === undefined
        ? {}
        : { quotes: { shortId: shortIds(from.chatId, answers.text), text: answers.text } }),
    });
  const person = (id: string) => ({ senderId: id, chatId: id });
  return {
    ...harnessOver(platform),
    channel: "qq",
    config: { appId: qq.appId, appSecret: qq.appSecret, apiRoot: qq.url, tokenRoot: qq.url },
    people: [person("E4F4AEA33253A2797FB897C50B81D7ED"), person("C9F778FE6ADF9D1D1DBE395BF744A33A")],
    hasVoice: true,
    knowsRepeats: true,
    // A bot hears about nothing that was written before its first connection.
    write: (message) => qq.gateway.whenKnown(() => write(message)),
  };
}
