import assert from "node:assert/strict";
import { test } from "node:test";
import { readQrCode } from "../../../support/qr-code.js";
import { openCli } from "../../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../../support/worlds/cli-gateway.js";
import { postJson } from "../../../support/worlds/http/http-server.js";
import { openPty } from "../../../support/worlds/pty.js";

const token = "a-token-of-more-than-twenty-characters";
const publicUrl = "https://chat.example/assistant";

test("the owner lets a phone in from the terminal, sees it, and signs it out", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "x" }, { gateway: { token, publicUrl } });
  const offline = await cli.run(["devices", "invite"]);
  assert.deepEqual([offline.code, offline.stdout], [1, ""]);
  assert.match(offline.stderr, /is not running\. Start it first/);
  const { url } = await startCliGateway(cli);
  assert.equal((await cli.run(["devices"])).stdout, "No browser is signed in.\n");

  await using terminal = openPty(cli, ["devices", "invite"]);
  const link = await terminal.see(/https:\/\/chat\.example\/assistant\/#join=[\w-]{22}/);
  assert.equal(await terminal.ended, 0);
  assert.equal(readQrCode(squaresOf(terminal.written)), link);
  const code = link.split("=")[1];
  const joined = await postJson(`${url}/api/join`, { code, device: "Phone" });
  assert.equal(joined.status, 200);
  const cookie = joined.headers.get("set-cookie")?.split(";")[0] ?? "";

  const listed = await cli.run(["devices", "list"]);
  const id = /^([0-9a-f]{12}) .*127\.0\.0\.1 +Phone$/m.exec(listed.stdout)?.[1] ?? "";
  assert.equal(JSON.parse((await cli.run(["devices", "list", "--json"])).stdout).devices[0].id, id);
  const statusOf = async () => (await fetch(`${url}/api/status`, { headers: { cookie } })).status;
  assert.equal(await statusOf(), 200);
  assert.equal((await cli.run(["devices", "remove", id])).stdout, `${id} is signed out\n`);
  assert.equal(await statusOf(), 401);
  assert.match((await cli.run(["devices", "remove", id])).stderr, /^maxclaw: There is no device/);
});

test("without a public address the link says that only this machine can open it; without a token there is none", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "x" }, { gateway: { token } });
  const { child, result, port } = await startCliGateway(cli);
  const invited = await cli.run(["devices", "invite"]);
  assert.match(invited.stdout, new RegExp(`^http://127\\.0\\.0\\.1:${port}/#join=[\\w-]{22}\\n$`));
  assert.match(invited.stderr, /Only this machine can open this link\. Set gateway\.publicUrl/);
  child.kill("SIGTERM");
  await result;
  await using _open = await withModel(cli, { text: "x" });
  await startCliGateway(cli);
  assert.match((await cli.run(["devices", "invite"])).stderr, /has no token/);
  assert.match((await cli.run(["devices"])).stdout, /has no token/);
});

/** What a terminal shows of it: each character is two squares, one above the other, and light ones are drawn. */
function squaresOf(written: string): readonly (readonly boolean[])[] {
  const lines = written.split(/\r?\n/).filter((line) => /^[█▀▄ ]+$/.test(line) && line.length > 20);
  return lines.flatMap((line) => [
    [...line].map((mark) => !"█▀".includes(mark)),
    [...line].map((mark) => !"█▄".includes(mark)),
  ]);
}
