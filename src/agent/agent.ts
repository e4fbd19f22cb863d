import type { Delivery, Handler } from "../engine/engine.js";
import { EngineError, messageOf } from "../errors.js";
import { createAgentBus } from "../events/bus/agent-bus.js";
import type { EventDraft } from "../events/event.js";
import { createMachines, type MachineOutputs, type Machines } from "../events/machines/run-machines.js";
import type { ResidentSession } from "../sessions/resident-session.js";
import { newId } from "../util/ids.js";
import { type ChatCommand, commandOf, type UnknownCommand } from "./commands/chat-command.js";
import { planOpening } from "./commands/plan.js";
import { runCommand } from "./commands/run.js";
import { watchStreamTiming } from "./model/stream-timing.js";
import type { AgentOptions, AgentPorts } from "./ports.js";
import { buryTurn, cancelTurn } from "./turn/attempt.js";
import { noticeMessage, queuedReplies } from "./turn/own-words.js";
import type { BuryScope, TurnScope } from "./turn/scope.js";
import { runTurn } from "./turn/turn.js";
import { TurnLog } from "./turn/turn-log.js";

/**
 * What the inbound queue is consumed with: takes each accepted message to exactly one end. Stopping the process leaves
 * messages where they are; they go on at the next start.
 */
export function createAgent(ports: AgentPorts, options: AgentOptions): Handler<"inbound"> {
  const kept = new WeakMap<ResidentSession, Machines>();
  return async (delivery, signal) => {
    const message = delivery.work.body;
    let session: ResidentSession;
    try {
      session = await ports.sessions.open(message.sessionKey);
    } catch (error) {
      // A session that cannot be read must not leave its people without a word.
      if (!delivery.exhausted && !isDamaged(error)) throw error;
      ports.log.error(`A session cannot be read: ${messageOf(error)}`, { session: message.sessionKey, error });
      const machines = newMachines(ports, options);
      return await buryTurn({ ports, options, delivery, session: unreadable(), machines }, "STORED_DATA_DAMAGED");
    }
    const scope: TurnScope = { ports, options, delivery, session, machines: takeMachines(session) };
    if (delivery.exhausted) {
      ports.log.error(`Gave up on a message after ${delivery.attempt - 1} attempts`, {
        session: session.key,
        message: message.id,
      });
      return await buryTurn(scope, "INTERRUPTED_BY_RESTART");
    }
    if (session.messages.aborted.has(message.id)) return await cancelTurn(scope);
    const command = commandOf(message);
    try {
      const opening = command?.name === "plan" ? planOpening(command.argument, { ports, session, message }) : undefined;
      if (command === undefined || opening !== undefined) await runTurn({ ...scope, opening }, signal);
      else await answerCommand(scope, command, signal);
      if (session.openTurn.length === 0) kept.set(session, scope.machines);
    } catch (error) {
      await onFault(scope, error);
    }
  };

  /**
   * An agent keeps its machines from turn to turn; after one that did not end, the next begins with fresh ones. So it does where
   * another process has begun the turn.
   */
  function takeMachines(session: ResidentSession): Machines {
    const before = session.openTurn.length === 0 ? kept.get(session) : undefined;
    const machines = before ?? newMachines(ports, options);
    kept.delete(session);
    return machines;
  }
}

function isDamaged(error: unknown): boolean {
  return error instanceof EngineError && error.kind === "corrupt";
}

function unreadable(): BuryScope["session"] {
  const document = { state: "error" };
  return { agentId: newId("agent"), agentState: "idle", openTurn: [], messages: { queued: new Map() }, document };
}

/** A fault of ours fails this one message; a disk that refuses writes keeps it for later. */
async function onFault(scope: TurnScope, error: unknown): Promise<void> {
  if (error instanceof EngineError) throw error;
  const { ports, options, session } = scope;
  ports.log.error(`A turn failed: ${messageOf(error)}`, { session: session.key, error });
  // What the machines were told last may not have been written.
  await buryTurn({ ...scope, machines: newMachines(ports, options) }, "UNKNOWN");
}

async function answerCommand(
  { ports, options, delivery, session, machines }: TurnScope,
  command: ChatCommand | UnknownCommand,
  signal: AbortSignal,
): Promise<void> {
  const message = delivery.work.body;
  const log = commandLog(options, delivery, session.agentId, session.messages.queued.get(message.id));
  const running = runCommand(command, { ports, session, message, log, signal });
  const outcome = await running.catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  // The process ends: the command is run at the next start.
  if (outcome === undefined) return await delivery.release();
  const { reply, events, counts = [], emit = [], accepted = [] } = outcome;
  log.owe(counts);
  const notice = noticeMessage(log, reply);
  const replies = ports.chat.replies(message, log.turnId, reply, log.turnId);
  const { attempt } = delivery;
  const queuedMs = Math.max(0, Date.now() - message.receivedAt);
  const messageIds = [message.id];
  const start = log.draft("turn_execution_start", { message_ids: messageIds, queued_ms: queuedMs, attempt });
  const begun = machines.feed({ kind: "turn_started", turnId: log.turnId, messageIds, attempt, queuedMs });
  const ended = machines.feed({
    kind: "turn_ended",
    outcome: { end: "complete", messageId: notice.id, stopReason: "end_turn" },
    durationMs: 0,
  });
  const before = [start, ...withoutStates(log, begun), ...events.map((event) => log.adopt(event)), notice.draft];
  const after = [...queuedReplies(log, replies), ...withoutStates(log, ended), ...accepted];
  await log.commit([...before, ...after], [...replies, ...emit]);
}

/** A command is answered at once: no state is worth telling. */
function withoutStates(log: TurnLog, { stored }: MachineOutputs): readonly EventDraft[] {
  return log.stored(stored.filter((output) => output.type !== "agent_state_changed"));
}

function commandLog(
  options: AgentOptions,
  delivery: Delivery<"inbound">,
  agentId: string,
  cause: string | undefined,
): TurnLog {
  const { id } = delivery.work.body;
  return new TurnLog({
    delivery,
    identity: { turnId: newId("turn"), agentId, correlationId: id, cause },
    persistDetail: options.persistDetail,
    persistThoughts: options.persistThoughts,
  });
}

/** The machines of one agent, with everything that goes into them told on the agent's own bus. */
function newMachines({ log, onModelAnswered }: AgentPorts, { machines: custom }: AgentOptions): Machines {
  const bus = createAgentBus({ log });
  const machines = createMachines({ log, custom });
  watchStreamTiming(bus, log, onModelAnswered);
  return {
    ...machines,
    feed(input) {
      bus.publish(input);
      return machines.feed(input);
    },
  };
}
