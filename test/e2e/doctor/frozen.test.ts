import assert from "node:assert/strict";
import { test } from "node:test";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { tempHome } from "../../support/worlds/gateway.js";
import { withoutProc } from "../../support/worlds/needs.js";

test("a gateway that is stopped is named with its process and what to do, by each command", {
  skip: withoutProc(),
}, async () => {
  const home = await tempHome();
  await using daemon = await startDaemon({ home });
  daemon.child.kill("SIGSTOP");
  const commands = ["status", "channels", "sessions list", "config check", "backup", "agent -m hello"];
  await Promise.all(
    commands.map(async (line) => {
      const { code, stderr } = await runMaxclaw(line.split(" "), home);
      const { pid } = daemon.child;
      if (line !== "config check") assert.equal(code, 1, `${line}: ${stderr}`);
      else return;
      assert.ok(stderr.includes(`process ${pid}`), `${line}: ${stderr}`);
      assert.match(stderr, /does not answer.*is stopped/, line);
      assert.ok(stderr.includes(`kill -CONT ${pid}`), `${line}: ${stderr}`);
    }),
  );
  daemon.child.kill("SIGCONT");
  assert.equal((await runMaxclaw(["sessions", "list"], home)).code, 0);
});
