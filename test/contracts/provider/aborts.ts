import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isAbortError } from "../../../src/errors.js";
import { collect, hello, noAbort, open, type WireUnderTest } from "./calls.js";

export function abortsTests(name: string, wire: WireUnderTest): void {
  describe(`${name}: aborts`, () => {
    test("an abort in the middle closes the connection and rejects with the reason", async () => {
      await using setup = await open(wire, { text: ["a", "b"], hang: "middle" });
      const abort = new AbortController();
      const seen: string[] = [];
      const reading = (async () => {
        for await (const chunk of setup.provider.stream(hello, abort.signal)) {
          seen.push(chunk.kind);
          if (seen.length === 2) abort.abort();
        }
      })();
      await assert.rejects(reading, isAbortError);
      assert.deepEqual(seen, ["text", "text"]);
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });

    test("an abort while the server is silent closes the connection", async () => {
      await using setup = await open(wire, { hang: "start" });
      const abort = new AbortController();
      const reading = collect(setup.provider, hello, abort.signal);
      await setup.server.waitForRequests(1);
      abort.abort();
      await assert.rejects(reading, isAbortError);
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });

    test("nothing is sent when the signal is already aborted", async () => {
      await using setup = await open(wire, { text: "x" });
      await assert.rejects(collect(setup.provider, hello, AbortSignal.abort()), isAbortError);
      assert.equal(setup.server.requests.length, 0);
    });

    test("leaving the iteration closes the connection", async () => {
      await using setup = await open(wire, { text: ["a", "b"], hang: "middle" });
      for await (const chunk of setup.provider.stream(hello, noAbort)) {
        assert.equal(chunk.kind, "text");
        break;
      }
      assert.equal(await setup.server.requests[0]?.closedEarly, true);
    });
  });
}
