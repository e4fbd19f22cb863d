import type { InboundMessage } from "../bus/messages.js";
import type { ToolUsePart } from "../events/content.js";
import type { EventDraft } from "../events/event.js";
import type { MachineInput } from "../events/machines/input.js";
import type { Machines } from "../events/machines/run-machines.js";
import type { Tool, ToolContext, ToolResult } from "../tools/tool.js";
import { newId } from "../util/ids.js";
import type { AgentPorts } from "./ports.js";
import type { TurnLog } from "./turn-log.js";

/** A call of the model's answer, and how far it has come. */
export interface PendingCall {
  readonly call: ToolUsePart;
  /** Set when an earlier attempt had started it. */
  readonly startedAs?: string | undefined;
}

export interface ToolCallScope {
  readonly ports: Pick<AgentPorts, "tools" | "permit" | "sources" | "sessionFolder" | "workspace">;
  readonly message: InboundMessage;
  readonly iteration: number;
  readonly log: TurnLog;
  readonly machines: Machines;
  readonly signal: AbortSignal;
  /** True once the process stops: then a cut call gets no result now, but at the next start. */
  readonly isShuttingDown: () => boolean;
}

/** After a crash or a stop: what the model reads in place of a result. */
const interruptedByRestart =
  "interrupted: the gateway restarted while this call ran, so its outcome is unknown. Check before doing it again.";
const stoppedByPerson = "cancelled: the person stopped the turn while this call ran; its outcome is unknown.";

/**
 * Runs the calls of one answer: side by side when all of them only read, else one after the other. Each start that is
 * written gets exactly one completion. `before` is written together with the first start.
 */
export async function runToolCalls(
  calls: readonly PendingCall[],
  before: readonly EventDraft[],
  scope: ToolCallScope,
): Promise<void> {
  await scope.log.append(before);
  const readOnly = calls.every(({ call }) => scope.ports.tools.find(call.name)?.effect === "read");
  if (readOnly && calls.length > 1) {
    const started: {
      readonly pending: PendingCall;
      readonly executionId: string;
      readonly result: Promise<ToolResult>;
      readonly startedAt: number;
    }[] = [];
    for (const pending of calls) {
      const executionId = await start(pending, scope);
      started.push({ pending, executionId, startedAt: Date.now(), result: run(pending, scope) });
    }
    // Settled together first, so that no rejection goes unheard while an earlier result is being written.
    await Promise.allSettled(started.map((one) => one.result));
    for (const one of started) await finish(one.pending, one.executionId, one.startedAt, await one.result, scope);
    return;
  }
  for (const [index, pending] of calls.entries()) {
    if (scope.signal.aborted) {
      if (!scope.isShuttingDown())
        await scope.log.append(closeInterrupted(calls.slice(index), scope.log, scope.machines));
      return;
    }
    const executionId = await start(pending, scope);
    const startedAt = Date.now();
    await finish(pending, executionId, startedAt, await run(pending, scope), scope);
  }
}

/** Ends the calls that an earlier attempt had started, for a turn that ends without going on with them. */
export function closeInterrupted(calls: readonly PendingCall[], log: TurnLog, machines: Machines): EventDraft[] {
  return calls.flatMap(({ call, startedAs }) => {
    if (startedAs === undefined) return [];
    const result = interrupted(call.name);
    const outputs = machines.feed(toFinished(call, result, 0));
    return [completion(call, startedAs, result, 0, log), ...log.stored(outputs.stored)];
  });
}

async function start({ call, startedAs }: PendingCall, scope: ToolCallScope): Promise<string> {
  const outputs = scope.machines.feed({ kind: "tool_started", toolCallId: call.id, toolName: call.name });
  if (startedAs !== undefined) {
    await scope.log.tell(outputs);
    return startedAs;
  }
  const tool = scope.ports.tools.find(call.name);
  const executionId = newId("exe");
  const event = scope.log.draft("tool_execution_start", {
    tool_execution_id: executionId,
    tool_call_id: call.id,
    tool_name: call.name,
    input: call.input,
    iteration: scope.iteration,
    origin: tool?.origin ?? "builtin",
  });
  // Somebody relies on this line after a power cut: what it started must not start again.
  await scope.log.tell(outputs, [event], tool?.effect === "write");
  return executionId;
}

async function run({ call, startedAs }: PendingCall, scope: ToolCallScope): Promise<ToolResult> {
  const { ports, message, signal } = scope;
  const tool = ports.tools.find(call.name);
  if (startedAs !== undefined && !runsAgain(tool)) return interrupted(call.name);
  if (call.invalid_json !== undefined)
    return {
      text: `The arguments of ${call.name} were no JSON object: ${call.invalid_json.slice(0, 200)}`,
      isError: true,
      summary: `${call.name}: arguments were not JSON`,
    };
  const folder = ports.sessionFolder(message.sessionKey);
  const context: ToolContext = {
    sessionKey: message.sessionKey,
    channel: message.channel,
    chatId: message.chatId,
    senderId: message.senderId,
    turnId: scope.log.turnId,
    toolCallId: call.id,
    folder,
    workspace: ports.workspace,
    signal,
    permit: async (access) => (tool === undefined ? undefined : ports.permit(tool, access, message, folder)),
    readSkill: (name) => ports.sources.readSkill(name),
  };
  try {
    return await ports.tools.run(call.name, call.input, context);
  } catch (error) {
    if (!signal.aborted) throw error;
    return { text: stoppedByPerson, isError: true, summary: `${call.name} was stopped` };
  }
}

async function finish(
  { call }: PendingCall,
  executionId: string,
  startedAt: number,
  result: ToolResult,
  scope: ToolCallScope,
): Promise<void> {
  if (scope.isShuttingDown() && scope.signal.aborted) return;
  const durationMs = Math.max(0, Date.now() - startedAt);
  const outputs = scope.machines.feed(toFinished(call, result, durationMs));
  await scope.log.tell(outputs, [completion(call, executionId, result, durationMs, scope.log)]);
}

function interrupted(name: string): ToolResult {
  return { text: interruptedByRestart, isError: true, summary: `${name} was interrupted by a restart` };
}

function toFinished(call: ToolUsePart, result: ToolResult, durationMs: number): MachineInput {
  return {
    kind: "tool_finished",
    toolCallId: call.id,
    toolName: call.name,
    output: result.text,
    isError: result.isError,
    durationMs,
  };
}

function completion(
  call: ToolUsePart,
  executionId: string,
  result: ToolResult,
  durationMs: number,
  log: TurnLog,
): EventDraft {
  return log.draft(
    "tool_execution_complete",
    {
      tool_execution_id: executionId,
      tool_call_id: call.id,
      tool_name: call.name,
      output: result.text,
      is_error: result.isError,
      ...(result.isError ? { error_code: errorCodeOf(result) } : {}),
      duration_ms: durationMs,
      summary: result.summary,
    },
    `tool:${call.name}`,
  );
}

function errorCodeOf(result: ToolResult): string {
  return result.text === interruptedByRestart ? "INTERRUPTED_BY_RESTART" : "TOOL_ERROR";
}

/** Whether a tool is safe to run again after a crash. */
function runsAgain(tool: Tool | undefined): boolean {
  return tool?.effect === "read" || tool?.effect === "idempotent";
}
