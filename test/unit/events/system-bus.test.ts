import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RequestError } from "../../../src/errors.js";
import { createSystemBus, type EventConsumer } from "../../../src/events/bus/system-bus.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { type Logger, silentLog } from "../../../src/log.js";
import { assertSoon } from "../../support/cost.js";
import { emitAll, makeEvent } from "../../support/engine/histories/events.js";
import { keepLog } from "../../support/log.js";

const delta = (text: string): GatewayEvent => makeEvent("text_delta", { message_id: "msg_1", text });
const retry = (attempt: number): GatewayEvent =>
  makeEvent("llm_retry_scheduled", { attempt, delay_ms: 1, code: "TIMEOUT" });

/** Everything that a subscriber was told, as short words. */
function listenTo(bus: EventConsumer): string[] {
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
    const bus = openBus();
    const texts: string[] = [];
    const both: string[] = [];
    bus.on("text_delta", (event) => texts.push(event.payload.text));
    bus.on(["text_delta", "llm_retry_scheduled"], (event) => {
      // Compiles only because `type` narrows `payload`.
      both.push(event.type === "text_delta" ? event.payload.text : `retry ${event.payload.attempt}`);
    });
    const all = listenTo(bus);
    bus.emitAll([delta("a"), retry(1), delta("b")]);
    bus.emit(
      makeEvent("error_occurred", { code: "UNKNOWN", category: "runtime", message: "", recoverable: true, scope: "" }),
    );
    assert.deepEqual(texts, ["a", "b"]);
    assert.deepEqual(both, ["a", "retry 1", "b"]);
    assert.deepEqual(all, ["a", "retry 1", "b", "error_occurred"]);
  });

  test("calls subscribers by falling priority, then in the order of subscribing, whatever they listen to", () => {
    const bus = openBus();
    const calls: string[] = [];
    bus.on("text_delta", () => calls.push("plain 1"));
    bus.onAny(() => calls.push("late"), { priority: -1 });
    bus.onAny(() => calls.push("early"), { priority: 5 });
    bus.on(["text_delta"], () => calls.push("plain 2"));
    bus.emit(delta("x"));
    assert.deepEqual(calls, ["early", "plain 1", "plain 2", "late"]);
  });

  test("passes only what the filter lets through", () => {
    const bus = openBus();
    const heard: string[] = [];
    bus.onAny((event) => heard.push(event.session_key), { filter: (event) => event.session_key === "test:2" });
    bus.emit(makeEvent("text_delta", { message_id: "m", text: "" }, { session_key: "test:1" }));
    bus.emit(makeEvent("text_delta", { message_id: "m", text: "" }, { session_key: "test:2" }));
    assert.deepEqual(heard, ["test:2"]);
  });

  test("once hears the first event that passes its filter and no other, also when it emits the next one itself", () => {
    const bus = openBus();
    const heard: string[] = [];
    bus.once(
      "text_delta",
      (event) => {
        heard.push(event.payload.text);
        bus.emit(delta("c"));
      },
      { filter: (event) => event.type === "text_delta" && event.payload.text !== "a" },
    );
    bus.emitAll([delta("a"), delta("b"), delta("b2")]);
    assert.deepEqual(heard, ["b"]);
  });

  test("each subscription returns its own undo, which undoes nothing else and can be called twice", () => {
    const bus = openBus();
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
    const bus = openBus(log);
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
    bus.emitAll([delta("a"), delta("b")]);
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
    const bus = openBus();
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
    const bus = openBus();
    bus.on("text_delta", (event) => {
      if (event.payload.text === "a") bus.emitAll([retry(1), retry(2)]);
    });
    const heard = listenTo(bus);
    bus.emitAll([delta("a"), delta("b")]);
    assert.deepEqual(heard, ["a", "retry 1", "retry 2", "b"]);
  });

  test("gives only their session's events to those who name one, in the order of all subscribers", () => {
    const bus = openBus();
    const calls: string[] = [];
    const undoOwn = bus.on("text_delta", () => calls.push("own"), { sessionKey: "test:1" });
    bus.onAny(() => calls.push("all"));
    bus.onAny(() => calls.push("own first"), { sessionKey: "test:1", priority: 1 });
    bus.once("text_delta", () => calls.push("own once"), { sessionKey: "test:1" });
    bus.on("text_delta", () => calls.push("other"), { sessionKey: "test:2" });
    bus.emit(delta("a"));
    assert.deepEqual(calls.splice(0), ["own first", "own", "all", "own once"]);
    bus.on("text_delta", () => calls.push("late all"), { priority: 2 });
    bus.emit(delta("b"));
    assert.deepEqual(calls.splice(0), ["late all", "own first", "own", "all"]);
    bus.emit(makeEvent("text_delta", { message_id: "m", text: "" }, { session_key: "test:2" }));
    assert.deepEqual(calls.splice(0), ["late all", "all", "other"]);
    undoOwn();
    undoOwn();
    bus.emit(delta("c"));
    bus.emit(makeEvent("text_delta", { message_id: "m", text: "" }, { session_key: "test:3" }));
    assert.deepEqual(calls, ["late all", "own first", "all", "late all", "all"]);
  });

  test("a producer learns whether somebody waits, and of whom before they listen; the patient do not count", () => {
    const bus = openBus();
    const calls: string[] = [];
    const undo = bus.beforeListening(["text_delta"], (session) => {
      calls.push(`before ${session ?? "all"}`);
      bus.emit(delta("told before"));
    });
    bus.on("text_delta", (event) => calls.push(wordOf(event)), { isPatient: true });
    bus.on("error_occurred", () => calls.push("never"));
    assert.equal(bus.isAwaited("text_delta", "test:1"), false);
    const stop = bus.on("text_delta", () => calls.push("impatient"), { sessionKey: "test:1" });
    assert.deepEqual(calls.splice(0), ["before test:1", "told before"]);
    assert.deepEqual([bus.isAwaited("text_delta", "test:1"), bus.isAwaited("text_delta", "test:2")], [true, false]);
    stop();
    assert.equal(bus.isAwaited("text_delta", "test:1"), false);
    bus.onAny(() => calls.push("any"));
    assert.deepEqual(calls.splice(0), ["before all", "told before"]);
    assert.equal(bus.isAwaited("text_delta", "test:2"), true);
    undo();
    bus.onAny(() => calls.push("any"));
    assert.deepEqual(calls, []);
  });

  test("the views hold only their own verbs, as objects of their own; the bus itself neither listens nor emits", () => {
    const bus = createSystemBus({ log: silentLog });
    assert.deepEqual(Object.keys(bus).sort(), ["asConsumer", "asProducer", "destroy", "handle", "request"]);
    assert.deepEqual(Object.keys(bus.asConsumer()).sort(), ["on", "onAny", "once"]);
    assert.deepEqual(Object.keys(bus.asProducer()).sort(), ["beforeListening", "emit", "isAwaited"]);
    assert.equal(Object.getPrototypeOf(bus.asConsumer()), Object.prototype);
    const heard: string[] = [];
    bus.asConsumer().onAny((event) => heard.push(wordOf(event)));
    bus.asProducer().emit(delta("seen"));
    assert.deepEqual(heard, ["seen"]);
    assert.throws(() => Object.assign(bus.asConsumer(), { emit() {} }), TypeError);
    assert.throws(() => Object.assign(bus.asProducer(), { on() {} }), TypeError);
  });

  test("after destroy every verb does nothing", async () => {
    const bus = openBus();
    const heard = listenTo(bus);
    bus.on("text_delta", () => heard.push("own"), { sessionKey: "test:1" });
    bus.handle("hang", () => new Promise(() => {}));
    const hanging = bus.request("hang", {});
    bus.destroy();
    bus.destroy();
    const undo = bus.on("text_delta", () => heard.push("after"), { sessionKey: "test:1" });
    bus.once("text_delta", () => heard.push("after"));
    bus.onAny(() => heard.push("after"));
    bus.handle("hang", async () => heard.push("after"))();
    bus.emitAll([delta("x"), delta("y")]);
    undo();
    assert.deepEqual(heard, []);
    await assert.rejects(hanging, isRequestError(503));
    await assert.rejects(bus.request("hang", {}), isRequestError(503));
  });

  test("destroying in the middle of a delivery stops it", () => {
    const bus = openBus();
    bus.onAny(() => bus.destroy());
    const heard = listenTo(bus);
    bus.emitAll([delta("a"), delta("b")]);
    assert.deepEqual(heard, []);
  });
});

