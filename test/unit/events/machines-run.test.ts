import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { specOf } from "../../../src/events/catalogue.js";
import { textOf } from "../../../src/events/content.js";
import type { AnswerChunk, Machine, MachineInput, MachineOutput, Step } from "../../../src/events/machines/input.js";
import { messageAssembler } from "../../../src/events/machines/message.js";
import { createMachines, type Machines, toDraft } from "../../../src/events/machines/run-machines.js";
import { terminalTypes } from "../../../src/events/sets.js";
import { silentLog } from "../../../src/log.js";
import { deepFreeze } from "../../../src/util/deep-freeze.js";
import { assertSoon } from "../../support/cost.js";
import {
  anyChunk,
  anyInput,
  builtIn,
  call,
  completed,
  end,
  json,
  round,
  runMachine,
  signature,
  text,
  thinking,
  toolFinished,
  toolStarted,
  turnStarted,
} from "../../support/engine/histories/machines.js";
import { fuzzOptions } from "../../support/fuzz.js";

const runs = 200;
const inputs = fc
  .tuple(fc.boolean(), fc.array(anyInput, { maxLength: 60, size: "max" }))
  // Half of them start out well, so that most inputs find a turn and a stream.
  .map(([startsWell, all]) => (startsWell ? [turnStarted, ...round(1, []), ...all] : all));

/** Feeds all; what came out, stream outputs of an input before its stored ones. */
function feedAll(machines: Machines, all: readonly MachineInput[]): readonly MachineOutput[] {
  return all.flatMap((input) => {
    const { stream, stored } = machines.feed(deepFreeze(input));
    return [...stream, ...stored];
  });
}

const feedFresh = (all: readonly MachineInput[], custom: readonly Machine<unknown>[] = []): readonly MachineOutput[] =>
  feedAll(createMachines({ log: silentLog, custom }), all);

describe("for any inputs at all, the machines", () => {
  test("never throw, leave states and inputs untouched, and give the same outputs for the same inputs", (t) => {
    fc.assert(
      fc.property(inputs, (all) => {
        for (const machine of builtIn) {
          assert.deepEqual(runMachine(machine, all).outputs, runMachine(machine, all).outputs);
        }
        const outputs = feedFresh(all);
        assert.deepEqual(outputs, feedFresh(all));
        assert.ok(outputs.every((output) => output.type !== "error_occurred"));
      }),
      fuzzOptions(t, runs),
    );
  });

  test("produce payloads that the catalogue takes, exactly as they are", (t) => {
    fc.assert(
      fc.property(inputs, (all) => {
        for (const { type, payload } of feedFresh(all)) assert.deepEqual(specOf(type).payload.parse(payload), payload);
      }),
      fuzzOptions(t, runs),
    );
  });

  test("tell each state from the one told before, and only when it differs", (t) => {
    fc.assert(
      fc.property(inputs, (all) => {
        let state = "idle";
        for (const output of feedFresh(all)) {
          if (output.type !== "agent_state_changed") continue;
          assert.equal(output.payload.from, state);
          assert.notEqual(output.payload.to, state);
          state = output.payload.to;
        }
      }),
      fuzzOptions(t, runs),
    );
  });

  test("end each stream once before the next one starts, count its deltas from 0, and store at most one message of it", (t) => {
    fc.assert(
      fc.property(inputs, (all) => {
        let open = false;
        let deltas = 0;
        let messages = 0;
        for (const output of feedFresh(all)) {
          if (output.type === "message_stream_start") {
            assert.ok(!open);
            open = true;
            deltas = 0;
            messages = 0;
          }
          if (output.delta_index !== undefined) {
            assert.ok(open);
            assert.equal(output.delta_index, deltas++);
          }
          if (output.type === "message_stream_end") {
            assert.ok(open);
            open = false;
          }
          if (output.type === "assistant_message") assert.ok(!open && messages++ === 0);
        }
      }),
      fuzzOptions(t, runs),
    );
  });

  test("end each turn that ends with exactly one terminal event, as the last output, after the change to idle", (t) => {
    fc.assert(
      fc.property(inputs, (all) => {
        const machines = createMachines({ log: silentLog });
        let isRunning = false;
        for (const input of all) {
          const { stored } = machines.feed(input);
          if (input.kind === "turn_started") isRunning = true;
          const terminals = stored.filter((output) => terminalTypes.has(output.type));
          assert.equal(terminals.length, input.kind === "turn_ended" && isRunning ? 1 : 0);
          if (terminals.length > 0) {
            assert.equal(stored.at(-1), terminals[0]);
            assert.equal(machines.state(), "idle");
          }
          if (input.kind === "turn_ended") isRunning = false;
        }
      }),
      fuzzOptions(t, runs),
    );
  });
});

