import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { callThenDone } from "../../support/worlds/channels/chat-world.js";
import { openCli } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";

/** The id of the question that waits. */
async function waitingId(cli: Awaited<ReturnType<typeof openCli>>): Promise<string> {
  let id = "";
  await until(
    "a question waits",
    async () => {
      id = /^(ask_\w+)/m.exec((await cli.run(["answer"])).stdout)?.[1] ?? "";
      return id !== "";
    },
    20_000,
  );
  return id;
}

describe("questions in the command line", () => {
  it("lists and answers them, and manages what was always allowed", async () => {
    await using cli = await openCli();
    const file = join(cli.home, "workspace", "notes.txt");
    await using _model = await withModel(cli, callThenDone("write_file", { path: file, content: "noted" }));
    assert.match((await cli.run(["answer"])).stderr, /No gateway is running/);
    await startCliGateway(cli);
    assert.match((await cli.run(["answer"])).stdout, /Nothing is waiting/);

    const asked = cli.run(["agent", "-m", "note it"]);
    const id = await waitingId(cli);
    const wrong = await cli.run(["answer", id, "perhaps"]);
    assert.deepEqual([wrong.code, /1 \(Allow once\)/.test(wrong.stderr)], [1, true]);
    assert.equal((await cli.run(["answer", "ask_nothing", "1"])).code, 1);
    const yes = await cli.run(["answer", id, "always"]);
    assert.deepEqual([yes.code, yes.stdout], [0, "Answered: Always allow\n"]);
    const { stdout, stderr } = await asked;
    assert.match(stdout, /^done: created/);
    assert.match(stderr, new RegExp(`The assistant asks: May I write notes\\.txt\\?[\\s\\S]*maxclaw answer ${id}`));

    const listed = await cli.run(["policy", "list"]);
    assert.match(listed.stdout, /Mode: ask[\s\S]*write_file +cli:\S+ +cli:\S+ .*notes\.txt/);
    const grant = /^(allow_\w+)/m.exec(listed.stdout)?.[1] ?? "";
    assert.equal((await cli.run(["policy", "revoke", grant])).code, 0);
    assert.equal((await cli.run(["policy", "revoke", grant])).code, 1);
    assert.match((await cli.run(["policy", "list"])).stdout, /Nothing is always allowed/);
    assert.deepEqual(JSON.parse((await cli.run(["policy", "list", "--json"])).stdout).grants, []);
  });

  it("takes a secret from a pipe and none from the command line", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, callThenDone("ask_human", { question: "Key?", env: ["MY_KEY"] }));
    await startCliGateway(cli);
    const asked = cli.run(["agent", "-m", "go"]);
    const id = await waitingId(cli);
    const onLine = await cli.run(["answer", id, "s3cret-value"]);
    assert.deepEqual([onLine.code, /do not belong on a command line/.test(onLine.stderr)], [2, true]);
    const piped = await cli.run(["answer", id], { stdin: "s3cret-value\n" });
    assert.deepEqual([piped.code, piped.stdout], [0, "Answered: MY_KEY saved\n"]);
    assert.match((await asked).stdout, /MY_KEY saved/);
    assert.equal(JSON.parse(await readFile(join(cli.home, "secrets.json"), "utf8")).MY_KEY, "s3cret-value");
    assert.ok(!(await readFile(join(cli.home, "logs", "gateway.log"), "utf8")).includes("s3cret-value"));
  });
});
