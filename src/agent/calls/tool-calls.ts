import type { InboundMessage } from "../../bus/messages.js";
import type { ImagePart, ToolUsePart } from "../../events/content.js";
import type { EventDraft } from "../../events/event.js";
import type { MachineInput } from "../../events/machines/input.js";
import type { Machines } from "../../events/machines/run-machines.js";
import type { PlanState, PlanTold } from "../../events/plan.js";
import type { Tool, ToolContext, ToolImage, ToolResult } from "../../tools/tool.js";
import { newId } from "../../util/ids.js";
import { namesOf } from "../../util/text/untrusted.js";
import { changePlan } from "../plan/changes.js";
import { planResult, progressLine, summaryLine } from "../plan/text.js";
import type { AgentPorts } from "../ports.js";
import type { HumanInput } from "../questions/human-input.js";
import { askForTool } from "../questions/tool-questions.js";
import { queuedReplies } from "../turn/end.js";
import { createOutgoing } from "../turn/outgoing.js";
import type { PendingCall } from "../turn/resume.js";
import type { TurnLog } from "../turn/turn-log.js";
import { createPermit } from "./approvals.js";
import { CallLabels } from "./call-labels.js";
import type { DoomLoop } from "./doom-loop.js";
import { ownUploads } from "./provenance.js";
import { skillsMatched } from "./skill-events.js";

export interface ToolCallScope {
  readonly ports: Pick<
    AgentPorts,
    | "tools"
    | "decide"
    | "filesOf"
    | "allowAlways"
    | "outsideOf"
    | "sendersIn"
    | "labels"
    | "isOwner"
    | "sources"
    | "sessionFolder"
    | "whyFull"
    | "workspace"
    | "replies"
    | "artifacts"
    | "tasks"
  >;
  readonly message: InboundMessage;
  readonly human: HumanInput;
  readonly doom: DoomLoop;
  /** Where those parts of the context came from that others wrote, at this moment. */
  readonly outside: () => readonly string[];
  /** The session's plan at this moment. */
  readonly plan: () => PlanState | undefined;
  readonly knowsAddress: ToolContext["knowsAddress"];
  readonly receivedHere: ToolContext["receivedHere"];
  readonly cwd: string | undefined;
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
  const readOnly = calls.every(({ call }) => scope.ports.tools.find(call.name, call.input)?.effect === "read");
  if (readOnly && calls.length > 1) {
    await runSideBySide(calls, scope);
    return;
  }
  for (const [index, pending] of calls.entries()) {
    if (scope.signal.aborted) {
      if (!scope.isShuttingDown())
        await scope.log.append(closeInterrupted(calls.slice(index), scope.log, scope.machines));
      return;
    }
    const executionId = await start(pending, scope);
    await finish(pending, executionId, await run(pending, executionId, scope), scope);
  }
}