/** A piece of an answer, before it is cut into chunks. */
type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  | { readonly kind: "call"; readonly input: Readonly<Record<string, unknown>> };

const pieces: fc.Arbitrary<readonly Piece[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom("text" as const, "thinking" as const),
      text: fc.string({ unit: "binary", minLength: 1 }),
    }),
    fc.record({
      kind: fc.constant("call" as const),
      input: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
    }),
  ),
  { maxLength: 6 },
);

/** Cuts a text where the numbers say, also in the middle of a surrogate pair, with empty pieces in between. */
function cutAt(whole: string, numbers: readonly number[]): readonly string[] {
  const places = numbers.map((number) => number % (whole.length + 1)).sort((a, b) => a - b);
  return [...places, whole.length].map((place, index) => whole.slice(places[index - 1] ?? 0, place));
}

function toChunks(all: readonly Piece[], cuts: readonly number[]): readonly AnswerChunk[] {
  const hasCalls = all.some((piece) => piece.kind === "call");
  const chunks = all.flatMap((piece, index): readonly AnswerChunk[] => {
    if (piece.kind === "text") return cutAt(piece.text, cuts).map(text);
    if (piece.kind === "thinking") return [...cutAt(piece.text, cuts).map(thinking), signature(`s${index}`)];
    const id = `call_${index}`;
    return [call(id), ...cutAt(JSON.stringify(piece.input), cuts).map((part) => json(id, part))];
  });
  return [...chunks, end(hasCalls ? "tool_use" : "end_turn")];
}

describe("however an answer is cut into chunks,", () => {
  test("what is stored is the same, and the joined text_delta is the message's text, code unit for code unit", (t) => {
    fc.assert(
      fc.property(pieces, fc.array(fc.nat(), { maxLength: 8 }), (all, cuts) => {
        const run = (chunks: readonly AnswerChunk[]): readonly MachineOutput[] =>
          feedFresh([turnStarted, ...round(1, chunks)]);
        const messageOf = (outputs: readonly MachineOutput[]) =>
          outputs.flatMap((output) => (output.type === "assistant_message" ? [output.payload] : []));
        const storedOf = (outputs: readonly MachineOutput[]) => outputs.filter(({ type }) => specOf(type).stored);
        const cut = run(toChunks(all, cuts));
        assert.deepEqual(storedOf(cut), storedOf(run(toChunks(all, []))));
        const [message] = messageOf(cut);
        const joined = cut.flatMap((output) => (output.type === "text_delta" ? [output.payload.text] : [])).join("");
        if (message !== undefined) assert.equal(joined, textOf(message.content));
        else assert.equal(joined.trim(), "");
        const inputsIn = message?.content.flatMap((part) => (part.type === "tool_use" ? [part.input] : [])) ?? [];
        assert.deepEqual(
          inputsIn,
          all.flatMap((piece) => (piece.kind === "call" ? [JSON.parse(JSON.stringify(piece.input))] : [])),
        );
      }),
      fuzzOptions(t, runs),
    );
  });
});