describe("commands on the system bus", () => {
  test("are answered by the handler of their name, whose failure is the asker's", async () => {
    const bus = openBus();
    bus.handle("double", async (params) => Number(params) * 2);
    bus.handle("later", async () => await Promise.resolve("done"));
    bus.handle("broken", () => {
      throw new Error("no");
    });
    assert.equal(await bus.request("double", 21), 42);
    assert.equal(await bus.request("later", undefined), "done");
    await assert.rejects(bus.request("broken", {}), /^Error: no$/);
  });

  test("begin in the order in which they were asked", async () => {
    const bus = openBus();
    const begun: unknown[] = [];
    bus.handle("later", async (params) => void begun.push(params));
    bus.handle("double", async (params) => begun.push(params));
    const answers = [bus.request("later", 1), bus.request("double", 2), bus.request("later", 3)];
    assert.deepEqual(begun, [1, 2, 3]);
    await Promise.all(answers);
  });

  test("that nobody handles are refused; a name has one handler until it is undone", async () => {
    const bus = openBus();
    await assert.rejects(bus.request("later", {}), isRequestError(404));
    const undo = bus.handle("later", async () => 1);
    assert.throws(() => bus.handle("later", async () => 2), /handler already/);
    undo();
    undo();
    bus.handle("later", async () => 2);
    undo();
    assert.equal(await bus.request("later", {}), 2);
  });
});

test("the system bus passes on 100,000 events in a second, and far more when nobody listens", () => {
  const bus = openBus();
  const event = delta("x");
  const emitMany = (): void => {
    for (let n = 0; n < 100_000; n++) bus.emit(event);
  };
  assertSoon(emitMany, 500, "with nobody listening");
  let heard = 0;
  for (let n = 0; n < 5; n++) bus.on("text_delta", () => (heard += 1));
  for (let n = 0; n < 50; n++) bus.on("error_occurred", () => (heard += 1));
  emitMany();
  assert.equal(heard, 500_000);
  assertSoon(emitMany, 1000, "with five subscribers");
});

/** The whole bus, as only the composition root has it, and its views' verbs. */
function openBus(log: Logger = silentLog) {
  const bus = createSystemBus<{ double: number; later: unknown; broken: never; hang: unknown }>({ log });
  return {
    ...bus,
    ...bus.asConsumer(),
    ...bus.asProducer(),
    emitAll: (events: readonly GatewayEvent[]) => emitAll(bus, events),
  };
}

function isRequestError(status: number): (error: unknown) => boolean {
  return (error) => error instanceof RequestError && error.status === status;
}
