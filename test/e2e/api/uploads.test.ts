import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { ClientError } from "../../../src/client/client-error.js";
import { createClient } from "../../../src/client/node.js";
import { makePdf } from "../../support/documents.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway } from "../../support/worlds/gateway.js";

const key = "webui:test";
const messageId = "msg_with_a_file";

test("a file that is uploaded and sent with a message can be read by tools", async () => {
  await using model = await startFakeOpenAI({
    answer(request) {
      if (/"role":"tool"/.test(request.bodyText)) return { text: "It has been read." };
      const path = /<file name=\\"[^"]*\\"[^>]*path=\\"([^"\\]+)\\"/.exec(request.bodyText)?.[1] ?? "no path was told";
      return { toolCalls: [{ id: "call_1", name: "read_file", input: { path } }] };
    },
  });
  const config = openAIConfig(model.apiBase, { gateway: { token: "secret" }, inbound: { maxFileMegabytes: 1 } });
  await using gateway = await startGateway({ config });
  const client = createClient({ url: gateway.gateway.pageUrl, token: "secret" });
  try {
    const report = await client.upload(makePdf(["BT /F1 12 Tf 72 720 Td (The harvest was good.) Tj ET"]), "report.pdf");
    assert.deepEqual([report.filename, report.mimeType], ["report.pdf", "application/pdf"]);
    assert.equal(dirname(report.path), join(gateway.workspace, ".uploads"));
    const message = { sessionKey: key, content: "What does it say?", attachments: [report], messageId };
    assert.equal((await client.sendMessage(message)).status, "accepted");
    await gateway.outcome(messageId);
    const asked = model.requests[1]?.bodyText ?? "";
    assert.match(asked, /The harvest was good\./);
    assert.doesNotMatch(asked, /<untrusted source=/, "an owner's own file is the owner's own");

    const { received, files } = await receivedOf(gateway.workspace);
    assert.equal(files.length, 1);
    assert.match(files[0] ?? "", /^[0-9a-f]{8}-report\.pdf$/);
    assert.equal((await client.sendMessage(message)).status, "duplicate");
    assert.deepEqual(await readdir(received), files, "nothing is taken twice");
    const kept = await readFile(join(received, files[0] ?? ""));
    assert.deepEqual(
      (await readdir(dirname(report.path))).filter((name) => name.endsWith(".pdf")),
      [],
      "one copy",
    );
    const headers = { authorization: "Bearer secret" };
    const back = await fetch(new URL(report.url ?? "", `http://${gateway.gateway.address}`), { headers });
    assert.deepEqual(Buffer.from(await back.arrayBuffer()), kept);
    const other = { sessionKey: "webui:other", content: "And here?", attachments: [report], messageId: "msg_other" };
    assert.equal((await client.sendMessage(other)).status, "accepted");
    await gateway.outcome("msg_other", "webui:other");
    const queued = (await gateway.events(key)).find(({ type }) => type === "user_message_queued");
    assert.match(JSON.stringify(queued?.payload), /received\/[0-9a-f]{8}-report\.pdf/);

    const spied = { ...report, path: report.path.replace(basename(report.path), "gone.pdf") };
    const gone = client.sendMessage({ sessionKey: key, content: "And this?", attachments: [spied] });
    await assert.rejects(gone, /report\.pdf is not there any more\. Please attach it again\./);
    await assert.rejects(client.upload(Buffer.alloc(1024 * 1024 + 1), "big.bin"), (error) => {
      assert.ok(error instanceof ClientError && error.kind === "refused" && error.code === "too_large");
      return /big\.bin is larger than the 1 MB/.test(error.message);
    });
  } finally {
    client.close();
  }
});

async function receivedOf(workspace: string) {
  const kept = join(workspace, ".sessions", ".kept");
  const received = join(kept, (await readdir(kept))[0] ?? "", "received");
  return { received, files: await readdir(received) };
}
