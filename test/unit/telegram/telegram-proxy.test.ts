import assert from "node:assert/strict";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { openApi } from "../../../src/channels/telegram/api.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";

test("calls go through an HTTP proxy when one is set", async () => {
  await using telegram = await startFakeTelegram({ token: "42:proxy" });
  const tunnels: string[] = [];
  const proxy = createServer();
  proxy.on("connect", (request, client) => {
    tunnels.push(request.url ?? "");
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const upstream = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(client);
      client.pipe(upstream);
    });
    upstream.on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const { api } = await openApi({ token: telegram.token, apiRoot: telegram.url, proxy: `http://127.0.0.1:${port}` });
  assert.equal((await api.getMe()).id, telegram.bot.id);
  assert.deepEqual(tunnels, [new URL(telegram.url).host]);
  proxy.closeAllConnections();
  proxy.close();
});

test("a proxy of an unknown kind is refused with the key's name", async () => {
  await assert.rejects(openApi({ token: "42:x", proxy: "ftp://proxy" }), /channels\.telegram\.proxy/);
});
