import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { link, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { keptFolderOf } from "../../src/policy/places/zones.js";
import { defineTool } from "../../src/tools/tool.js";
import { gate, until } from "../support/engine/engine-kit.js";
import { startFakeTranscription } from "../support/fakes/models/fake-transcription.js";
import type { ChannelHarness } from "../support/worlds/channels/channel-harness.js";
import {
  echo,
  type HarnessWorld,
  type HarnessWorldOptions,
  openHarnessWorld,
  wordsOf,
} from "../support/worlds/channels/harness-world.js";
import { assertSound } from "../support/worlds/gateway.js";

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

/** Sends a file of the session's folder, and a sentence before it. */
const handOver = defineTool({
  name: "hand_over",
  description: "Sends a file.",
  input: z.object({ name: z.string() }),
  effect: "write",
  risk: "none",
  origin: "builtin",
  async run({ name }, { folder, send }) {
    const path = join(keptFolderOf(folder), "received", name);
    const bytes = await readFile(path).catch(() => Buffer.from("made here"));
    const made = join(folder, "..", name);
    await makeFile(made, bytes);
    const attachment = { path: made, filename: name, mimeType: mimeOf(name), sizeBytes: bytes.length };
    const count = await send({ content: `Here is ${name}.`, attachments: [attachment] });
    return { text: `sent as ${count} messages`, isError: false, summary: `sent ${name}` };
  },
});

/** As a file is, or as a command could have left it by the time it is sent. */
async function makeFile(file: string, bytes: Buffer): Promise<void> {
  const secret = `${file}.secret`;
  if (!/link|pipe|twin/.test(file)) return await writeFile(file, bytes);
  await writeFile(secret, "the secret text");
  if (file.includes("link")) await symlink(secret, file);
  else if (file.includes("twin")) await link(secret, file);
  else execFileSync("mkfifo", [file]);
}

function mimeOf(name: string): string {
  return name.endsWith(".png") ? "image/png" : name.endsWith(".ogg") ? "audio/ogg" : "text/plain";
}

/** What every channel does for people, from what they write to what they see. */
export function testChannelEndToEnd(name: string, openHarness: () => Promise<ChannelHarness>): void {
  const channelTest = (
    title: string,
    options: HarnessWorldOptions,
    run: (world: HarnessWorld, harness: ChannelHarness) => Promise<void>,
  ): void => {
    test(`${name}: ${title}`, async () => {
      await using world = await openHarnessWorld(openHarness, options);
      await run(world, world.harness);
    });
  };

  channelTest("a message is answered once in its chat, and its log is whole", {}, async (world, harness) => {
    const [ann, bob] = harness.people;
    await harness.write({ from: ann, text: "one" });
    await harness.write({ from: bob, text: "two" });
    await world.seen(ann.chatId, "You said: one");
    await world.seen(bob.chatId, "You said: two");
    await world.quiet();
    assert.equal(harness.shown(ann.chatId).length, 1);
    assertSound(await world.gateway.events(world.keyOf(ann)));
    const ends = (await world.gateway.gateway.api.ledger()).map(({ end }) => end);
    assert.deepEqual(ends, ["answered", "answered"]);
  });

  channelTest("messages of a chat are answered in order, also across a restart", {}, async (world, harness) => {
    const [ann] = harness.people;
    for (const text of ["a1", "a2", "a3"]) await harness.write({ from: ann, text });
    await world.seen(ann.chatId, "a3");
    await world.restart();
    await harness.write({ from: ann, text: "a4" });
    await world.seen(ann.chatId, "a4");
    await world.quiet();
    const said = harness.showings(ann.chatId).join("\n");
    const places = ["a1", "a2", "a3", "a4"].map((text) => said.indexOf(text));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      said,
    );
    assert.ok(!places.includes(-1));
  });

  channelTest("threads of a chat are conversations of their own", {}, async (world, harness) => {
    if (harness.threads === undefined) return;
    const [ann] = harness.people;
    const [first, second] = harness.threads;
    await harness.write({ from: ann, text: "in the first", thread: first });
    await harness.write({ from: ann, text: "in the second", thread: second });
    await world.seen(ann.chatId, "in the first", first);
    await world.seen(ann.chatId, "in the second", second);
    await world.quiet();
    for (const request of world.model.requests)
      assert.ok(!(request.bodyText.includes("in the first") && request.bodyText.includes("in the second")));
    assert.ok((await world.gateway.events(world.keyOf(ann, first))).length > 0);
  });

  channelTest(
    "a stranger gets a code, and is answered once an owner has approved it",
    { allowFrom: [] },
    async (world, harness) => {
      const [ann] = harness.people;
      await harness.write({ from: ann, text: "let me in" });
      const told = await world.seen(ann.chatId, /[A-HJKMNP-Z2-9]{8}/);
      const code = /[A-HJKMNP-Z2-9]{8}/.exec(told.text)?.[0] ?? "";
      assert.equal((await world.gateway.gateway.api.approvePairing(code)).senderId, ann.senderId);
      await harness.write({ from: ann, text: "thank you" });
      await world.seen(ann.chatId, "You said: thank you");
      assert.equal(world.model.requests.length, 1, "the first message cost nothing");
    },
  );

  channelTest(
    "who writes too much is told once, and is heard again later",
    { config: { inbound: { senderPerMinute: 2 } } },
    async (world, harness) => {
      const [ann, bob] = harness.people;
      for (const text of ["b1", "b2", "b3", "b4"]) await harness.write({ from: ann, text });
      await world.seen(ann.chatId, /more than I can take/);
      await harness.write({ from: bob, text: "b5" });
      await world.seen(bob.chatId, "b5");
      await world.seen(ann.chatId, "b2");
      await world.quiet();
      assert.equal(harness.shown(ann.chatId).filter(({ text }) => /more than I can take/.test(text)).length, 1);
      assert.equal((await world.gateway.gateway.api.ledger()).length, 3);
    },
  );

  channelTest(
    "a chat with hundreds of messages behind a turn holds up nobody, and /stop acts when it comes",
    {
      answer: (request) => (wordsOf(request) === "hang" ? { text: ["I think"], hang: "middle" } : echo(request)),
      config: { inbound: { senderPerMinute: 0, chatPerMinute: 0 } },
    },
    async (world, harness) => {
      const [ann, bob] = harness.people;
      await harness.write({ from: ann, text: "hang" });
      await world.model.waitForRequests(1);
      for (let n = 0; n < 210; n += 1) await harness.write({ from: ann, text: `more ${n}` });
      await harness.write({ from: bob, text: "hello" });
      await world.seen(bob.chatId, "You said: hello");
      const stuck = async () => (await world.gateway.gateway.api.status()).stuckChats;
      await until("all of it waits", async () => (await stuck())[0]?.waiting === 211, 15_000);
      assert.deepEqual(
        (await stuck()).map(({ sessionKey }) => sessionKey),
        [world.keyOf(ann)],
      );
      assert.match((await stuck())[0]?.reason ?? "", /has a turn running since/);
      await harness.write({ from: ann, text: "/stop" });
      await world.seen(ann.chatId, /Stopped\./);
    },
  );

  // Files

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
  );

  channelTest("the model sees an image where it can", { config: seeing() }, async (world, harness) => {
    const [ann] = harness.people;
    const image = { filename: "cat.png", mimeType: "image/png", bytes: pixel };
    await harness.write({ from: ann, text: "what is this?", files: [image] });
    await world.seen(ann.chatId, "what is this?");
    assert.ok(world.model.requests[0]?.bodyText.includes(pixel.toString("base64")));
  });

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
      await harness.write({ from: ann, text: "and this?", files: [large] });
      await world.seen(ann.chatId, "and this?");
      await harness.write({ from: ann, text: "good", files: [small] });
      await world.seen(ann.chatId, "good");
      await world.quiet();
      assert.equal(harness.shown(ann.chatId).filter(({ text }) => text.includes("is larger than")).length, 2);
      assert.match(world.model.requests[0]?.userText ?? "", /film\.mp4 did not come[^\n]*\nand this\?$/);
      assert.equal(world.model.requests.length, 2, "nothing is asked about a file that did not come");
    },
  );

  test(`${name}: a voice message is written down where that is configured, and kept as a file`, async () => {
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
  });

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
  );

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
  );

  // What people do with messages

  const hold = () => {
    const held = gate();
    const answer: HarnessWorldOptions["answer"] = async (request) => {
      if (wordsOf(request) === "wait") await held.opened;
      return echo(request);
    };
    return { held, answer };
  };

  test(`${name}: an edit of a message that waits replaces it, a later one is a correction`, async () => {
    const { held, answer } = hold();
    await using world = await openHarnessWorld(openHarness, { answer });
    const { harness } = world;
    if (harness.edit === undefined) return;
    const [ann] = harness.people;
    await harness.write({ from: ann, text: "wait" });
    await world.model.waitForRequests(1);
    await harness.write({ from: ann, text: "/status" });
    const id = await harness.write({ from: ann, text: "two eggs" });
    await accepted(world, ann, 3);
    await harness.edit(id, { from: ann, text: "three eggs" });
    await accepted(world, ann, 4);
    held.open();
    await world.seen(ann.chatId, "You said: three eggs");
    await world.quiet();
    assert.ok(!world.model.requests.some((request) => request.bodyText.includes("two eggs")));
    assert.equal(world.model.requests.length, 2, "one turn for the message and its edit");
    await harness.edit(id, { from: ann, text: "four eggs" });
    await world.seen(ann.chatId, "four eggs");
    assert.match(world.model.requests.at(-1)?.userText ?? "", /edited an earlier message[^\n]*\nfour eggs$/);
    const ends = (await world.gateway.gateway.api.ledger()).map(({ end }) => end);
    assert.ok(
      ends.every((end) => end === "answered"),
      ends.join(),
    );
  });

  test(`${name}: a message that is taken back before its turn is not answered, one that is answered stays`, async () => {
    const { held, answer } = hold();
    await using world = await openHarnessWorld(openHarness, { answer });
    const { harness } = world;
    if (harness.remove === undefined) return;
    const [ann] = harness.people;
    const first = await harness.write({ from: ann, text: "wait" });
    await world.model.waitForRequests(1);
    await harness.write({ from: ann, text: "/status" });
    const message = { from: ann, text: "forget me" };
    const id = await harness.write(message);
    await accepted(world, ann, 3);
    await harness.remove(id, message);
    await accepted(world, ann, 4);
    held.open();
    await world.quiet();
    await harness.remove(first, { from: ann, text: "wait" });
    await harness.write({ from: ann, text: "still there?" });
    await world.seen(ann.chatId, "still there?");
    await world.quiet();
    assert.ok(!world.model.requests.some((request) => request.bodyText.includes("forget me")));
    assert.ok(!harness.showings(ann.chatId).some((text) => /forget me|Stopped/.test(text)));
  });

  channelTest(
    "the model reads what a message answers, and whose words that were",
    { answer: { text: "the sky is green" } },
    async (world, harness) => {
      const [ann] = harness.people;
      await harness.write({ from: ann, text: "what colour is it?" });
      await world.seen(ann.chatId, "the sky is green");
      const readWith = async (text: string, quoted: string): Promise<string> => {
        await harness.write({ from: ann, text, answers: { text: quoted, isOurs: true } });
        const find = () => world.model.requests.find(({ userText }) => userText.endsWith(text));
        await until(`${text} is read`, () => find() !== undefined, 10_000);
        return find()?.userText ?? "";
      };
      const own = harness.quotesInText
        ? /<in_reply_to>\n<untrusted source="[^"]+">\n(?:On .+ wrote:\n)?the sky is green\n<\/untrusted>/
        : /<in_reply_to from="you">the sky is green<\/in_reply_to>/;
      assert.match(await readWith("are you sure?", "the sky is green"), own);
      // What the assistant never said is nobody's word that counts.
      assert.match(
        await readWith("and this?", "the sky is red"),
        /<untrusted source="[^"]+">\n(?:On .+ wrote:\n)?the sky is red\n/,
      );
    },
  );

  // Answers

  channelTest(
    "a long answer comes in pieces, in order, with code whole",
    { answer: { text: longAnswer() } },
    async (world, harness) => {
      const [ann] = harness.people;
      await harness.write({ from: ann, text: "tell me all" });
      await world.seen(ann.chatId, "The end.");
      await world.quiet();
      const text = harness
        .shown(ann.chatId)
        .map((one) => one.text)
        .join("\n");
      let at = -1;
      for (let line = 0; line < longLines; line++) {
        const next = text.indexOf(`word${line} `, at + 1);
        assert.ok(next > at, `word${line} is in its place`);
        at = next;
      }
    },
  );

  test(`${name}: while an answer grows it is one message, and in the end it is the whole text`, async () => {
    const rest = gate();
    let chunks = ["The first ", "and the rest."];
    const answer: HarnessWorldOptions["answer"] = async () => {
      const [first = "", last = ""] = chunks;
      await rest.opened;
      return { text: [first, last], chunkDelayMs: 450 };
    };
    await using world = await openHarnessWorld(openHarness, { answer, config: { reactors: { live: true } } });
    const { harness } = world;
    const [ann] = harness.people;
    rest.open();
    await harness.write({ from: ann, text: "go" });
    await world.seen(ann.chatId, "The first and the rest.");
    await world.quiet();
    assert.deepEqual(
      harness.shown(ann.chatId).map(({ text }) => text),
      ["The first and the rest."],
    );
    assert.ok(harness.showings(ann.chatId).length === 1);
    chunks = ["Short."];
    await harness.write({ from: ann, text: "again" });
    await world.seen(ann.chatId, "Short.");
  });
}

/** Resolves once so many messages of the session have been accepted. */
async function accepted(
  world: HarnessWorld,
  person: { readonly chatId: string; readonly senderId: string },
  count: number,
) {
  await until(`${count} messages are accepted`, async () => {
    const events = await world.gateway.events(world.keyOf(person));
    return events.filter(({ type }) => type === "user_message_queued").length >= count;
  });
}

function seeing(): Record<string, unknown> {
  return { agents: { defaults: { model: "openai/gpt-4o" } } };
}

/** Several messages on each platform, and on none as many as become a file. */
const longLines = 500;

function longAnswer(): string {
  const words = Array.from({ length: longLines }, (_, index) => `word${index} and some more of it`);
  return `${words.join("\n")}\n\nThe end.`;
}
