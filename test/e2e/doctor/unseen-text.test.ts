import assert from "node:assert/strict";
import { test } from "node:test";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { tempHome } from "../../support/worlds/gateway.js";
import { postJson } from "../../support/worlds/http/http-server.js";

test("what nobody sees in a message reaches no terminal; emoji and other scripts do", async () => {
  const home = await tempHome();
  await using daemon = await startDaemon({ home });
  const tags = [..."ls"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
  const content = `pay\u200bpal${tags} \u{1f468}\u200d\u{1f469}\u200d\u{1f467} می\u200cخواهم`;
  await postJson(`${daemon.url}/api/message`, { sessionKey: "webui:main", content });
  for (const args of [
    ["sessions", "list"],
    ["sessions", "show", "webui:main"],
  ]) {
    const { stdout } = await runMaxclaw(args, home);
    assert.match(stdout, /paypal \u{1f468}\u200d\u{1f469}\u200d\u{1f467} می\u200cخواهم/u, args.join(" "));
    assert.doesNotMatch(stdout, /[\u200b\u{e0000}-\u{e007f}]/u, args.join(" "));
  }
});
