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

test("a name without its channel is answered with how a key looks, and with the conversations that have it", async () => {
  const home = await tempHome();
  await using daemon = await startDaemon({ home });
  for (const sessionKey of ["webui:work", "cli:homework", "webui:other"])
    await postJson(`${daemon.url}/api/message`, { sessionKey, content: "hello" });
  for (const args of [
    ["sessions", "show", "work"],
    ["sessions", "delete", "work", "--yes"],
    ["sessions", "fork", "Work"],
  ]) {
    const { code, stderr } = await runMaxclaw(args, home);
    assert.equal(code, 1, args.join(" "));
    assert.match(
      stderr,
      /A session key looks like telegram:42\. Did you mean: (cli:homework, webui:work|webui:work, cli:homework)$/m,
    );
  }
  assert.match((await runMaxclaw(["sessions", "show", "nosuch"], home)).stderr, /looks like telegram:42\.$/m);
});

test("one of a thing is one, and a small file is not 0.0 MB", async () => {
  const home = await tempHome();
  const { stdout } = await runMaxclaw(["backup", `${home}.tgz`], home);
  assert.match(stdout, /^Wrote \S+: \d+ files?, \d+ (B|kB)\.$/m);
  assert.doesNotMatch(stdout, /\b1 files/);
});
