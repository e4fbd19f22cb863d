import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { SentRequests } from "../../../src/agent/model/sent-requests.js";

const call = { turnId: "turn_1", iteration: 1, model: "m" };

async function bodiesOf(sent: SentRequests, key: string): Promise<readonly string[]> {
  return (await sent.read(key, call.turnId, call.iteration)).map(({ body }) => body);
}

describe("what was sent to models", () => {
  it("is kept byte for byte, each attempt of a call by itself, and goes with its chat", async () => {
    const sent = new SentRequests({ now: () => 5 });
    const body = '{"text":"爱 🎉 \\u0000"}';
    sent.keep({ ...call, sessionKey: "webui:a", body });
    sent.keep({ ...call, sessionKey: "webui:a", body: "{}" });
    sent.keep({ ...call, sessionKey: "webui:b", body: "other" });
    sent.keep({ ...call, sessionKey: "webui:a", iteration: 2, body: "later" });
    const [first] = await sent.read("webui:a", "turn_1", 1);
    assert.deepEqual([first?.body, first?.bytes, first?.sentAt], [body, Buffer.byteLength(body), 5]);
    assert.match(first?.sha256 ?? "", /^[0-9a-f]{64}$/);
    assert.deepEqual(await bodiesOf(sent, "webui:a"), [body, "{}"]);
    sent.forget("webui:a");
    assert.deepEqual(await bodiesOf(sent, "webui:a"), []);
    assert.deepEqual(await bodiesOf(sent, "webui:b"), ["other"]);
  });

  it("takes no more memory than it may: the oldest goes first", async () => {
    const sent = new SentRequests({ mostBytes: 10_000 });
    // What cannot be packed.
    for (const key of ["webui:1", "webui:2", "webui:3"]) {
      sent.keep({ ...call, sessionKey: key, body: randomBytes(3000).toString("base64") });
      await bodiesOf(sent, key);
    }
    sent.keep({ ...call, sessionKey: "webui:4", body: randomBytes(3000).toString("base64") });
    assert.equal((await bodiesOf(sent, "webui:4")).length, 1);
    assert.deepEqual(await bodiesOf(sent, "webui:1"), []);
    assert.equal((await bodiesOf(sent, "webui:2")).length, 1);
    // What alone is too much is not kept.
    sent.keep({ ...call, sessionKey: "webui:5", body: randomBytes(20_000).toString("base64") });
    await bodiesOf(sent, "webui:5");
    assert.deepEqual(await bodiesOf(sent, "webui:5"), []);
  });
});
