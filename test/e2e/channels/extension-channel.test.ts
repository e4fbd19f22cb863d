import assert from "node:assert/strict";
import { cp, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { freePort } from "../../support/fakes/network/free-port.js";
import { projectFile } from "../../support/project.js";
import { openAIConfig, startGateway, type TestGateway, tempHome } from "../../support/worlds/gateway.js";

/** A person at a terminal. */
async function sit(gateway: TestGateway, name: string) {
  const portOf = () =>
    gateway.log.lines
      .map(({ message }) => /tcp-chat listens on port (\d+)/.exec(message)?.[1])
      .find((port) => port !== undefined);
  await until("it listens", () => portOf() !== undefined);
  const socket = connect(Number(portOf()), "127.0.0.1");
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  socket.write(`${name}\n`);
  return {
    say: (line: string) => socket.write(`${line}\n`),
    sees: async (pattern: RegExp) => {
      await until(`${name} sees ${pattern}`, () => pattern.test(text));
      const seen = text;
      text = "";
      return seen;
    },
    leave: () => socket.destroy(),
  };
}

test("an extension's channel has buttons of its own, which answer questions also after a restart", async () => {
  await using model = await startFakeOpenAI({
    answer: ({ bodyText, index }) =>
      bodyText.includes('"role":"tool"')
        ? { text: "Written." }
        : { toolCalls: [{ id: `call_${index}`, name: "keep_note", input: { text: "plums" } }] },
  });
  const home = await tempHome();
  await cp(projectFile("examples/extensions"), home, { recursive: true });
  const tool = `export default ({ z }) => ({ tools: [{ name: "keep_note", description: "Keeps a note.",
    input: z.object({ text: z.string() }), run: async () => ({ text: "kept", isError: false, summary: "kept" }) }] })`;
  await writeFile(join(home, "note.mjs"), tool);
  const config = openAIConfig(model.apiBase, {
    extensions: [{ module: "note.mjs" }, { module: "tcp-chat.mjs", options: { port: 0 } }],
    owners: ["tcp-chat:ann"],
  });
  await using first = await startGateway({ home, config, isRuled: false });
  const ann = await sit(first, "ann");
  ann.say("keep plums");
  const asked = await ann.sees(/Press one/);
  assert.match(asked, /May I use keep[\s\S]*\n1\. Allow once\n[\s\S]*Press one with #1 to #3\./);
  ann.say("#99");
  await ann.sees(/There is no #99/);
  ann.leave();
  await using second = await first.restart(config);
  const again = await sit(second, "ann");
  again.say("#1");
  await again.sees(/Written\./);
  const tools = (await second.events("tcp-chat:ann")).filter(({ type }) => type === "tool_execution_complete");
  assert.equal(tools.length, 1);
  again.leave();
});

test("records are each channel's own, last over restarts, and nobody presses in another's name", async () => {
  const home = await tempHome();
  const code = `export default ({ log }) => ({ channels: (context) => ["one", "two"].map((name) => {
    const { records, press, cursor } = context.forChannel(name);
    return { name, split: (text) => [text], send: async () => ({ platformMessageId: "1" }),
      async run(publish, onConnected, signal) {
        const before = records.list().map(({ id, value }) => id + "=" + value).join();
        await records.put("word", name + "!");
        const pressed = await press({ chatId: "c", chatType: "dm", senderId: "ann", value: "no:such" });
        log.info(name + ": " + [before, pressed.status, pressed.text, typeof cursor].join(" / "));
        onConnected();
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      } };
  }) })`;
  await writeFile(join(home, "two.mjs"), code);
  const config = { extensions: [{ module: "two.mjs" }], owners: ["one:ann"] };
  const saidBy = async (gateway: TestGateway, name: string): Promise<string> => {
    const said = () => gateway.log.lines.map(({ message }) => message).find((text) => text.startsWith(`${name}: `));
    await until(`${name} ran`, () => said() !== undefined);
    return said() ?? "";
  };
  await using first = await startGateway({ home, config });
  assert.match(
    await saidBy(first, "one"),
    /^one: {2}\/ refused \/ There is no such question, or it is closed\. \/ function$/,
  );
  assert.match(await saidBy(first, "two"), /^two: {2}\/ refused \/ You may not answer here\. \/ function$/);
  await using second = await first.restart(config);
  assert.match(await saidBy(second, "one"), /^one: word=one! \//);
  assert.match(await saidBy(second, "two"), /^two: word=two! \//);
});

test("the channel of docs/extensions.md works as its steps say, and cuts a long answer between its lines", async () => {
  const page = await readFile(projectFile("docs/extensions.md"), "utf8");
  const [, steps = ""] = page.split("## A channel, step by step");
  const block = (language: string): string => {
    const [, text = ""] = steps.split(`\`\`\`${language}\n`);
    return text.split("```")[0] ?? "";
  };
  const home = await tempHome();
  await cp(projectFile("examples/extensions/parrot.mjs"), join(home, "parrot.mjs"));
  await writeFile(join(home, "post-chat.mjs"), block("js"));
  const port = await freePort();
  const config = JSON.parse(block("json").replace("7071", String(port)));
  await using gateway = await startGateway({ home, config });
  const read = async (): Promise<string> => await (await fetch(`http://127.0.0.1:${port}/ann`)).text();
  await until("it listens", async () => await read().then(Boolean, () => false));
  const say = async (body: string): Promise<string> => {
    const taken = await fetch(`http://127.0.0.1:${port}/ann`, { method: "POST", body });
    assert.equal(await taken.text(), "Taken.\n");
    let said = "";
    await until("the answer came", async () => {
      said += await read();
      return said.trim().endsWith(body.slice(-5));
    });
    return said.trim();
  };
  assert.equal(await say("hello there"), "Squawk! hello there");
  await say(`${"one ".repeat(400)}\n${"two ".repeat(400)}end`);
  const pieces = (await gateway.events("post-chat:ann")).flatMap(({ type, payload }) =>
    type === "outbound_delivery_changed" && payload.status === "queued" ? (payload.content ?? []) : [],
  );
  assert.deepEqual(
    pieces.map((piece) => piece.replace(/\b(\w+)(?: \1\b)+/g, "$1").trim()),
    ["Squawk! hello there", "Squawk! one", "two end"],
  );
});
