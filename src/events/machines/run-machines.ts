import { messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { deepFreeze } from "../../util/deep-freeze.js";
import { newId } from "../../util/ids.js";
import { catalogue, specOf } from "../catalogue.js";
import type { ToolResultPart } from "../content.js";
import type { DraftContext, EventDraft } from "../event.js";
import { deltaTypes, terminalTypes } from "../sets.js";
import type { Machine, MachineInput, MachineOutput } from "./input.js";
import { messageAssembler, toolResultsOf } from "./message.js";
import { stateTracker, visibleState } from "./state.js";
import { type TurnSummary, turnTracker } from "./turn.js";

/** What one input produced. The stream outputs are published first, then the stored ones, each in this order. */
export interface MachineOutputs {
  /** Of the stream layer (and internal ones): publish, never store. */
  readonly stream: readonly MachineOutput[];
  /** To be appended, or to be in the turn's commit when they come from `turn_ended`. */
  readonly stored: readonly MachineOutput[];
}

/** The machines of one agent. Never shared between agents. */
export interface Machines {
  /** Runs every machine on one input. Never throws. */
  feed(input: MachineInput): MachineOutputs;
  /** The agent's state as it was last told. */
  state(): ReturnType<typeof visibleState>;
  /** The running turn so far, or the last one. */
  turn(): TurnSummary;
  /** The results of the last answer's calls that have arrived, in call order. */
  toolResults(): readonly ToolResultPart[];
}

export interface MachinesOptions {
  readonly log: Logger;
  /**
   * Run besides the three built-in ones. Give them names of their own. They may produce any event but those of the
   * stream, answers, changes of the agent's state and ends of turns; they cannot change the inputs.
   */
  readonly custom?: readonly Machine<unknown>[] | undefined;
}

/** A machine with its present state. */
interface Runner<S> {
  readonly name: string;
  state(): S;
  step(input: MachineInput): readonly MachineOutput[];
  reset(): void;
}

function createRunner<S>(machine: Machine<S>): Runner<S> {
  let state = machine.initial;
  return {
    name: machine.name,
    state: () => state,
    step(input) {
      const [next, outputs] = machine.step(state, input);
      state = next;
      return outputs;
    },
    reset() {
      state = machine.initial;
    },
  };
}

/**
 * Runs the message assembler, the state tracker, the turn tracker and custom machines side by side. A machine that
 * throws is logged, told once as `error_occurred`, and left out until the next turn starts; the others go on.
 *
 * The agent loop drives them by feeding each {@link MachineInput} as it happens and turning the outputs into drafts:
 *
 *     const { stream, stored } = machines.feed({ kind: "chunk", chunk });
 *     for (const output of stream) delivery.publish(toDraft(output, context));
 *     await delivery.append(stored.map((output) => toDraft(output, context)), { durable: false });
 *
 * The machines produce the six stream events, `assistant_message`, `agent_state_changed` and the turn's terminal
 * event. The loop itself writes everything else (`turn_execution_start`, before it feeds `turn_started`;
 * `turn_iteration_start`, `user_message`, `tool_execution_*`, `human_input_*` …). What custom machines produce is
 * before the change to idle and the terminal event, which stay a turn's last words.
 */
export function createMachines({ log, custom = [] }: MachinesOptions): Machines {
  const message = createRunner(messageAssembler);
  const state = createRunner(stateTracker);
  const turn = createRunner(turnTracker);
  const runners: readonly Runner<unknown>[] = [
    message,
    ...custom.map((one) => createRunner(checked(one))),
    state,
    turn,
  ];
  const leftOut = new Set<Runner<unknown>>();

  const stepSafely = (runner: Runner<unknown>, input: MachineInput): readonly MachineOutput[] => {
    try {
      return runner.step(input);
    } catch (error) {
      leftOut.add(runner);
      log.error(`The machine "${runner.name}" failed and is left out for the rest of the turn`, {
        input: input.kind,
        error,
      });
      return [faultOutput(runner.name, error)];
    }
  };

  return {
    feed(input) {
      if (custom.length > 0) deepFreeze(input);
      if (input.kind === "turn_started") {
        for (const runner of leftOut) runner.reset();
        leftOut.clear();
      }
      const stream: MachineOutput[] = [];
      const stored: MachineOutput[] = [];
      for (const runner of runners) {
        if (leftOut.has(runner)) continue;
        for (const output of stepSafely(runner, input)) (specOf(output.type).stored ? stored : stream).push(output);
      }
      return { stream, stored };
    },
    state: () => visibleState(state.state()),
    turn: () => turn.state().summary,
    toolResults: () => toolResultsOf(message.state()),
  };
}

/** The same machine; what it may not produce, or what the catalogue does not know, is a fault of its own. */
function checked(machine: Machine<unknown>): Machine<unknown> {
  return {
    ...machine,
    step(state, input) {
      const [next, outputs] = machine.step(state, input);
      return [next, outputs.map(checkedOutput)];
    },
  };
}

function checkedOutput(output: MachineOutput): MachineOutput {
  const { type, payload } = output;
  if (!Object.hasOwn(catalogue, type)) throw new TypeError(`There is no event type ${type}`);
  if (deltaTypes.has(type) || terminalTypes.has(type) || type === "assistant_message" || type === "agent_state_changed")
    throw new TypeError(`Only the built-in machines can produce ${type}`);
  const parsed = specOf(type).payload.safeParse(payload);
  if (!parsed.success) throw new TypeError(`This is not a payload of ${type}: ${parsed.error.message}`);
  // The schema of this very type has just made it.
  return { type, payload: parsed.data } as MachineOutput;
}

function faultOutput(name: string, error: unknown): MachineOutput {
  return {
    type: "error_occurred",
    payload: {
      code: "UNKNOWN",
      category: "runtime",
      message: messageOf(error),
      recoverable: true,
      scope: `machine:${name}`,
    },
  };
}

/** An output as the engine takes it, with a fresh event id. */
export function toDraft(output: MachineOutput, context: DraftContext): EventDraft {
  return { event_id: newId("evt"), ...context, ...output };
}
