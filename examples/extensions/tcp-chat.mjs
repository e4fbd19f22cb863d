// A channel: one chat for each name that says hello on a TCP port, line by line.
// { "module": "./tcp-chat.mjs", "options": { "port": 7070 } }, "owners": ["tcp-chat:ann"]
// Then: nc 127.0.0.1 7070, and as the first line your name. There is no password: keep it on this machine.
// A question comes with numbered answers: the line #1 presses the first one's button.

import { createServer } from "node:net";
import { createInterface } from "node:readline";

/** @type {import("maxclaw").ExtensionFactory} */
export default (extension) => ({
  // `records` and `press` are this channel's own.
  channels: (context) => [tcpChat(context.forChannel("tcp-chat"), extension)],
});

/**
 * @param {import("maxclaw").OwnChannelContext} context
 * @param {import("maxclaw").ExtensionContext} extension
 * @returns {import("maxclaw").Channel}
 */
function tcpChat({ records, press }, { z, options, log, errors, splitMarkdown }) {
  const { port } = z.object({ port: z.int().min(0).default(7070) }).parse(options);
  /**
   * Open connections by name.
   * @type {Map<string, import("node:net").Socket>}
   */
  const people = new Map();
  let sent = 0;

  /** @param {string} name @param {number} number */
  const pressed = async (name, number) => {
    const offered = records.get(name);
    const value = Array.isArray(offered) ? offered[number - 1] : undefined;
    if (value === undefined) return `There is no #${number}.`;
    return (await press({ chatId: name, chatType: "dm", senderId: name, value })).text;
  };

  /** @param {import("node:net").Socket} socket @param {import("maxclaw").Publish} publish */
  const talk = async (socket, publish) => {
    /** @type {string | undefined} */
    let name;
    for await (const line of createInterface({ input: socket })) {
      const text = line.trim();
      if (name === undefined) {
        name = text.replace(/\W/g, "").toLowerCase() || "guest";
        people.set(name, socket);
      } else if (/^#\d+$/.test(text)) {
        socket.write(`${await pressed(name, Number(text.slice(1)))}\n`);
      } else if (text !== "") {
        // Resolves once the message is on disk: from here on it will be answered, whatever happens to the process.
        const outcome = await publish({
          chatId: name,
          senderId: name,
          content: text,
          chatType: "dm",
          addressed: true,
        });
        if ("reply" in outcome && outcome.reply) socket.write(`${outcome.reply}\n`);
      }
    }
    if (name !== undefined && people.get(name) === socket) people.delete(name);
  };

  return {
    name: "tcp-chat",
    maxButtons: 9,
    run: (publish, onConnected, signal) =>
      new Promise((resolve, reject) => {
        const server = createServer((socket) => {
          socket.on("error", (error) => log.debug?.(`tcp-chat: ${error.message}`));
          talk(socket, publish).catch((error) => socket.destroy(error));
        });
        server.on("error", reject);
        server.listen(port, "127.0.0.1", () => {
          const address = server.address();
          if (typeof address === "object") log.info(`tcp-chat listens on port ${address?.port}`);
          onConnected();
        });
        const stop = () => {
          for (const socket of people.values()) socket.destroy();
          server.close(() => resolve());
        };
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      }),
    split: (content) => splitMarkdown(content, 2000),
    // The conversation was deleted.
    forget: (chatId) => records.delete(chatId),
    async send(message) {
      const socket = people.get(message.chatId);
      // Who is away gets it later: the gateway tries again.
      if (socket === undefined) throw new errors.ChannelError(`${message.chatId} is not there`, { retryable: true });
      const { content, buttons = [] } = message;
      // On disk, so that they can be pressed after a restart.
      const values = buttons.map(({ value }) => value);
      if (values.length > 0) await records.put(message.chatId, values);
      const hint = values.length > 0 ? `Press one with #1 to #${values.length}.\n` : "";
      socket.write(`${content}\n${hint}`);
      sent += 1;
      return { platformMessageId: String(sent) };
    },
  };
}
