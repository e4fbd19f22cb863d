import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { userInfo } from "node:os";
import { test } from "node:test";
import { thisAccount } from "../../../src/service/account.js";
import { compiledFile } from "../../support/project.js";

test("an account that has a number only is one all the same, and goes by HOME", () => {
  const unknown = (): never => {
    throw new Error("uv_os_get_passwd returned ENOENT");
  };
  const uid = process.getuid?.() ?? -1;
  assert.deepEqual(thisAccount({ HOME: "/data" }, unknown), { uid, user: String(uid), homedir: "/data" });
  assert.deepEqual(thisAccount({}, unknown), { uid, user: String(uid), homedir: "/" });
  assert.deepEqual(thisAccount({}), { uid, user: userInfo().username, homedir: userInfo().homedir });
});

test("the number of a real process without a name is found", () => {
  const nameless = 54_321;
  const account = process.getuid?.() === 0 ? { uid: nameless } : {};
  const program = `import(${JSON.stringify(compiledFile("src/service/account.js"))}).then(({ thisAccount }) => console.log(thisAccount({}).uid))`;
  const { stdout } = spawnSync(process.execPath, ["-e", program], { ...account, encoding: "utf8" });
  assert.equal(stdout.trim(), String(account.uid ?? process.getuid?.()));
});
