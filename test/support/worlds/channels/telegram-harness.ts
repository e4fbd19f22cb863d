import { startFakeTelegram } from "../../fakes/fake-telegram.js";
import type { ChannelHarness, HarnessFile, HarnessMessage, ShownMessage } from "./channel-harness.js";

/** Telegram for the shared tests. `word`: the secret of the token. */
export async function openTelegramHarness(word = "harness"): Promise<ChannelHarness> {
  const telegram = await startFakeTelegram({ token: `4242:${word}` });
  const toMessage = ({ from, text, files = [], thread, answers }: HarnessMessage): Record<string, unknown> => {
    const [file] = files;
    const chat = { id: Number(from.chatId), type: "private", first_name: "Chat" };
    return {
      chat,
      from: { id: Number(from.senderId), is_bot: false, first_name: `User ${from.senderId}` },
      ...(file === undefined ? { text } : { ...toFile(file), caption: text }),
      ...(thread === undefined ? {} : { message_thread_id: Number(thread), is_topic_message: true }),
      ...(answers === undefined
        ? {}
        : {
            reply_to_message: {
              message_id: 1,
              date: 0,
              chat,
              text: answers.text,
              from: answers.isOurs ? { ...telegram.bot, is_bot: true } : { id: 7, is_bot: false, first_name: "Bo" },
            },
          }),
    };
  };
  const toFile = ({ filename, mimeType, bytes, isVoice = false }: HarnessFile): Record<string, unknown> => {
    const about = { file_id: telegram.keepFile(bytes), file_size: bytes.length, mime_type: mimeType };
    if (isVoice) return { voice: { ...about, duration: 2 } };
    if (mimeType.startsWith("image/")) return { photo: [{ ...about, width: 1, height: 1 }] };
    return { document: { ...about, file_name: filename } };
  };
  return {
    channel: "telegram",
    config: { token: telegram.token, apiRoot: telegram.url },
    people: [
      { senderId: "42", chatId: "42" },
      { senderId: "43", chatId: "43" },
    ],
    threads: ["11", "12"],
    hasVoice: true,
    grows: true,
    knowsRepeats: false,
    write: async (message) => String(telegram.pushMessage(toMessage(message)).messageId),
    async edit(messageId, message) {
      telegram.pushUpdate({
        edited_message: { message_id: Number(messageId), date: 1, edit_date: 2, ...toMessage(message) },
      });
    },
    shown: (chatId, thread) =>
      telegram.sent
        .filter((one) => one.chatId === chatId && one.thread === thread)
        .map((one): ShownMessage => {
          const now = telegram.edited.findLast(({ messageId }) => messageId === one.messageId) ?? one;
          return { text: now.text, files: one.file === undefined ? [] : [one.file] };
        }),
    showings: (chatId) =>
      telegram.sent.filter((one) => one.chatId === chatId).map((one) => one.file?.filename ?? one.text),
    faults: ["429", "401", "404", "5xx", "cut-before", "cut-after", "timeout"],
    failNextSend(fault) {
      const method = "sendMessage";
      if (fault === "429") telegram.failNext({ method, status: 429, retryAfter: 1 });
      else if (fault === "401") telegram.failNext({ method, status: 401, description: "Unauthorized", times: 3 });
      else if (fault === "404") telegram.failNext({ method, status: 404, description: "Not Found", times: 3 });
      else if (fault === "5xx") telegram.failNext({ method, status: 502 });
      else if (fault === "timeout") telegram.hangNext({ method, carriedOut: true });
      else telegram.cutNext({ method, when: fault === "cut-before" ? "before" : "after" });
    },
    loseConnection: () => telegram.cutNext({ method: "getUpdates", when: "before" }),
    [Symbol.asyncDispose]: () => telegram.stop(),
  };
}
