import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { projectFile } from "../../../support/project.js";

const run = promisify(execFile);

/** A channel, and a tool, as somebody writes them in TypeScript. */
const own = `
import { ChannelError, type Attachment, type Button, type Channel, type ChannelRecords, type ExtensionFactory,
  type OutboundMessage, type Press, type PressOutcome, type Publish, type PublishOutcome, type Quoted, type Receipt,
  type ReceivedFile, type ReceivedMessage, type ReceivedPress, defineExtension, defineTool, type ToolAnswer, type ToolContext,
  type ToolQuestion, type ToolResult } from "maxclaw";

const quoted: Quoted = { text: "hm?", by: "assistant" };
const file: ReceivedFile = {
  filename: "a.txt",
  mimeType: "text/plain",
  read: async (_maxBytes, signal) => { signal.throwIfAborted(); return new Uint8Array(); },
};
const received: ReceivedMessage = {
  chatId: "1", senderId: "ann", content: "hello", chatType: "dm", addressed: true, files: [file], quoted,
};

class Wire implements Channel {
  readonly name = "wire";
  readonly maxButtons = 3;
  #records: ChannelRecords;
  #press: Press;
  constructor(records: ChannelRecords, press: Press) {
    this.#records = records;
    this.#press = press;
  }
  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    onConnected();
    const outcome: PublishOutcome = await publish(received);
    if (outcome.status === "busy") throw new ChannelError(outcome.reply, { retryable: true });
    const press: ReceivedPress = { chatId: "1", chatType: "dm", senderId: "ann", value: String(this.#records.get("1")) };
    const pressed: PressOutcome = await this.#press(press);
    // @ts-expect-error there is no such status
    if (pressed.status === "perhaps") signal.throwIfAborted();
  }
  split(content: string): readonly string[] { return [content]; }
  async send(message: OutboundMessage): Promise<Receipt> {
    const buttons: readonly Button[] = message.buttons ?? [];
    const attachments: readonly Attachment[] = message.attachments;
    await this.#records.put(message.chatId, buttons.length + attachments.length);
    return { platformMessageId: "1" };
  }
}

const extension: ExtensionFactory = ({ z, options }) => ({
  channels: ({ forChannel }) => {
    const { records, press } = forChannel("wire");
    return [new Wire(records, press)];
  },
  tools: [defineTool({
    name: "ask_size", description: "Asks for a size.", input: z.object({ of: z.string() }), effect: "read", risk: "none", origin: "builtin",
    async run({ of }, context: ToolContext): Promise<ToolResult> {
      const question: ToolQuestion = { kind: "clarification", question: of, options: [], allowCustom: true };
      const answer: ToolAnswer = await context.ask(question);
      return { text: answer.text, isError: false, summary: String(options.sides) };
    },
  })],
});
export default extension;
export const counting = defineExtension(({ z, options, defineTool: define, splitMarkdown }) => {
  const { limit } = z.object({ limit: z.int() }).parse(options);
  const pieces: readonly string[] = splitMarkdown("text", limit, (piece) => piece.length);
  return {
    tools: [define({
      name: "count", description: "Counts.", input: z.object({ count: z.int() }),
      async run({ count }) {
        const doubled: number = count * 2;
        // @ts-expect-error it is a number, as the input says
        count.trim();
        return { text: String(doubled), isError: false, summary: pieces.join() };
      },
    })],
  };
});
// @ts-expect-error channels are given at once
export const late: ExtensionFactory = () => ({ channels: async () => [] });
`;

test("the documented extensions, and a channel and a tool in TypeScript, fit the package's types strictly", async () => {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-types-"));
  try {
    const modules = join(folder, "node_modules");
    await mkdir(join(modules, "@types"), { recursive: true });
    await mkdir(join(modules, "maxclaw"));
    // As it is packed: the compiled package and nothing of its sources.
    for (const part of ["package.json", "dist"]) await symlink(projectFile(part), join(modules, "maxclaw", part));
    for (const name of ["zod", "@types/node"]) await symlink(projectFile(`node_modules/${name}`), join(modules, name));
    await cp(projectFile("examples/extensions"), join(folder, "examples"), { recursive: true });
    await cp(projectFile("examples/channel"), join(folder, "examples"), { recursive: true });
    const page = await readFile(projectFile("docs/extensions.md"), "utf8");
    const blocks = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
    assert.ok(blocks.length > 0);
    for (const [index, code] of blocks.entries()) await writeFile(join(folder, `page-${index}.mjs`), code);
    await writeFile(join(folder, "own.ts"), own);
    const options = {
      strict: true,
      noEmit: true,
      allowJs: true,
      checkJs: true,
      exactOptionalPropertyTypes: true,
      target: "es2022",
      lib: ["es2023", "esnext.disposable"],
      module: "nodenext",
      types: ["node"],
    };
    const config = { compilerOptions: options, include: ["own.ts", "*.mjs", "examples/*.mjs"] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    await run(projectFile("node_modules/.bin/tsc"), ["-p", folder]).catch((error) => assert.fail(String(error.stdout)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
