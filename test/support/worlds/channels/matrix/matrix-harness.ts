import { botId, matrixRefusal, sendCall, startFakeMatrix, syncCall } from "../../../fakes/matrix/fake-matrix.js";
import type { ChannelHarness, HarnessMessage, HarnessPerson } from "../channel-harness.js";
import { harnessOver } from "../over-fake.js";

/** Direct chats on Matrix for the shared tests, and threads in one of them. */
export async function openMatrixHarness(): Promise<ChannelHarness> {
  const matrix = await startFakeMatrix();
  const { server, chats, url, token, store } = matrix;
  const person = (senderId: string): HarnessPerson => ({ senderId, chatId: matrix.room([senderId]) });
  const [ann, bob] = [person("@ann:example.org"), person("@bob:example.org")];
  const longAgo = { type: "m.room.message", sender: ann.senderId, origin_server_ts: 1_600_000_000_000 };
  const root = (): string =>
    store.add(ann.chatId, { ...longAgo, content: { msgtype: "m.text", body: "from long ago" } }).event_id;
  const threads = [root(), root()] as const;
  // The assistant has said it in this chat, or it is made up.
  const original = (room: string, { text, isOurs }: NonNullable<HarnessMessage["answers"]>): string => {
    const shown = matrix.newestOf(room);
    if (isOurs && shown?.content.body === text) return shown.event_id;
    const sender = isOurs ? botId : "@stranger:example.org";
    return store.add(room, { type: "m.room.message", sender, content: { msgtype: "m.text", body: text } }).event_id;
  };
  return {
    ...harnessOver({ server, chats, sendCall, editCall: sendCall, receiveCall: syncCall, refusal: matrixRefusal }),
    channel: "matrix",
    config: { homeserver: url, accessToken: token },
    people: [ann, bob],
    threads,
    hasVoice: true,
    knowsRepeats: true,
    write: async ({ from, text, files, thread, answers }) =>
      matrix.write({
        room: from.chatId,
        sender: from.senderId,
        ...(text === undefined ? {} : { text }),
        ...(files === undefined ? {} : { files }),
        ...(thread === undefined ? {} : { thread }),
        ...(answers === undefined ? {} : { answers: original(from.chatId, answers) }),
      }),
    edit: async (id, { from, text = "" }) => void matrix.edit(from.chatId, from.senderId, id, text),
    remove: async (id, { from }) => matrix.remove(from.chatId, from.senderId, id),
  };
}
