import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RequestError } from "../../../src/errors.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { createSystemBus, type SystemBus } from "../../../src/events/system-bus.js";
import { silentLog } from "../../../src/log.js";
import { makeEvent } from "../../support/engine/histories/events.js";
import { keepLog } from "../../support/log.js";

const delta = (text: string): GatewayEvent => makeEvent("text_delta", { message_id: "msg_1", text });
const retry = (attempt: number): GatewayEvent =>
  makeEvent("llm_retry_scheduled", { attempt, delay_ms: 1, code: "TIMEOUT" });

/** Everything that a subscriber was told, as short words. */
function listenTo(bus: SystemBus): string[] {
  const heard: string[] = [];
  bus.onAny((event) => heard.push(wordOf(event)));
  return heard;
}

function wordOf(event: GatewayEvent): string {
  switch (event.type) {
    case "text_delta":
      return event.payload.text;
    case "llm_retry_scheduled":
      return `retry ${event.payload.attempt}`;
    default:
      return event.type;
  }
}

describe("the system bus", () => {
  test("gives each subscriber the types it asked for, narrowed, in the order of emitting", () => {
    const bus = createSystemBus({ log: silentLog });
    const texts: string[] = [];
    const both: string[] = [];
    bus.on("text_delta", (event) => texts.push(event.payload.text));
    bus.on(["text_delta", "llm_retry_scheduled"], (event) => {
      // Compiles only because `type` narrows `payload`.
      both.push(event.type === "text_delta" ? event.payload.text : `retry ${event.payload.attempt}`);
    });
    const all = listenTo(bus);
    bus.emitBatch([delta("a"), retry(1), delta("b")]);
    bus.emit(
      makeEvent("error_occurred", { code: "UNKNOWN", category: "runtime", message: "", recoverable: true, scope: "" }),
    );
    assert.deepEqual(texts, ["a", "b"]);
    assert.deepEqual(both, ["a", "retry 1", "b"]);
    assert.deepEqual(all, ["a", "retry 1", "b", "error_occurred"]);
  });

  test("calls subscribers by falling priority, then in the order of subscribing, whatever they listen to", () => {
    const bus = createSystemBus({ log: silentLog });
    const calls: string[] = [];
    bus.on("text_delta", () => calls.push("plain 1"));
    bus.onAny(() => calls.push("late"), { priority: -1 });
    bus.onAny(() => calls.push("early"), { priority: 5 });
    bus.on(["text_delta"], () => calls.push("plain 2"));
    bus.emit(delta("x"));
    assert.deepEqual(calls, ["early", "plain 1", "plain 2", "late"]);
  });

  test("passes only what the filter lets through", () => {
    const bus = createSystemBus({ log: silentLog });
    const heard: string[] = [];
    bus.onAny((event) => heard.push(event.session_key), { filter: (event) => event.session_key === "test:2" });
    bus.emit(makeEvent("text_delta", { message_id: "m", text: "" }, { session_key: "test:1" }));
    bus.emit(makeEvent("text_delta", { message_id: "m", text: "" }, { session_key: "test:2" }));
    assert.deepEqual(heard, ["test:2"]);
  });

  test("once hears the first event that passes its filter and no other, also when it emits the next one itself", () => {
    const bus = createSystemBus({ log: silentLog });
    const heard: string[] = [];
    bus.once(
      "text_delta",
      (event) => {
        heard.push(event.payload.text);
        bus.emit(delta("c"));
      },
      { filter: (event) => event.type === "text_delta" && event.payload.text !== "a" },
    );
    bus.emitBatch([delta("a"), delta("b"), delta("b2")]);
    assert.deepEqual(heard, ["b"]);
  });

  test("each subscription returns its own undo, which undoes nothing else and can be called twice", () => {
    const bus = createSystemBus({ log: silentLog });
    let calls = 0;
    const listener = (): void => {
      calls += 1;
    };
    const undo = bus.on("text_delta", listener);
    bus.on("text_delta", listener);
    bus.once("text_delta", listener)();
    undo();
    undo();
    bus.emit(delta("x"));
    assert.equal(calls, 1);
  });

  test("a subscriber that throws or rejects is logged and delays nobody", async () => {
    const log = keepLog();
    const bus = createSystemBus({ log });
    bus.on("text_delta", () => {
      throw new Error("at once");
    });
    bus.on("text_delta", async () => {
      await Promise.resolve();
      throw new Error("later");
    });
    bus.onAny(() => {}, {
      filter: () => {
        throw new Error("in the filter");
      },
    });
    let settle: () => void = () => {};
    bus.on("text_delta", () => new Promise<void>((resolve) => (settle = resolve)));
    const heard = listenTo(bus);
    bus.emitBatch([delta("a"), delta("b")]);
    assert.deepEqual(heard, ["a", "b"]);
    settle();
    await new Promise((resolve) => setImmediate(resolve));
    const messages = log.lines.map(({ level, fields }) => `${level}: ${(fields.error as Error).message}`);
    assert.deepEqual(messages.sort(), [
      "error: at once",
      "error: at once",
      "error: in the filter",
      "error: in the filter",
      "error: later",
      "error: later",
    ]);
  });

  test("subscribing and undoing during delivery is safe: the undone hear nothing more, the new ones start with the next", () => {
    const bus = createSystemBus({ log: silentLog });
    const calls: string[] = [];
    const undoFirst = bus.on("text_delta", () => {
      calls.push("first");
      undoFirst();
      undoLast();
      bus.on("text_delta", () => calls.push("new"));
    });
    bus.on("text_delta", () => calls.push("middle"));
    const undoLast = bus.on("text_delta", () => calls.push("last"));
    bus.emit(delta("x"));
    assert.deepEqual(calls, ["first", "middle"]);
    bus.emit(delta("y"));
    assert.deepEqual(calls, ["first", "middle", "middle", "new"]);
  });

  test("what a subscriber emits reaches everybody after the event that it answers", () => {
    const bus = createSystemBus({ log: silentLog });
    bus.on("text_delta", (event) => {
      if (event.payload.text === "a") bus.emitBatch([retry(1), retry(2)]);
    });
    const heard = listenTo(bus);
    bus.emitBatch([delta("a"), delta("b")]);
    assert.deepEqual(heard, ["a", "retry 1", "retry 2", "b"]);
  });

  test("the views hold only their own verbs, as objects of their own", () => {
    const bus = createSystemBus({ log: silentLog });
    assert.deepEqual(Object.keys(bus.asConsumer()).sort(), ["on", "onAny", "once"]);
    assert.deepEqual(Object.keys(bus.asProducer()).sort(), ["emit", "emitBatch"]);
    assert.equal(Object.getPrototypeOf(bus.asConsumer()), Object.prototype);
    const heard: string[] = [];
    bus.asConsumer().onAny((event) => heard.push(wordOf(event)));
    bus.asProducer().emit(delta("seen"));
    assert.deepEqual(heard, ["seen"]);
    assert.throws(() => Object.assign(bus.asConsumer(), { emit() {} }), TypeError);
  });

  test("after destroy every verb does nothing", async () => {
    const bus = createSystemBus({ log: silentLog });
    const heard = listenTo(bus);
    bus.handle("hang", () => new Promise(() => {}));
    const hanging = bus.request({ type: "hang" });
    bus.destroy();
    bus.destroy();
    const undo = bus.on("text_delta", () => heard.push("after"));
    bus.once("text_delta", () => heard.push("after"));
    bus.asConsumer().onAny(() => heard.push("after"));
    bus.handle("hang", () => heard.push("after"))();
    bus.emit(delta("x"));
    bus.asProducer().emitBatch([delta("y")]);
    undo();
    assert.deepEqual(heard, []);
    await assert.rejects(hanging, isRequestError(503));
    await assert.rejects(bus.request({ type: "hang" }), isRequestError(503));
  });

  test("destroying in the middle of a delivery stops it", () => {
    const bus = createSystemBus({ log: silentLog });
    bus.onAny(() => bus.destroy());
    const heard = listenTo(bus);
    bus.emitBatch([delta("a"), delta("b")]);
    assert.deepEqual(heard, []);
  });
});

