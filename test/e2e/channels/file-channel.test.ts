import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { OutboundMessage } from "../../../src/bus/messages.js";
import type { Channel, Publish } from "../../../src/channels/channel.js";
import { loadConfig } from "../../../src/config/load.js";
import { openGateway } from "../../../src/gateway.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { keepLog } from "../../support/log.js";
import { lastResult, resultsIn } from "../../support/worlds/channels/chat-world.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";

/** A platform whose chats take files of 100 bytes. */
function fileChannel() {
  const sent: OutboundMessage[] = [];
  const opened: { publish: Publish | undefined } = { publish: undefined };
  const channel: Channel = {
    name: "post",
    files: "apart",
    maxFileBytes: 100,
    async run(publish, _onConnected, signal) {
      opened.publish = publish;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
    split: (content) => (content === "" ? [] : [content]),
    async send(message) {
      sent.push(message);
      return { platformMessageId: `${sent.length}` };
    },
  };
  return { channel, sent, opened };
}

test("a platform that takes files gets them as attachments, and the name of what is too large", async () => {
  await using model = await startFakeOpenAI({
    answer: (request) =>
      resultsIn(request) === 0
        ? {
            toolCalls: [
              {
                id: `c${request.index}`,
                name: "send_file",
                input: { path: /\w+\.txt/.exec(request.userText)?.[0], text: "look" },
              },
            ],
          }
        : { text: lastResult(request) },
  });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { owners: ["post:1"] })));
  await mkdir(join(home, "workspace"));
  await writeFile(join(home, "workspace", "small.txt"), "small");
  await writeFile(join(home, "workspace", "large.txt"), "x".repeat(101));
  const { channel, sent, opened } = fileChannel();
  const gateway = await openGateway({
    home,
    config: await loadConfig({ home, env: { HOME: home } }),
    log: keepLog(),
    version: "0.0.0-test",
    http: { port: 0 },
    added: { platforms: () => [channel] },
  });
  try {
    await until("the channel runs", () => opened.publish !== undefined);
    const say = async (content: string): Promise<void> => {
      const message = { chatId: "1", senderId: "1", content, attachments: [], files: [] };
      await opened.publish?.({ ...message, chatType: "dm", addressed: true });
    };
    await say("small.txt please");
    await until("the answer is sent", () => sent.length === 3);
    const [text, file, answer] = sent;
    assert.deepEqual([text?.content, text?.attachments.length], ["look", 0]);
    assert.equal(file?.content, "");
    const attachment = file?.attachments[0];
    assert.equal(attachment?.filename, "small.txt");
    assert.equal(attachment?.sizeBytes, 5);
    assert.equal(await readFile(attachment?.path ?? "", "utf8"), "small");
    assert.match(answer?.content ?? "", /^Sent small\.txt\.\n\[from the workspace: .*small\.txt\]$/);
    await say("large.txt please");
    await until("the answer is sent", () => sent.length === 5);
    assert.equal(sent[3]?.content, "look\n\n[large.txt: not sent, too large for this chat]");
    assert.match(sent[4]?.content ?? "", /cannot receive such a file\. The person was only told its name/);
  } finally {
    await gateway[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true });
  }
});
