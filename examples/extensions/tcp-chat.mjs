// A channel: one chat for each name that says hello on a TCP port, line by line.
// { "module": "./tcp-chat.mjs", "options": { "port": 7070 } }, "owners": ["tcp-chat:ann"]
// Then: nc 127.0.0.1 7070, and as the first line your name. There is no password: keep it on this machine.

import { createServer } from "node:net";
import { createInterface } from "node:readline";

/** @type {import("maxclaw").ExtensionFactory} */
export default ({ options, log, errors }) => {
  /** Open connections by name. */
  const people = new Map();
  let sent = 0;

  const talk = async (socket, publish) => {
    let name;
    for await (const line of createInterface({ input: socket })) {
      const text = line.trim();
      if (name === undefined) {
        name = text.replace(/\W/g, "").toLowerCase() || "guest";
        people.set(name, socket);
      } else if (text !== "") {
        const message = {
          chatId: name,
          senderId: name,
          content: text,
          attachments: [],
          chatType: "dm",
          addressed: true,
        };
        // Resolves once the message is on disk: from here on it will be answered, whatever happens to the process.
        const outcome = await publish(message);
        if (outcome.reply) socket.write(`${outcome.reply}\n`);
      }
    }
    if (people.get(name) === socket) people.delete(name);
  };

  const channel = {
    name: "tcp-chat",
    run: (publish, onConnected, signal) =>
      new Promise((resolve, reject) => {
        const server = createServer((socket) => {
          socket.on("error", (error) => log.debug?.(`tcp-chat: ${error.message}`));
          talk(socket, publish).catch((error) => socket.destroy(error));
        });
        server.on("error", reject);
        server.listen(options.port ?? 7070, "127.0.0.1", () => {
          log.info(`tcp-chat listens on port ${server.address().port}`);
          onConnected();
        });
        const stop = () => {
          for (const socket of people.values()) socket.destroy();
          server.close(() => resolve());
        };
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      }),
    split: (content) => [content],
    async send(message) {
      const socket = people.get(message.chatId);
      // Who is away gets it later: the gateway tries again.
      if (socket === undefined) throw new errors.ChannelError(`${message.chatId} is not there`, { retryable: true });
      socket.write(`${message.content}\n`);
      sent += 1;
      return { platformMessageId: String(sent) };
    },
  };
  return { channels: () => [channel] };
};
