import { createSocket } from "node:dgram";
import { getServers, setServers } from "node:dns/promises";
import { once } from "node:events";
import { syncBuiltinESMExports } from "node:module";

/**
 * While it is not disposed, this process asks it for names. `services`: the port on this machine of each name of a service
 * (SRV); every other name is not known.
 */
export async function serveNames(services: Readonly<Record<string, number>>): Promise<AsyncDisposable> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const { name, end } = nameIn(query);
    const found = services[name.toLowerCase()];
    socket.send(answerTo(query.subarray(0, end + 4), found), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const before = getServers();
  ask([`127.0.0.1:${socket.address().port}`]);
  return {
    async [Symbol.asyncDispose]() {
      ask(before);
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
}

/** Other servers come with other functions, which are known to who has imported the old ones only then. */
function ask(servers: readonly string[]): void {
  setServers(servers);
  syncBuiltinESMExports();
}

/** The name that is asked for, and where it ends. */
function nameIn(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}

/** RFC 1035, 4.1, and RFC 2782. */
function answerTo(question: Buffer, port: number | undefined): Buffer {
  const head = Buffer.alloc(12);
  question.copy(head, 0, 0, 2);
  head.writeUInt16BE(port === undefined ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(port === undefined ? 0 : 1, 6);
  if (port === undefined) return Buffer.concat([head, question.subarray(12)]);
  const target = Buffer.concat([Buffer.from([9]), Buffer.from("localhost"), Buffer.from([0])]);
  const about = Buffer.alloc(18);
  about.writeUInt16BE(0xc00c, 0);
  about.writeUInt16BE(33, 2);
  about.writeUInt16BE(1, 4);
  about.writeUInt32BE(1, 6);
  about.writeUInt16BE(6 + target.length, 10);
  about.writeUInt16BE(port, 16);
  return Buffer.concat([head, question.subarray(12), about, target]);
}
