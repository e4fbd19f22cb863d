import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeFrame, encodeFrame, type Frame } from "../../../src/channels/feishu/receiving/frame.js";
import { Pieces } from "../../../src/channels/feishu/receiving/pieces.js";
import { fuzzOptions } from "../../support/fuzz.js";

/** Written by hand from https://protobuf.dev/programming-guides/encoding. */
const ping = "0800100018a18d062000" + "2a0c0a04747970651204" + "70696e67";
const bytesOf = (hex: string): Buffer => Buffer.from(hex, "hex");
const plain: Frame = { seqId: 0n, logId: 0n, service: 33, method: 0, headers: new Map() };

test("a frame is written and read as Protocol Buffers have it", () => {
  const frame = { ...plain, service: 100_001, headers: new Map([["type", "ping"]]) };
  assert.equal(Buffer.from(encodeFrame(frame)).toString("hex"), ping);
  const read = decodeFrame(bytesOf(ping));
  assert.deepEqual([read?.service, read?.method, read?.headers.get("type")], [100_001, 0, "ping"]);
  const whole =
    "08ffffffffffffffffff01" +
    "1080808080808080808001" +
    "1821" +
    "2001" +
    "320475746638" +
    "3a0161" +
    "42026869" +
    "4a0162";
  const all = decodeFrame(bytesOf(whole));
  assert.deepEqual([all?.seqId, all?.logId], [2n ** 64n - 1n, 2n ** 63n]);
  assert.deepEqual([all?.payloadEncoding, all?.payloadType, all?.logIdNew], ["utf8", "a", "b"]);
  assert.equal(Buffer.from(all?.payload ?? []).toString(), "hi");
  assert.equal(Buffer.from(encodeFrame(all ?? plain)).toString("hex"), whole);
});

test("fields that are not known are passed over, and what is cut or absurd is no frame", () => {
  const unknown = "0800100018212000" + "5801" + "6202abcd" + "6d01020304" + "710102030405060708";
  assert.equal(decodeFrame(bytesOf(unknown))?.service, 33);
  // Minus one, in its ten bytes.
  assert.equal(decodeFrame(bytesOf("0800100018ffffffffffffffffff012000"))?.service, -1);
  for (const [what, hex] of [
    ["nothing", ""],
    ["no service", "080010002000"],
    ["a number without an end", "08ffffffffffffffffffff01"],
    ["a number that is cut", "0880"],
    ["a text longer than what is left", "08001000182120003affffffff0f61"],
    ["a text of 2^64", "08001000182120003affffffffffffffffff01"],
    ["a group", "0b0c"],
    ["field 0", "0001"],
    ["a fixed number that is cut", "6d0102"],
    ["a header without a key", "08001000182120002a021200"],
    ["a header that is cut", "08001000182120002a030a0561"],
  ])
    assert.equal(decodeFrame(bytesOf(hex ?? "")), undefined, what);
});

test("whatever bytes come, they are a frame or nothing", (t) => {
  const someFrame = fc
    .record({
      seqId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      logId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      service: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      method: fc.integer({ min: 0, max: 1 }),
      headers: fc.dictionary(fc.string(), fc.string(), { maxKeys: 5 }).map((all) => new Map(Object.entries(all))),
      payload: fc.uint8Array(),
    })
    .map((frame): Frame => frame);
  fc.assert(
    fc.property(someFrame, fc.nat(), fc.nat(255), (frame, at, byte) => {
      const bytes = Buffer.from(encodeFrame(frame));
      const read = decodeFrame(bytes);
      assert.deepEqual(read === undefined ? undefined : Buffer.from(encodeFrame(read)), bytes);
      decodeFrame(bytes.subarray(0, at % (bytes.length + 1)));
      bytes[at % bytes.length] = byte;
      decodeFrame(bytes);
    }),
    fuzzOptions(t, 300),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void decodeFrame(bytes)),
    fuzzOptions(t, 300),
  );
  const began = Date.now();
  decodeFrame(Buffer.alloc(1_000_000, 0x2a));
  decodeFrame(Buffer.alloc(1_000_000, 0xff));
  assert.ok(Date.now() - began < 2000);
});

test("what comes in pieces is put together in their order, also when they come twice and mixed", () => {
  const pieces = new Pieces();
  const add = (id: string, sum: string, seq: string, text: string, now = 0) => {
    const headers = new Map(Object.entries({ message_id: id, sum, seq }));
    const whole = pieces.add({ ...plain, headers, payload: Buffer.from(text) }, now);
    return whole === undefined ? undefined : Buffer.from(whole).toString();
  };
  assert.equal(add("a", "1", "0", "whole"), "whole");
  assert.equal(add("b", "3", "2", "!"), undefined);
  assert.equal(add("c", "2", "0", "other "), undefined);
  assert.equal(add("b", "3", "0", "he"), undefined);
  assert.equal(add("b", "3", "0", "he"), undefined);
  assert.equal(add("b", "3", "1", "llo"), "hello!");
  assert.equal(add("c", "2", "1", "one"), "other one");
  for (const [sum, seq] of [
    ["1e9", "0"],
    ["2.5", "0"],
    ["2", "2"],
    ["2", "-1"],
    ["x", "0"],
  ] as const)
    assert.equal(add("odd", sum, seq, "x"), undefined);
  assert.equal(add("late", "2", "0", "a", 0), undefined);
  assert.equal(add("late", "2", "1", "b", 70_000), undefined, "its first half is forgotten");
  for (let n = 0; n < 200; n += 1) add(`half ${n}`, "2", "0", "x", 70_000);
  assert.equal(add("half 0", "2", "1", "y", 70_000), undefined, "so many halves are not kept");
  assert.equal(add("half 199", "2", "1", "y", 70_000), "xy");
});

test("halves take a bounded part of the memory, and so does a frame of tiny fields", () => {
  const pieces = new Pieces();
  const add = (id: number, seq: string) => {
    const headers = new Map(Object.entries({ message_id: String(id), sum: "2", seq }));
    return pieces.add({ ...plain, headers, payload: Buffer.alloc(1024 * 1024) }, 0);
  };
  for (let id = 0; id < 40; id += 1) add(id, "0");
  assert.equal(add(0, "1"), undefined, "the oldest is forgotten");
  assert.equal(add(39, "1")?.length, 2 * 1024 * 1024);
  const frame = encodeFrame(plain);
  assert.notEqual(decodeFrame(Buffer.concat([frame, Buffer.from([0x50, 0])])), undefined);
  assert.equal(decodeFrame(Buffer.concat([frame, Buffer.from("5000".repeat(5000), "hex")])), undefined);
});
