import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeAnthropic } from "../../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { conversationIn } from "../../../support/rules/wire-messages.js";
import { startGateway } from "../../../support/worlds/gateway.js";

const bytes = Buffer.from("\x89PNG\r\n\x1a\n only its beginning counts", "latin1");

for (const [apiFormat, startFake] of [
  ["openai", startFakeOpenAI],
  ["anthropic", startFakeAnthropic],
] as const)
  test(`${apiFormat}: an image that comes with a message is seen by a model that can, and named to one that cannot`, async () => {
    await using server = await startFake({ answer: { text: "I see" } });
    const config = {
      agents: { defaults: { model: "acme/eyes" } },
      providers: {
        acme: {
          apiKey: "key-of-acme",
          apiBase: server.apiBase,
          apiFormat,
          models: [{ id: "eyes", supportsImageInput: true }, "blind"],
        },
      },
    };
    await using gateway = await startGateway({ config });
    const folder = join(gateway.workspace, ".uploads");
    const path = join(folder, "cat.png");
    await mkdir(folder, { recursive: true });
    await writeFile(path, bytes);
    const { api } = gateway.gateway;
    const image = { path, filename: "cat.png", mimeType: "image/png", sizeBytes: bytes.length };
    const { messageId } = await api.send({ sessionKey: "webui:test", content: "what is this?", attachments: [image] });
    assert.equal((await gateway.outcome(messageId)).response, "I see");
    await gateway.ask("are you sure?");
    const [first, second] = server.requests;
    assert.ok(first !== undefined && second !== undefined);
    assert.ok(first.bodyText.includes(bytes.toString("base64")));
    assert.match(first.bodyText, /<file name=\\"cat\.png\\" type=\\"image\/png\\"/, "tools can find it");
    assert.ok(conversationIn(second).startsWith(conversationIn(first)), "it stays where it was");

    await gateway.ask("/model acme/blind");
    assert.equal((await gateway.ask("and you?")).response, "I see", "this message had no picture");
    const blind = server.requests.at(-1)?.bodyText ?? "";
    assert.ok(!blind.includes(bytes.toString("base64")));
    assert.match(blind, /\[cat\.png: an image, which this model cannot see\]/);
    const again = await api.send({ sessionKey: "webui:test", content: "now?", attachments: [image] });
    assert.equal(
      (await gateway.outcome(again.messageId)).response,
      "I see\n\n(The model acme/blind cannot see pictures: it knows only their names.)",
    );
  });

for (const [apiFormat, startFake] of [
  ["openai", startFakeOpenAI],
  ["anthropic", startFakeAnthropic],
] as const)
  test(`${apiFormat}: a picture that a tool has read is seen by a model that can, and named to one that cannot`, async () => {
    const png = Buffer.from("\x89PNG\r\n\x1a\n only its beginning counts", "latin1");
    const read = { toolCalls: [{ id: "call_1", name: "read_file", input: { path: "chart.png" } }] };
    await using server = await startFake({ answer: [read, { text: "It rises" }, { text: "Yes" }, { text: "No" }] });
    const models = [{ id: "eyes", supportsImageInput: true }, "blind"];
    const acme = { apiKey: "key-of-acme", apiBase: server.apiBase, apiFormat, models };
    const config = { agents: { defaults: { model: "acme/eyes" } }, providers: { acme } };
    await using gateway = await startGateway({ config });
    await writeFile(join(gateway.workspace, "chart.png"), png);
    assert.equal((await gateway.ask("look at chart.png")).response, "It rises");
    await gateway.ask("are you sure?");
    const [before, seen, later] = server.requests;
    assert.ok(before !== undefined && seen !== undefined && later !== undefined);
    assert.ok(!before.bodyText.includes(png.toString("base64")));
    assert.ok(seen.bodyText.includes(png.toString("base64")));
    assert.ok(conversationIn(later).startsWith(conversationIn(seen)), "it stays where it was");
    await gateway.ask("/model acme/blind");
    await gateway.ask("and you?");
    const blind = server.requests.at(-1)?.bodyText ?? "";
    assert.ok(!blind.includes(png.toString("base64")));
    assert.match(blind, /\[chart\.png: an image, which this model cannot see\]/);
  });
