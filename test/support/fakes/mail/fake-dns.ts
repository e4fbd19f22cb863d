import { createSocket } from "node:dgram";
import { promises as dns } from "node:dns";
import { once } from "node:events";

/** A name server for this process that knows these TXT records and nothing else. Asked instead of the system's. */
export async function startFakeDns(
  lookUp: (name: string, type: string) => Promise<string[][]>,
): Promise<AsyncDisposable> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    void answer(query, lookUp).then((reply) => socket.send(reply, port, address));
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const before = dns.getServers();
  dns.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    async [Symbol.asyncDispose]() {
      dns.setServers(before);
      socket.close();
      await once(socket, "close");
    },
  };
}

async function answer(query: Buffer, lookUp: (name: string, type: string) => Promise<string[][]>): Promise<Buffer> {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString("latin1"));
    at += 1 + length;
  }
  const question = query.subarray(12, at + 5);
  const isText = query.readUInt16BE(at + 1) === 16;
  const texts = await lookUp(labels.join("."), isText ? "TXT" : "other").catch(() => []);
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  // An answer, with recursion; "no such name" where nothing is known.
  header.writeUInt16BE(texts.length === 0 ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(texts.length, 6);
  return Buffer.concat([header, question, ...texts.map((text) => record(text.join("")))]);
}

function record(text: string): Buffer {
  const pieces = (text.match(/.{1,255}/gs) ?? []).map((piece) =>
    Buffer.concat([Buffer.from([piece.length]), Buffer.from(piece, "latin1")]),
  );
  const data = Buffer.concat(pieces);
  // Of the name that was asked for: TXT, IN, for a minute.
  const head = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** The environment in which another process asks the same name server as this one. */
export function sameDns(): Record<string, string> {
  const code = `import{promises as d}from'node:dns';d.setServers(${JSON.stringify(dns.getServers())})`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}