test("two sessions whose inputs alternate in any way get what each would get alone", (t) => {
  fc.assert(
    fc.property(inputs, inputs, fc.array(fc.boolean(), { maxLength: 80 }), (left, right, turns) => {
      const sides = [left, right].map((all) => ({
        waiting: [...all],
        machines: createMachines({ log: silentLog }),
        got: [] as MachineOutput[],
      }));
      for (const isRight of [...turns, ...left.map(() => false), ...right.map(() => true)]) {
        const side = sides[isRight ? 1 : 0];
        const input = side?.waiting.shift();
        if (side !== undefined && input !== undefined) side.got.push(...feedAll(side.machines, [input]));
      }
      assert.deepEqual(
        sides.map((side) => side.got),
        [feedFresh(left), feedFresh(right)],
      );
    }),
    fuzzOptions(t, runs),
  );
});

describe("custom machines", () => {
  const counter: Machine<unknown> = {
    name: "counter",
    initial: 0,
    step: (state, input) => {
      const count = Number(state) + 1;
      if (input.kind !== "turn_ended") return [count, []];
      return [count, [{ type: "budget_exceeded", payload: { scope: "turn", limit: 1, used: count, unit: "turns" } }]];
    },
  };
  const throwsAt = (at: number): Machine<unknown> => {
    return {
      name: "broken",
      initial: 0,
      step: (state) => {
        if (state === at) throw new Error("boom");
        return [Number(state) + 1, []];
      },
    };
  };

  test("run besides the built-in ones, and what they produce at its end is before the turn's last words", () => {
    const outputs = feedFresh([turnStarted, completed()], [counter]);
    assert.deepEqual(
      outputs.slice(-3).map((output) => output.type),
      ["budget_exceeded", "agent_state_changed", "turn_execution_complete"],
    );
    const told = outputs.at(-3);
    assert.ok(told?.type === "budget_exceeded" && told.payload.used === 2);
  });

  const tells = (told: (input: MachineInput) => unknown): Machine<unknown> => ({
    name: "broken",
    initial: undefined,
    // Anyone who writes a machine in JavaScript can return anything.
    step: (state, input) => [state, told(input)] as unknown as Step<unknown>,
  });
  for (const [what, told] of [
    ["produce what no catalogue knows", () => [{ type: "surprise", payload: {} }]],
    ["produce a payload that is not of its type", () => [{ type: "budget_exceeded", payload: { used: "all" } }]],
    [
      "end the turn",
      () => [{ type: "turn_execution_cancelled", payload: { message_ids: [], reason: "abort", mode: "" } }],
    ],
    ["speak for the model", () => [{ type: "text_delta", payload: { message_id: "m", text: "x" } }]],
    [
      "change the agent's state",
      () => [{ type: "agent_state_changed", payload: { from: "idle", to: "error", cause: "" } }],
    ],
    ["return a promise", async () => []],
    ["return nothing", () => undefined],
    ["change an input", (input: MachineInput) => Object.assign(input, { kind: "interrupted" })],
    [
      "change what an input holds",
      (input: MachineInput) => Object.assign(input.kind === "chunk" ? input.chunk : {}, { text: "y" }),
    ],
  ] as const)
    test(`that ${what} are left out like those that throw`, () => {
      const all = [turnStarted, ...round(1, [text("x"), end("end_turn")]), completed()];
      const outputs = feedAll(createMachines({ log: silentLog, custom: [tells(told), counter] }), structuredClone(all));
      assert.equal(outputs.filter((output) => output.type === "error_occurred").length, 1);
      assert.deepEqual(
        outputs.filter((output) => output.type !== "error_occurred"),
        feedFresh(all, [counter]),
      );
    });

  test("that throw are logged and told once, left out for the rest of the turn, and change nothing for the others", (t) => {
    fc.assert(
      fc.property(fc.array(anyChunk, { minLength: 1, maxLength: 20 }), fc.nat(15), (chunks, at) => {
        const all = [turnStarted, ...round(1, chunks), completed()];
        const logged: unknown[] = [];
        const log = { ...silentLog, error: (_message: string, fields?: unknown) => logged.push(fields) };
        const machines = createMachines({ log, custom: [throwsAt(at), counter] });
        const outputs = feedAll(machines, all);
        const faults = outputs.filter((output) => output.type === "error_occurred");
        const expected = at < all.length ? 1 : 0;
        assert.equal(faults.length, expected);
        assert.equal(logged.length, expected);
        for (const fault of faults) assert.equal(fault.payload.scope, "machine:broken");
        assert.deepEqual(
          outputs.filter((output) => output.type !== "error_occurred"),
          feedFresh(all, [counter]),
        );
      }),
      fuzzOptions(t, runs),
    );
  });

  test("that threw take part in the next turn again, from their beginning", () => {
    const machines = createMachines({ log: silentLog, custom: [throwsAt(1)] });
    const faultsOf = (all: readonly MachineInput[]) =>
      feedAll(machines, all).filter((output) => output.type === "error_occurred").length;
    assert.equal(faultsOf([turnStarted, completed()]), 1);
    assert.equal(faultsOf([turnStarted]), 0);
    assert.equal(faultsOf([completed()]), 1);
  });
});

