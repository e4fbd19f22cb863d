import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage, request as requestHttp } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { createAddressPolicy } from "../../../src/policy/locations/addresses.js";
import { createEgress, type LookUp } from "../../../src/policy/locations/egress.js";
import { openEgressProxy } from "../../../src/tools/browser/proxy.js";
import { webFetchTool } from "../../../src/tools/web/web-fetch.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

/** A server that answers everything with these bytes. */
async function startRaw(answer: string, whenAnswered: (socket: Socket) => void = (socket) => socket.end()) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(answer, "latin1");
      whenAnswered(socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function openProxy(allow: readonly string[], lookUp?: LookUp) {
  return await openEgressProxy(createEgress(createAddressPolicy(allow), lookUp));
}

/** What a browser behind the proxy gets for an address. */
async function through(proxy: { readonly url: string }, address: string) {
  const { hostname, port } = new URL(proxy.url);
  const asked = get({ hostname, port, path: address, headers: { host: new URL(address).host }, agent: false });
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, headers: response.headers, text };
}

/** Answers that node reads and does not write, and one that is none. */
const strange = [
  "HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n",
  "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nx",
  "this is not an answer\r\n\r\n",
];

test("whatever a server answers, its page gets an error and the gateway goes on", async () => {
  await using proxy = await openProxy(["127.0.0.1"]);
  for (const answer of strange) {
    await using server = await startRaw(answer);
    const { status } = await through(proxy, `http://${server.host}/`);
    assert.equal(status, 502, answer);
  }
  await using trailing = await startRaw("HTTP/1.1 200 OK\r\nTrailer: x\r\nContent-Length: 4\r\n\r\nfine");
  assert.equal((await through(proxy, `http://${trailing.host}/`)).text, "fine");
});

test("whatever a server answers, web_fetch comes to an end", async () => {
  using place = createToolPlace();
  const egress = createEgress(createAddressPolicy(["127.0.0.1"]));
  const tool = webFetchTool({ egress, timeoutMs: 20_000, userAgent: "test", mode: "http" });
  for (const answer of strange.slice(2)) {
    await using server = await startRaw(answer, () => {});
    const result = await place.run(tool, { url: `http://${server.host}/` });
    assert.equal(result.isError, true);
    assert.match(result.text, /could not be reached/, answer);
  }
});

test("a name that leads elsewhere at its second look is dialled where it led when it was judged", async () => {
  await using server = await startRaw("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
  const port = server.host.split(":")[1];
  for (const isTunnel of [false, true]) {
    let looks = 0;
    await using proxy = await openProxy(["127.0.0.9"], async () => {
      looks += 1;
      return [{ address: looks === 1 ? "127.0.0.9" : "127.0.0.1", family: 4 }];
    });
    const statusOf = isTunnel
      ? () => connectThrough(proxy, `localhost:${port}`)
      : async () => (await through(proxy, `http://localhost:${port}/`)).status;
    assert.equal(await statusOf(), 502, "nobody listens where it led first");
    assert.equal(looks, 1);
    assert.equal(await statusOf(), 403, "where it leads now is closed");
    assert.match(proxy.refusalOf("localhost") ?? "", /private network/);
  }
});

async function connectThrough(proxy: { readonly url: string }, target: string): Promise<number | undefined> {
  const { hostname, port } = new URL(proxy.url);
  const asked = requestHttp({ hostname, port, method: "CONNECT", path: target, agent: false });
  asked.end();
  const [response, socket] = (await once(asked, "connect")) as [IncomingMessage, Socket];
  socket.destroy();
  return response.statusCode;
}

test("who takes the proxy for a web server gets nothing", async () => {
  await using proxy = await openProxy([]);
  assert.equal((await fetch(proxy.url)).status, 403);
});
