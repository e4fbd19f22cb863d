import type { Delivery, Handler } from "../engine/engine.js";
import { EngineError, messageOf } from "../errors.js";
import { createAgentBus } from "../events/agent-bus.js";
import { createMachines, type Machines } from "../events/machines/run-machines.js";
import type { ResidentSession } from "../sessions/session-store.js";
import { newId } from "../util/ids.js";
import { type ChatCommand, parseCommand, runCommand } from "./commands.js";
import type { AgentOptions, AgentPorts } from "./ports.js";
import { watchStreamTiming } from "./stream-timing.js";
import { runTurn } from "./turn.js";
import { buryTurn } from "./turn-attempt.js";
import { noticeMessage, queuedReplies } from "./turn-end.js";
import { TurnLog } from "./turn-log.js";
import type { BuryScope, TurnScope } from "./turn-scope.js";

/**
 * What the inbound queue is consumed with: takes each accepted message to exactly one end. Stopping the process leaves
 * messages where they are; they go on at the next start.
 */
export function createAgent(ports: AgentPorts, options: AgentOptions): Handler<"inbound"> {
  return async (delivery, signal) => {
    const message = delivery.work.body;
    const machines = newMachines(ports);
    let session: ResidentSession;
    try {
      session = await ports.sessions.open(message.sessionKey);
    } catch (error) {
      // A session that cannot be read must not leave its people without a word.
      if (!delivery.exhausted && !isDamaged(error)) throw error;
      ports.log.error(`A session cannot be read: ${messageOf(error)}`, { session: message.sessionKey, error });
      return await buryTurn({ ports, options, delivery, session: unreadable(), machines }, "UNKNOWN");
    }
    const scope: TurnScope = { ports, options, delivery, session, machines };
    if (delivery.exhausted) {
      ports.log.error(`Gave up on a message after ${delivery.attempt - 1} attempts`, {
        session: session.key,
        message: message.id,
      });
      return await buryTurn(scope, "INTERRUPTED_BY_RESTART");
    }
    const command = parseCommand(message.content);
    try {
      if (command !== undefined) await answerCommand(scope, command);
      else await runTurn(scope, signal);
    } catch (error) {
      await onFault(scope, error);
    }
  };
}

function isDamaged(error: unknown): boolean {
  return error instanceof EngineError && error.kind === "corrupt";
}

function unreadable(): BuryScope["session"] {
  return { agentId: newId("agent"), agentState: "idle", openTurn: [], queuedEvents: new Map() };
}

/** A fault of ours fails this one message; a disk that refuses writes keeps it for later. */
async function onFault(scope: TurnScope, error: unknown): Promise<void> {
  if (error instanceof EngineError) throw error;
  scope.ports.log.error(`A turn failed: ${messageOf(error)}`, { session: scope.session.key, error });
  await buryTurn(scope, "UNKNOWN");
}

async function answerCommand(
  { ports, options, delivery, session, machines }: TurnScope,
  command: ChatCommand,
): Promise<void> {
  const message = delivery.work.body;
  const log = commandLog(ports, options, delivery, session.agentId, session.queuedEvents.get(message.id));
  const { reply, events } = runCommand(command, ports.statusLine());
  const notice = noticeMessage(log, reply);
  const replies = ports.replies(message, log.turnId, reply, log.turnId);
  machines.feed({
    kind: "turn_started",
    turnId: log.turnId,
    messageIds: [message.id],
    attempt: delivery.attempt,
    queuedMs: 0,
  });
  const { stored } = machines.feed({
    kind: "turn_ended",
    outcome: { end: "complete", messageId: notice.id, stopReason: "end_turn" },
    durationMs: 0,
  });
  const start = log.draft("turn_execution_start", {
    message_ids: [message.id],
    queued_ms: Math.max(0, Date.now() - message.receivedAt),
    attempt: delivery.attempt,
  });
  const terminal = log.stored(stored.filter((output) => output.type === "turn_execution_complete"));
  await log.commit([start, ...events, notice.draft, ...queuedReplies(replies), ...terminal], replies);
}

function commandLog(
  ports: AgentPorts,
  options: AgentOptions,
  delivery: Delivery<"inbound">,
  agentId: string,
  cause: string | undefined,
): TurnLog {
  const { id, sessionKey } = delivery.work.body;
  return new TurnLog({
    delivery,
    publish: (event) => void ports.engine.publish(sessionKey, event),
    identity: { turnId: newId("turn"), agentId, correlationId: id, cause },
    persistDetail: options.persistDetail,
    persistThoughts: options.persistThoughts,
  });
}

/** The machines of one turn, with everything that goes in and comes out told on the agent's own bus. */
function newMachines({ log }: AgentPorts): Machines {
  const bus = createAgentBus({ log });
  const machines = createMachines({ log });
  watchStreamTiming(bus, log);
  return {
    ...machines,
    feed(input) {
      bus.publish("input", input);
      const outputs = machines.feed(input);
      bus.publish("outputs", { input, outputs });
      return outputs;
    },
  };
}