test("the outputs of each input are stream events first, then stored ones: message, state, end of the turn", () => {
  const machines = createMachines({ log: silentLog });
  feedAll(machines, [turnStarted, ...round(1, [])]);
  const first = machines.feed({ kind: "chunk", chunk: text("x") });
  assert.deepEqual(
    first.stream.map((output) => output.type),
    ["text_delta"],
  );
  assert.deepEqual(
    first.stored.map((output) => output.type),
    ["agent_state_changed"],
  );
  const last = machines.feed({ kind: "chunk", chunk: end("end_turn") });
  assert.deepEqual(
    last.stream.map((output) => output.type),
    ["message_stream_end"],
  );
  assert.deepEqual(
    last.stored.map((output) => output.type),
    ["assistant_message"],
  );
  const over = machines.feed(completed());
  assert.deepEqual(
    [...over.stream, ...over.stored].map((output) => output.type),
    ["agent_state_changed", "turn_execution_complete"],
  );
});

test("state, turn and tool results can be read at any time", () => {
  const machines = createMachines({ log: silentLog });
  feedAll(machines, [turnStarted, ...round(1, [call("a"), end("tool_use")]), toolStarted("a")]);
  assert.equal(machines.state(), "awaiting_tool_result");
  feedAll(machines, [toolFinished("a", "out")]);
  assert.deepEqual(
    machines.toolResults().map((result) => result.content),
    ["out"],
  );
  assert.equal(machines.turn().usage.input_tokens, 10);
  assert.equal(machines.turn().turnId, "turn_1");
});

test("a draft of an output carries its delta_index, the given context and an id of its own", () => {
  const output: MachineOutput = { type: "text_delta", payload: { message_id: "m", text: "x" }, delta_index: 4 };
  const one = toDraft(output, { source: "provider:openai", turn_id: "turn_1" });
  const { event_id, ...rest } = one;
  assert.match(event_id, /^evt_[0-9a-f]{20}$/);
  assert.deepEqual(rest, { source: "provider:openai", turn_id: "turn_1", ...output });
  assert.notEqual(toDraft(output, { source: "agent" }).event_id, event_id);
});

test("a long answer in small pieces is assembled quickly", () => {
  const chunks = Array.from({ length: 50_000 }, () => text("word "));
  assertSoon(() => {
    const { outputs } = runMachine(messageAssembler, [turnStarted, ...round(1, [...chunks, end("end_turn")])]);
    const last = outputs.at(-1);
    assert.ok(last?.type === "assistant_message" && textOf(last.payload.content).length === 250_000);
  }, 2000);
});
