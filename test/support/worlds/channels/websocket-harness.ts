import { freePort } from "../../fakes/network/free-port.js";
import type { ChannelHarness, HarnessMessage, ShownMessage } from "./channel-harness.js";
import { type Frame, startProgram } from "./websocket-program.js";

interface WireFile {
  readonly filename: string;
  readonly data: string;
}

/** Two programs at the WebSocket door, each with a person behind it. */
export async function openWebSocketHarness(): Promise<ChannelHarness> {
  const port = await freePort();
  const token = "harness-token";
  const open = (chatId: string) => startProgram(`ws://127.0.0.1:${port}/ws?chatId=${chatId}&token=${token}`);
  const programs = new Map(["ann", "bob"].map((chatId) => [chatId, open(chatId)]));
  let count = 0;
  const of = (chatId: string) => {
    const program = programs.get(chatId);
    if (program === undefined) throw new Error(`There is no program for ${chatId}`);
    return program;
  };
  const send = (type: string, id: string, { from, text = "", files = [], thread, answers }: HarnessMessage): void =>
    of(from.chatId).write({
      type,
      id,
      content: text,
      ...(thread === undefined ? {} : { thread }),
      ...(files.length === 0
        ? {}
        : { files: files.map(({ bytes, ...file }) => ({ ...file, data: bytes.toString("base64") })) }),
      ...(answers === undefined ? {} : { quoted: { text: answers.text, by: answers.isOurs ? "assistant" : "other" } }),
    });
  const texts = (chatId: string): readonly Frame[] =>
    of(chatId).frames.filter(({ type, error }) => type === "message" || (type === "refused" && error !== ""));
  return {
    channel: "websocket",
    config: { port, token },
    people: [
      { senderId: "ann", chatId: "ann" },
      { senderId: "bob", chatId: "bob" },
    ],
    threads: ["t1", "t2"],
    hasVoice: true,
    knowsRepeats: true,
    async write(message) {
      count += 1;
      send("message", `m${count}`, message);
      return `m${count}`;
    },
    edit: async (id, message) => send("edit", id, message),
    remove: async (id, message) => send("delete", id, message),
    shown: (chatId, thread) =>
      texts(chatId)
        .filter((frame) => frame.type === "refused" || frame.thread === thread)
        .map((frame): ShownMessage => {
          const edited = of(chatId).frames.findLast(({ type, id }) => type === "edit" && id === frame.id);
          const files = (frame.files ?? []) as readonly WireFile[];
          return {
            text: String(edited?.content ?? frame.content ?? frame.error),
            files: files.map(({ filename, data }) => ({ filename, bytes: Buffer.from(data, "base64") })),
          };
        }),
    showings: (chatId) => texts(chatId).map((frame) => String(frame.content ?? frame.error)),
    faults: ["cut-before", "cut-after", "timeout"],
    failNextSend(fault) {
      for (const program of programs.values()) program.fail(fault);
    },
    loseConnection() {
      for (const program of programs.values()) program.cut();
    },
    async [Symbol.asyncDispose]() {
      for (const program of programs.values()) await program[Symbol.asyncDispose]();
    },
  };
}
