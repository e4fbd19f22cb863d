import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { SentRequests } from "../../../src/agent/model/sent-requests.js";

const call = { turnId: "turn_1", iteration: 1, model: "m" };

function bodiesOf(sent: SentRequests, key: string, iteration = call.iteration): readonly string[] {
  return sent.read(key, call.turnId, iteration).map(({ body }) => body);
}

/** What is like nothing else. */
function random(bytes: number): string {
  return randomBytes(bytes / 2).toString("hex");
}

describe("what was sent to models", () => {
  it("is kept byte for byte, each attempt of a call by itself, and goes with its chat", () => {
    const sent = new SentRequests({ now: () => 5 });
    const body = '{"text":"爱 🎉 \\u0000"}';
    sent.keep({ ...call, sessionKey: "webui:a", body: Buffer.from(body) });
    sent.keep({ ...call, sessionKey: "webui:a", body: Buffer.from("{}") });
    sent.keep({ ...call, sessionKey: "webui:b", body: Buffer.from("other") });
    sent.keep({ ...call, sessionKey: "webui:a", iteration: 2, body: Buffer.from("later") });
    const [first] = sent.read("webui:a", "turn_1", 1);
    assert.deepEqual([first?.body, first?.bytes, first?.sentAt], [body, Buffer.byteLength(body), 5]);
    assert.equal(first?.sha256, createHash("sha256").update(body).digest("hex"));
    assert.deepEqual(bodiesOf(sent, "webui:a"), [body, "{}"]);
    sent.forget("webui:a");
    assert.deepEqual(bodiesOf(sent, "webui:a"), []);
    assert.deepEqual(bodiesOf(sent, "webui:b"), ["other"]);
  });

  it("takes no more memory than it may: the oldest goes first", () => {
    const sent = new SentRequests({ roomBytes: 10_000 });
    for (const key of ["webui:1", "webui:2", "webui:3", "webui:4"])
      sent.keep({ ...call, sessionKey: key, body: Buffer.from(random(3000)) });
    assert.deepEqual(bodiesOf(sent, "webui:1"), []);
    for (const key of ["webui:2", "webui:3", "webui:4"]) assert.equal(bodiesOf(sent, key).length, 1, key);
    // What alone is too much is not kept, and takes nothing else away.
    sent.keep({ ...call, sessionKey: "webui:5", body: Buffer.from(random(20_000)) });
    assert.deepEqual(bodiesOf(sent, "webui:5"), []);
    assert.equal(bodiesOf(sent, "webui:2").length, 1);
  });

  it("has what the requests of a chat have in common once, so that those of a long chat fit", () => {
    const sent = new SentRequests({ roomBytes: 100_000 });
    const [prompt, tools] = [random(10_000), random(10_000)];
    const bodies: string[] = [];
    // In characters of three bytes, of which the first two are the same: the place where two requests part is in one.
    for (let said = "", n = 0; n < 40; said += `,"爱爲 ${random(20)}"`, n += 1)
      bodies.push(`{"messages":["${prompt}"${said}],"tools":"${tools}"}`);
    for (const [iteration, body] of bodies.entries())
      sent.keep({ ...call, sessionKey: "webui:a", iteration, body: Buffer.from(body) });
    for (const [iteration, body] of bodies.entries())
      assert.deepEqual(bodiesOf(sent, "webui:a", iteration), [body], `request ${iteration}`);
  });

  it("gives each request whole or not at all, whatever comes in between", () => {
    const sent = new SentRequests({ roomBytes: 20_000 });
    const bodies: { readonly key: string; readonly body: string }[] = [];
    const prompts = [random(2000), random(3000), random(500)];
    for (let n = 0; n < 300; n += 1) {
      const chat = (n * 7) % 3;
      const key = `webui:${chat}`;
      const body = `${prompts[chat]}${random(2 * ((n * 37) % 400))}${n % 11 === 0 ? random(4000) : "end"}`;
      sent.keep({ ...call, sessionKey: key, iteration: n, body: Buffer.from(body) });
      bodies.push({ key, body });
      if (n % 50 === 49) {
        sent.forget(key);
        for (const [at, each] of bodies.entries()) if (each.key === key) assert.deepEqual(bodiesOf(sent, key, at), []);
      }
      if (n % 10 === 9)
        for (const [at, each] of bodies.entries()) {
          const kept = bodiesOf(sent, each.key, at);
          if (kept.length > 0) assert.deepEqual(kept, [each.body], `request ${at} after ${n}`);
          if (at === n && n % 50 !== 49) assert.equal(kept.length, 1, `request ${n}`);
        }
    }
  });
});
