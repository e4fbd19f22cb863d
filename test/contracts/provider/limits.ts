import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProviderChunk } from "../../../src/providers/provider.js";
import { collect, failureOf, hello, noAbort, open, type WireUnderTest } from "./calls.js";

export function limitsTests(name: string, wire: WireUnderTest): void {
  describe(`${name}: limits`, () => {
    test("no first byte in time is a timeout", async () => {
      await using setup = await open(wire, { hang: "start" }, { firstByteMs: 60 });
      const error = await failureOf(setup.provider);
      assert.equal(error.kind, "timeout");
      assert.match(error.message, /did not begin to answer within 60 ms/);
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });

    test("silence in the middle is a timeout", async () => {
      await using setup = await open(wire, { text: "a", hang: "middle" }, { idleMs: 60 });
      const error = await failureOf(setup.provider);
      assert.equal(error.kind, "timeout");
      assert.match(error.message, /fell silent for 60 ms/);
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });

    test("an answer that never ends is a timeout", async () => {
      const text = Array.from({ length: 200 }, () => "x");
      await using setup = await open(wire, { text, chunkDelayMs: 10 }, { totalMs: 120, idleMs: 1000 });
      const error = await failureOf(setup.provider);
      assert.equal(error.kind, "timeout");
      assert.match(error.message, /did not finish its answer within 120 ms/);
    });

    test("a slow reader is not a silent server", async () => {
      await using setup = await open(wire, { text: ["a", "b"], chunkDelayMs: 40 }, { idleMs: 100 });
      const chunks: ProviderChunk[] = [];
      for await (const chunk of setup.provider.stream(hello, noAbort)) {
        chunks.push(chunk);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      assert.equal(chunks.length, 3);
    });

    test("keep-alive comments hold off the idle limit", async () => {
      // Without them nothing would be heard for longer than the limit.
      const answer = { thinking: "a", text: "b", keepAlives: 15, chunkDelayMs: 40 };
      await using setup = await open(wire, answer, { idleMs: 400 });
      assert.equal((await collect(setup.provider)).at(-1)?.kind, "end");
    });
  });
}
