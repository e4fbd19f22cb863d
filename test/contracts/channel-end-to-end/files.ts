import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startFakeTranscription } from "../../support/fakes/models/fake-transcription.js";
import { openHarnessWorld, wordsOf } from "../../support/worlds/channels/harness-world.js";
import { handOver } from "./hand-over.js";
import { type ChannelPromise, channelTest, harnessTest } from "./promise.js";

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

export const filesTests: readonly ChannelPromise[] = [
  channelTest(
    "a file that comes is kept in the session's folder and named to the model",
    {},
    async (world, harness) => {
      const [ann] = harness.people;
      const bytes = Buffer.from("row 1\nrow 2\n");
      await harness.write({
        from: ann,
        text: "sum this up",
        files: [{ filename: "../rows.csv", mimeType: "text/csv", bytes }],
      });
      await world.seen(ann.chatId, "sum this up");
      const [request] = world.model.requests;
      const [, path = ""] =
        /<file name="[^"]*rows\.csv" type="[^"]*" path="([^"]+)"/.exec(request?.userText ?? "") ?? [];
      assert.ok(path.startsWith(join(world.gateway.workspace, ".sessions")), `${path} is in the session's folder`);
      assert.ok(path.includes("/received/") && !path.includes(".."));
      assert.deepEqual(await readFile(path), bytes);
    },
  ),
  channelTest("the model sees an image where it can", { config: seeing() }, async (world, harness) => {
    const [ann] = harness.people;
    const image = { filename: "cat.png", mimeType: "image/png", bytes: pixel };
    await harness.write({ from: ann, text: "what is this?", files: [image] });
    await world.seen(ann.chatId, "what is this?");
    assert.ok(world.model.requests[0]?.bodyText.includes(pixel.toString("base64")));
  }),
  channelTest(
    "a file that is too large is refused politely, what came with it is not, and nothing else is held up",
    { config: { inbound: { maxFileMegabytes: 1 } } },
    async (world, harness) => {
      const [ann] = harness.people;
      const large = { filename: "film.mp4", mimeType: "video/mp4", bytes: Buffer.alloc(1_500_000, 7) };
      const small = { filename: "note.txt", mimeType: "text/plain", bytes: Buffer.from("small") };
      await harness.write({ from: ann, files: [large] });
      await world.seen(ann.chatId, /film\.mp4 \(2 MB\) is larger than the 1 MB/);
      assert.equal(world.model.requests.length, 0);
      if (harness.filesAlone) return;
      await harness.write({ from: ann, text: "and this?", files: [large] });
      await world.seen(ann.chatId, "and this?");
      await harness.write({ from: ann, text: "good", files: [small] });
      await world.seen(ann.chatId, "good");
      await world.quiet();
      assert.equal(harness.shown(ann.chatId).filter(({ text }) => text.includes("is larger than")).length, 2);
      assert.match(world.model.requests[0]?.userText ?? "", /film\.mp4 did not come[^\n]*\nand this\?$/);
      assert.equal(world.model.requests.length, 2, "nothing is asked about a file that did not come");
    },
  ),
  harnessTest("a voice message is written down where that is configured, and kept as a file", async (openHarness) => {
    await using transcription = await startFakeTranscription("buy some milk");
    const config = { transcription: { apiBase: transcription.apiBase, apiKey: "sk-voice", model: "ears-1" } };
    await using world = await openHarnessWorld(openHarness, { config });
    const { harness } = world;
    if (!harness.hasVoice) return;
    const [ann] = harness.people;
    const bytes = Buffer.from("OggS not really");
    await harness.write({ from: ann, files: [{ filename: "voice.ogg", mimeType: "audio/ogg", bytes, isVoice: true }] });
    await world.seen(ann.chatId, "buy some milk");
    assert.deepEqual(transcription.requests, [{ model: "ears-1", key: "Bearer sk-voice", bytes }]);
    assert.match(world.model.requests[0]?.userText ?? "", /<file name="voice\.ogg" type="audio\/ogg"/);
  }),
  channelTest(
    "files of the assistant come before its answer, with their names and bytes",
    {
      tools: [handOver],
      answer: (request) =>
        /"role":"tool"/.test(request.bodyText)
          ? { text: "There you are." }
          : { toolCalls: [{ id: "call_1", name: "hand_over", input: { name: wordsOf(request) } }] },
      config: { agents: { defaults: { model: "openai/test-model", executionMode: "auto" } } },
    },
    async (world, harness) => {
      const [ann, bob] = harness.people;
      await harness.write({ from: ann, text: "list.txt" });
      await harness.write({ from: bob, text: "cat.png" });
      for (const { chatId } of [ann, bob]) await world.seen(chatId, "There you are.");
      await world.quiet();
      for (const [{ chatId }, filename] of [
        [ann, "list.txt"],
        [bob, "cat.png"],
      ] as const) {
        const shown = harness.shown(chatId);
        const files = shown.flatMap((one) => one.files);
        assert.deepEqual(
          files.map((file) => [file.filename, file.bytes.toString()]),
          [[filename, "made here"]],
        );
        assert.ok(shown.some(({ text }) => text.includes(`Here is ${filename}.`)));
        assert.equal(shown.at(-1)?.text, "There you are.");
      }
    },
  ),
  channelTest(
    "what became a link, a second name or a pipe before it was sent is not sent, and holds up nothing",
    {
      tools: [handOver],
      answer: (request) =>
        /"role":"tool"/.test(request.bodyText)
          ? { text: `After ${wordsOf(request)}.` }
          : { toolCalls: [{ id: "call_1", name: "hand_over", input: { name: wordsOf(request) } }] },
      config: { agents: { defaults: { model: "openai/test-model", executionMode: "auto" } } },
    },
    async (world, harness) => {
      const [ann] = harness.people;
      for (const name of ["link.txt", "twin.txt", "pipe.txt"]) {
        await harness.write({ from: ann, text: name });
        await world.seen(ann.chatId, `After ${name}.`);
        await world.quiet();
      }
      const files = harness.shown(ann.chatId).flatMap((one) => one.files);
      assert.deepEqual(files, []);
    },
  ),
];

function seeing(): Record<string, unknown> {
  return { agents: { defaults: { model: "openai/gpt-4o" } } };
}
