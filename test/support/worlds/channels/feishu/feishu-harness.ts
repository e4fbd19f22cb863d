import { type FeishuWrite, stored } from "../../../fakes/feishu/events.js";
import { editCall, type FakeFeishu, sendCall, startFakeFeishu } from "../../../fakes/feishu/fake-feishu.js";
import { plainRefusal } from "../../../fakes/feishu/rules.js";
import type { ChannelHarness, HarnessFile, HarnessMessage } from "../channel-harness.js";
import { harnessOver } from "../over-fake.js";

const ann = "ou_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const bob = "ou_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const roots = ["om_root1", "om_root2"] as const;

/** Direct chats on Feishu for the shared tests, and threads in one of them. */
export async function openFeishuHarness(): Promise<ChannelHarness> {
  const feishu = await startFakeFeishu();
  const { server, chats, appId, appSecret, url: apiRoot } = feishu;
  for (const id of roots)
    feishu.messages.push(stored({ from: ann, text: "from long ago", at: 1_700_000_000_000 }, id, ""));
  const person = (id: string) => ({ senderId: id, chatId: id });
  return {
    ...harnessOver({ server, chats, sendCall, editCall, refusal: plainRefusal }),
    channel: "feishu",
    config: { appId, appSecret, apiRoot },
    people: [person(ann), person(bob)],
    threads: roots,
    hasVoice: true,
    filesAlone: true,
    quotesById: true,
    knowsRepeats: true,
    write: async (message) => write(feishu, message),
    remove: async (id) => feishu.takeBack(id),
  };
}

/** A file is a message of its own; only a picture can be in one with a text. */
function write(feishu: FakeFeishu, { from, text, files = [], thread, answers }: HarnessMessage): string {
  const quoted = feishu.chats.in(from.chatId).find((one) => one.text === answers?.text);
  const about: FeishuWrite = {
    from: from.senderId,
    ...(thread === undefined ? {} : { thread }),
    ...(quoted === undefined ? {} : { parent: quoted.id }),
  };
  const pictures = text === undefined ? [] : files.filter(({ mimeType }) => mimeType.startsWith("image/"));
  for (const file of files) if (!pictures.includes(file)) feishu.write({ ...about, ...fileMessage(feishu, file) });
  if (pictures.length > 0) {
    const lines = pictures.map((file) => [{ tag: "img", image_key: feishu.keepFile(file) }]);
    return feishu.write({
      ...about,
      type: "post",
      content: { title: "", content: [...lines, [{ tag: "text", text }]] },
    });
  }
  return text === undefined ? "" : feishu.write({ ...about, text });
}

function fileMessage(feishu: FakeFeishu, file: HarnessFile): Pick<FeishuWrite, "type" | "content"> {
  const file_key = feishu.keepFile(file);
  if (file.isVoice === true) return { type: "audio", content: { file_key, duration: 2000 } };
  if (file.mimeType.startsWith("image/")) return { type: "image", content: { image_key: file_key } };
  const type = file.mimeType.startsWith("video/") ? "media" : "file";
  return { type, content: { file_key, file_name: file.filename } };
}
