import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { loadConfig } from "../../../src/config/load.js";

const token = "a-token-that-was-chosen";

describe("a config that cannot be read", () => {
  let home = "";
  before(async () => {
    home = await mkdtemp(join(tmpdir(), "maxclaw-broken-config-"));
  });
  after(() => rm(home, { recursive: true, force: true }));

  const tokenOf = async (text: string): Promise<string | undefined> => {
    await writeFile(join(home, "config.json"), text);
    return (await loadConfig({ home, env: {} })).config.gateway.token;
  };

  test("opens nothing that its token had closed, and accepts no other one", async () => {
    for (const text of [`{"gateway": {"port": 1, "token": "${token}"}`, `{gateway: {token: "${token}", }, oops`]) {
      const found = await tokenOf(text);
      assert.ok(found !== undefined && found.length >= 32 && found !== token, text);
    }
  });

  test("asks for no token where it is whole to its end, and names none", async () => {
    for (const text of ["{oops}", `{"gateway": {"port": 1},\n "channels": {"telegram": {"token": "4242:x"}}`])
      assert.equal(await tokenOf(text), undefined, text);
  });
});
