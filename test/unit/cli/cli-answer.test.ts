import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { ask } from "../../../src/cli/chat/answer.js";
import { CommandError, sentenceOf } from "../../../src/cli/exit.js";
import { createApiClient } from "../../../src/cli/gateway/api-client.js";
import { frames, openFakeGateway } from "../../support/fakes/fake-gateway.js";

async function follow(address: string, token?: string) {
  const shown = { text: "", activity: [] as string[], notices: [] as string[] };
  const client = createApiClient(address, token);
  const listener = {
    onText: (delta: string) => {
      shown.text += delta;
    },
    onActivity: (line: string) => void shown.activity.push(line),
    onNotice: (line: string) => void shown.notices.push(line),
    onQuestion() {},
  };
  const question = { sessionKey: "cli:default", content: "hello" };
  const gateway = { client, reconnect: async () => client };
  const answer = await ask(question, listener, gateway, new AbortController().signal);
  return { answer, shown };
}

describe("following an answer", () => {
  it("shows text and tools as they come, over pieces cut anywhere", async () => {
    await using fake = await openFakeGateway([
      (_body, response) => {
        const bytes = Buffer.from(
          `${frames({ type: "status" }, { type: "content_delta", delta: "Grüße, " }, { type: "tool_result", toolId: "1", summary: "read a.txt" })}: still here\n\n${frames(
            { type: "content_delta", delta: "Welt 🌍" },
            { type: "something_new", delta: 5 },
            { type: "final", response: "Welt 🌍", done: true },
          )}data: [DONE]\n\n`,
        );
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        const writeFrom = (at: number): void => {
          if (at >= bytes.length) return void response.end();
          response.write(bytes.subarray(at, at + 3), () => setImmediate(writeFrom, at + 3));
        };
        writeFrom(0);
      },
    ]);
    const { answer, shown } = await follow(fake.address, "the-token");
    assert.deepEqual(answer, { text: "Welt 🌍", isError: false });
    assert.deepEqual(shown, { text: "Grüße, Welt 🌍", activity: ["read a.txt"], notices: [] });
    assert.equal(fake.requests[0]?.headers.authorization, "Bearer the-token");
    assert.equal(fake.bodies[0]?.channel, "cli");
    assert.match(String(fake.bodies[0]?.messageId), /^[\w.:-]{8,128}$/);
  });

  it("sends the same message under the same id after a cut, and shows nothing twice", async () => {
    const first = frames(
      { type: "status" },
      { type: "tool_result", toolId: "1", summary: "ran" },
      { type: "content_delta", delta: "one two " },
    );
    await using fake = await openFakeGateway([
      (_body, response) => {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write(first, () => response.destroy());
      },
      (_body, response) => void response.writeHead(200).end(frames({ type: "status" })),
      (_body, response) => {
        const rest = frames(
          { type: "tool_result", toolId: "1", summary: "ran" },
          { type: "content_delta", delta: "one two three" },
          { type: "final", response: "one two three" },
        );
        response.writeHead(200).end(rest);
      },
    ]);
    const { answer, shown } = await follow(fake.address);
    assert.equal(answer.text, "one two three");
    assert.equal(shown.text, "one two three");
    assert.deepEqual(shown.activity, ["ran"]);
    assert.equal(shown.notices.length, 2);
    assert.equal(fake.bodies.length, 3);
    assert.equal(new Set(fake.bodies.map(({ messageId }) => messageId)).size, 1);
  });

  it("sends a message again that was cut before the gateway said that it has it", async () => {
    await using fake = await openFakeGateway([
      (_body, response) => void response.destroy(),
      (_body, response) => void response.writeHead(200).end(frames({ type: "final", response: "once" })),
    ]);
    const { answer, shown } = await follow(fake.address);
    assert.equal(answer.text, "once");
    assert.match(
      shown.notices.join("\n"),
      /^The gateway went away while your message was on its way.*answered once.*$/,
    );
    assert.equal(fake.bodies.length, 2);
    assert.equal(new Set(fake.bodies.map(({ messageId }) => messageId)).size, 1);
  });

  it("tells an answer that failed from one that came", async () => {
    await using fake = await openFakeGateway([
      (_body, response) =>
        void response.writeHead(200).end(frames({ type: "error", error: "The model is away.", done: true })),
    ]);
    assert.deepEqual((await follow(fake.address)).answer, { text: "The model is away.", isError: true });
  });

  it("gives the gateway's own sentence when it refuses", async () => {
    await using fake = await openFakeGateway([
      (_body, response) =>
        void response.writeHead(401).end(JSON.stringify({ error: "The token is wrong.", code: "AUTH_FAILED" })),
      (_body, response) => void response.writeHead(502).end("<html>"),
    ]);
    await assert.rejects(follow(fake.address), (error: unknown) => {
      assert.ok(error instanceof CommandError);
      assert.match(
        error.message,
        /^The token is wrong\. If gateway\.token was changed .*restart it\. Else set gateway\.token/,
      );
      return true;
    });
    await assert.rejects(follow(fake.address), /HTTP 502/);
  });

  it("does not wait for a gateway that was never there", async () => {
    const { address } = await (async () => {
      await using fake = await openFakeGateway([]);
      return fake;
    })();
    await assert.rejects(follow(address), /cannot be reached.*ECONNREFUSED.*The message was not sent$/);
  });
});

describe("a request that takes long", () => {
  async function serve(answer: (path: string, response: ServerResponse) => void) {
    const server = createServer((request, response) => answer(request.url ?? "", response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A TCP server that listens has an address with a port.
    const { port } = server.address() as AddressInfo;
    return {
      address: `127.0.0.1:${port}`,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  it("is waited for while the gateway answers others", async () => {
    let slow: ServerResponse | undefined;
    let asked = 0;
    await using gateway = await serve((path, response) => {
      if (path === "/slow") slow = response;
      else response.end("{}");
      if (path === "/health" && ++asked === 3) slow?.end('{"sessions":[]}');
    });
    const client = createApiClient(gateway.address, undefined, { silenceMs: 50 });
    assert.deepEqual(await client.get("/slow"), { sessions: [] });
  });

  it("is given up in one sentence when the gateway answers nothing any more", async () => {
    await using gateway = await serve(() => undefined);
    const client = createApiClient(gateway.address, undefined, { silenceMs: 50 });
    await assert.rejects(client.get("/slow"), (error: unknown) => {
      const sentence = sentenceOf(error);
      assert.match(
        sentence,
        /^The gateway at 127\.0\.0\.1:\d+ does not answer\. It may be very busy or have stopped working: look at maxclaw logs/,
      );
      assert.equal(sentence.split("\n").length, 1);
      return true;
    });
  });
});