/** Each is told when it is done, one after the other, and waits for none that takes longer. */
async function runSideBySide(calls: readonly PendingCall[], scope: ToolCallScope): Promise<void> {
  const started: { readonly pending: PendingCall; readonly executionId: string; readonly outcome: Promise<Outcome> }[] =
    [];
  for (const pending of calls) {
    const executionId = await start(pending, scope);
    started.push({ pending, executionId, outcome: run(pending, executionId, scope) });
  }
  let telling = Promise.resolve();
  const finished = started.map(async ({ pending, executionId, outcome }) => {
    const ended = await outcome;
    telling = telling.then(() => finish(pending, executionId, ended, scope));
    await telling;
  });
  // Settled together, so that no rejection goes unheard.
  const ends = await Promise.allSettled(finished);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
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
  const tool = scope.ports.tools.find(call.name, call.input);
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

interface Outcome {
  readonly result: ToolResult;
  /** What else it brought about, to be told before its end. */
  readonly events: readonly EventDraft[];
  /** What became of the plan. */
  readonly told: readonly PlanTold[];
  /** Without the time in which a person was waited for. */
  readonly durationMs: number;
}

async function run(pending: PendingCall, executionId: string, scope: ToolCallScope): Promise<Outcome> {
  const startedAt = Date.now();
  let waitedMs = 0;
  const waiting = async <T>(work: () => Promise<T>): Promise<T> => {
    const from = Date.now();
    try {
      return await work();
    } finally {
      waitedMs += Date.now() - from;
    }
  };
  const events: EventDraft[] = [];
  const readSkill = async (name: string): Promise<string | undefined> => {
    const skill = await scope.ports.sources.readSkill(name);
    const missing = skill === undefined ? [name] : [];
    events.push(skillsMatched(scope.log, skill === undefined ? [] : [skill], missing, pending.call.name));
    return skill?.text;
  };
  const told: PlanTold[] = [];
  const aids = { executionId, waiting, readSkill, changePlan: planChanger(scope, told) };
  const result = await runOnce(pending, scope, aids);
  return {
    result,
    events,
    told: result.isError ? [] : told,
    durationMs: Math.max(0, Date.now() - startedAt - waitedMs),
  };
}

/** Works out what becomes of the plan, and leaves it in `told` to be written together with the call's end. */
function planChanger(scope: ToolCallScope, told: PlanTold[]): ToolContext["changePlan"] {
  const { channel, senderId } = scope.message;
  return (request) => {
    const changed = changePlan(scope.plan(), request, `${channel}:${senderId}`);
    const plan = "told" in changed ? changed.told.at(-1)?.plan : undefined;
    if ("problem" in changed || plan === undefined) {
      const text = "problem" in changed ? changed.problem : "Nothing was changed.";
      return { text, isError: true, summary: text };
    }
    told.push(...changed.told);
    return { text: planResult(plan), isError: false, summary: summaryLine(changed.told) };
  };
}

/** What a call is given beside its scope. */
interface Aids {
  readonly executionId: string;
  readonly waiting: <T>(work: () => Promise<T>) => Promise<T>;
  readonly readSkill: ToolContext["readSkill"];
  readonly changePlan: ToolContext["changePlan"];
}

async function runOnce({ call, startedAs }: PendingCall, scope: ToolCallScope, aids: Aids): Promise<ToolResult> {
  const { ports, signal, human, doom } = scope;
  const { waiting } = aids;
  const tool = ports.tools.find(call.name, call.input);
  if (startedAs !== undefined && !runsAgain(tool) && !human.wasAsking(call.id)) return interrupted(call.name);
  if (call.invalid_json !== undefined)
    return {
      text: `The arguments of ${call.name} were no JSON object: ${call.invalid_json.slice(0, 200)}`,
      isError: true,
      summary: `${call.name}: arguments were not JSON`,
    };
  const labels = labelsOf(tool, scope);
  try {
    const traits = { isRead: tool?.effect === "read", isServers: tool?.origin === "mcp" };
    const checked = await waiting(() => doom.check({ ...call, ...traits }, signal));
    if (typeof checked === "string")
      return { text: checked, isError: true, summary: `${call.name} was called again and again` };
    const result = await ports.tools.run(call.name, call.input, contextOf(call, tool, scope, aids, labels));
    checked(result);
    return result;
  } catch (error) {
    if (!signal.aborted) throw error;
    // A question that the stop has withdrawn is written first.
    await human.settled();
    return { text: stoppedByPerson, isError: true, summary: `${call.name} was stopped` };
  } finally {
    await labels.end();
  }
}

function labelsOf(tool: Tool | undefined, scope: ToolCallScope): CallLabels {
  const { ports, message, outside, plan } = scope;
  const folder = ports.sessionFolder(message.sessionKey);
  return new CallLabels({
    labels: ports.labels,
    outsideOf: (path) => ports.outsideOf(path, folder),
    ownUploads: () => ownUploads(folder, message, ports),
    outside,
    planOutside: () => plan()?.outside,
    folder,
    effect: tool?.effect ?? "write",
    isForGuest: !ports.isOwner(message.channel, message.senderId),
  });
}

function contextOf(
  call: ToolUsePart,
  tool: Tool | undefined,
  scope: ToolCallScope,
  aids: Aids,
  labels: CallLabels,
): ToolContext {
  const { executionId, waiting, readSkill, changePlan } = aids;
  const { ports, message, human, log, outside } = scope;
  const folder = ports.sessionFolder(message.sessionKey);
  const { permit, allowedByRule, allowedByPerson, allows } =
    tool === undefined
      ? {
          permit: async () => undefined,
          allowedByRule: () => false,
          allowedByPerson: () => false,
          allows: () => false,
        }
      : createPermit({
          ports,
          message,
          human,
          tool,
          call,
          folder,
          outside,
          isPlanning: isPlanning(scope),
        });
  return {
    sessionKey: message.sessionKey,
    channel: message.channel,
    chatId: message.chatId,
    thread: message.thread,
    senderId: message.senderId,
    turnId: log.turnId,
    toolCallId: call.id,
    isSubAgent: message.taskId !== undefined,
    folder,
    whyFull: () => ports.whyFull(folder),
    workspace: ports.workspace,
    signal: scope.signal,
    permit: labels.permit((access) => waiting(() => permit(access))),
    allowedByRule,
    allowedByPerson,
    ask: (question, withdrawn) => waiting(() => askForTool(call, question, human, withdrawn)),
    outsideOf: (path, of) => labels.outsideOf(path, of),
    wrote: (path) => labels.wrote(path),
    ownUploads: () => ownUploads(folder, message, ports),
    hiddenFiles: () => ports.labels.hiddenFrom(folder),
    startRun: (sees) => labels.startRun(sees),
    allows,
    outside,
    receivedHere: scope.receivedHere,
    cwd: scope.cwd,
    knowsAddress: scope.knowsAddress,
    ...createOutgoing({
      ports,
      message,
      log,
      executionId,
      toolName: call.name,
      copied: (from, to) => labels.copied(from, to),
    }),
    tasks: ports.tasks.of({ message, executionId, outside, knowsAddress: scope.knowsAddress }),
    readSkill,
    changePlan,
  };
}

function isPlanning({ plan }: ToolCallScope): boolean {
  return plan()?.plan.status === "pending";
}

async function finish(
  { call }: PendingCall,
  executionId: string,
  { result, events, told, durationMs }: Outcome,
  scope: ToolCallScope,
): Promise<void> {
  if (scope.isShuttingDown() && scope.signal.aborted) return;
  const { ports, message, log } = scope;
  const planned = told.map((payload) => log.draft("plan_updated", { ...payload, ...planOutside(scope) }));
  const line = progressLine(told);
  const replies = line === undefined ? [] : ports.replies(message, executionId, line, log.turnId);
  const outputs = scope.machines.feed(toFinished(call, result, durationMs));
  const before = [...events, ...planned, completion(call, executionId, result, durationMs, log)];
  await log.tell(outputs, [...before, ...queuedReplies(log, replies)], false, replies);
}

/** A plan is at least as foreign as what it was made of, and as it was before. */
function planOutside({ outside, plan }: ToolCallScope): { readonly outside?: string } {
  const before = plan()?.outside;
  const sources = [...(before === undefined ? [] : [before]), ...outside()];
  return sources.length === 0 ? {} : { outside: namesOf(sources) };
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
      ...(result.outside === undefined ? {} : { outside: result.outside }),
      ...(result.addresses === undefined ? {} : { addresses: result.addresses }),
      ...(result.visited === undefined ? {} : { visited: result.visited }),
      ...(result.images === undefined ? {} : { images: result.images.map(toImagePart) }),
    },
    `tool:${call.name}`,
  );
}

function toImagePart({ path, mimeType, filename }: ToolImage): ImagePart {
  return { type: "image", mime_type: mimeType, path, filename };
}

function errorCodeOf(result: ToolResult): string {
  return result.text === interruptedByRestart ? "INTERRUPTED_BY_RESTART" : "TOOL_ERROR";
}

/** Whether a tool is safe to run again after a crash. */
function runsAgain(tool: Tool | undefined): boolean {
  return tool?.effect === "read" || tool?.effect === "idempotent";
}
