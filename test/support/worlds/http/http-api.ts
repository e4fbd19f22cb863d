import type { CommandResults } from "../../../../src/api/commands/commands-api.js";
import { commandsOver, handleCommands } from "../../../../src/api/commands/handlers.js";
import type { GatewayApi } from "../../../../src/api/gateway-api.js";
import type { SendRequest } from "../../../../src/api/messages/messages-api.js";
import type { SystemBus } from "../../../../src/events/bus/system-bus.js";
import type { EventType, Payload } from "../../../../src/events/catalogue.js";
import type { DraftContext, GatewayEvent, StoredEvent } from "../../../../src/events/event.js";
import type { StreamSnapshots } from "../../../../src/events/folds/stream-snapshots.js";
import { memoryDevices } from "./memory/devices.js";
import { MemoryLogs } from "./memory/logs.js";
import { memoryEvents, memoryMessages } from "./memory/messages.js";
import {
  emptyInbox,
  fixedSkills,
  noCron,
  noDeadLetters,
  noFiles,
  noMemory,
  noQuestions,
  noTurns,
  oneSkill,
} from "./memory/nothing.js";
import { memoryPairings } from "./memory/pairings.js";
import { memorySessions } from "./memory/sessions.js";
import { memoryStatus } from "./memory/status.js";
import { runSteps, type Step, scriptTurn } from "./memory/turn.js";

/** A gateway whose sessions are arrays: no disk and no model, but real events over the real bus and feed. */
export class MemoryGateway {
  /** As HTTP and programs get it. */
  readonly api: GatewayApi;
  /** What does the work; a test may put something else in place of one of them. */
  readonly operations: Omit<GatewayApi, "request">;
  readonly sent: SendRequest[] = [];
  /** Approved by `api.approvePairing`; codes that are waiting. */
  readonly codes = new Map([["ABC123", "telegram:42"]]);
  /** Thrown by the next send. */
  refuseSend: Error | undefined;
  isReady = true;
  readonly #sessions = new MemoryLogs();

  constructor(others: Partial<GatewayApi>) {
    this.operations = {
      ...memoryStatus(() => this.isReady),
      ...memorySessions(this.#sessions),
      ...memoryMessages(this.#sessions, this),
      ...memoryEvents(this.#sessions),
      ...memoryPairings(this.codes),
      ...noQuestions,
      ...noTurns,
      ...noFiles,
      ...oneSkill,
      listChatCommands: () => [{ name: "help", description: "what you can type here" }],
      skills: fixedSkills,
      cron: noCron,
      memory: noMemory,
      dead: noDeadLetters,
      devices: memoryDevices(),
      inbox: emptyInbox,
      ...others,
    };
    handleCommands(this.bus, this.operations);
    this.api = { ...this.operations, ...commandsOver(this.bus) };
  }

  get bus(): SystemBus<CommandResults> {
    return this.#sessions.bus;
  }

  get snapshots(): StreamSnapshots {
    return this.#sessions.snapshots;
  }

  get logs(): ReadonlyMap<string, readonly StoredEvent[]> {
    return this.#sessions.logs;
  }

  /** What a send does once the message is stored. By default it runs the turn, a step per tick. */
  onSend: (key: string, messageId: string) => void = (key, messageId) => runSteps(this.turn(key, messageId));

  /** Gives the event its seq (if its type is stored), keeps it and publishes it. */
  tell<T extends EventType>(
    key: string,
    type: T,
    payload: Payload<T>,
    context: Partial<DraftContext> = {},
  ): GatewayEvent {
    return this.#sessions.tell(key, type, payload, context);
  }

  /** The events of a turn with one tool call that answers in small pieces, one step each. */
  turn(key: string, messageId: string, answer: readonly string[] = ["Hel", "lo ", "wörld"]): readonly Step[] {
    return scriptTurn((type, payload, turnId) => this.tell(key, type, payload, { turn_id: turnId }), messageId, answer);
  }
}

export function createMemoryGateway(others: Partial<GatewayApi> = {}): MemoryGateway {
  return new MemoryGateway(others);
}