describe("commands on the system bus", () => {
  test("are answered by the handler of their type, whose failure is the asker's", async () => {
    const bus = createSystemBus({ log: silentLog });
    bus.handle("double", ({ payload }) => Number(payload) * 2);
    bus.handle("later", async () => "done");
    bus.handle("broken", () => {
      throw new Error("no");
    });
    assert.equal(await bus.request({ type: "double", payload: 21 }), 42);
    assert.equal(await bus.request({ type: "later" }), "done");
    await assert.rejects(bus.request({ type: "broken" }), /^Error: no$/);
  });

  test("that nobody handles are refused; a type has one handler until it is undone", async () => {
    const bus = createSystemBus({ log: silentLog });
    await assert.rejects(bus.request({ type: "nothing" }), isRequestError(404));
    const undo = bus.handle("one", () => 1);
    assert.throws(() => bus.handle("one", () => 2), /handler already/);
    undo();
    undo();
    bus.handle("one", () => 2);
    undo();
    assert.equal(await bus.request({ type: "one" }), 2);
  });

  test("without an answer in time are rejected, and the late answer changes nothing", async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const bus = createSystemBus({ log: silentLog });
    let answer: (value: unknown) => void = () => {};
    bus.handle("slow", () => new Promise((resolve) => (answer = resolve)));
    const byDefault = bus.request({ type: "slow" });
    const outcome = byDefault.catch((error: unknown) => error);
    await Promise.resolve();
    context.mock.timers.tick(29_999);
    assert.equal(await Promise.race([outcome, Promise.resolve("still waiting")]), "still waiting");
    context.mock.timers.tick(1);
    await assert.rejects(byDefault, isRequestError(504));
    answer("too late");
    const soon = bus.request({ type: "slow" }, 5);
    context.mock.timers.tick(5);
    await assert.rejects(soon, isRequestError(504));
  });
});

test("the system bus passes on 100,000 events in a second, and far more when nobody listens", () => {
  const bus = createSystemBus({ log: silentLog });
  const event = delta("x");
  const seconds = (work: () => void): number => {
    const began = performance.now();
    work();
    return (performance.now() - began) / 1000;
  };
  const emitMany = (): void => {
    for (let n = 0; n < 100_000; n++) bus.emit(event);
  };
  const unheard = seconds(emitMany);
  let heard = 0;
  for (let n = 0; n < 5; n++) bus.on("text_delta", () => (heard += 1));
  for (let n = 0; n < 50; n++) bus.on("error_occurred", () => (heard += 1));
  const listened = seconds(emitMany);
  assert.equal(heard, 500_000);
  assert.ok(unheard < 0.5, `${unheard} s with nobody listening`);
  assert.ok(listened < 1, `${listened} s with five subscribers`);
});

function isRequestError(status: number): (error: unknown) => boolean {
  return (error) => error instanceof RequestError && error.status === status;
}
