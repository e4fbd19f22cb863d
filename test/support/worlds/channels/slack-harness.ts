import {
  editCall,
  type FakeSlackWrite,
  sendCall,
  slackBot,
  slackRefusal,
  startFakeSlack,
} from "../../fakes/slack/fake-slack.js";
import type { ChannelHarness, HarnessMessage } from "./channel-harness.js";
import { harnessOver } from "./over-fake.js";

/** Direct chats on Slack for the shared tests, and threads in one of them. `word`: in its tokens. */
export async function openSlackHarness(word?: string): Promise<ChannelHarness> {
  const slack = await startFakeSlack(word);
  const { server, chats, botToken, appToken, apiRoot, store } = slack;
  const channelOf = (person: string): string => slack.directOf(person);
  const threads = [0, 1].map(() => store.nextTs());
  const [first = "", second = ""] = threads;
  for (const ts of threads) store.add(channelOf("UANN"), { user: "UANN", text: "from long ago" }, ts);
  const toWrite = ({ from, text, files, thread, answers }: HarnessMessage): FakeSlackWrite => ({
    channel: from.chatId,
    user: from.senderId,
    ...(text === undefined ? {} : { text }),
    ...(files === undefined ? {} : { files }),
    ...(thread === undefined ? {} : { thread }),
    ...(answers === undefined
      ? {}
      : { shares: { text: answers.text, author: answers.isOurs ? slackBot.id : "USTRANGER" } }),
  });
  return {
    ...harnessOver({ server, chats, sendCall, editCall, refusal: slackRefusal }),
    channel: "slack",
    config: { botToken, appToken, apiRoot },
    people: [
      { senderId: "UANN", chatId: channelOf("UANN") },
      { senderId: "UBOB", chatId: channelOf("UBOB") },
    ],
    threads: [first, second],
    hasVoice: true,
    grows: true,
    // Slack says nothing about repeats that could be relied on: the bot looks for its own messages instead.
    knowsRepeats: false,
    write: async (message) => slack.write(toWrite(message)),
    edit: async (ts, { from, text = "" }) => slack.edit(from.chatId, ts, text),
    remove: async (ts, { from }) => slack.remove(from.chatId, ts),
  };
}
