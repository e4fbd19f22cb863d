import type { InboundMessage } from "../../bus/messages.js";
import type { ToolUsePart } from "../../events/content.js";
import type { EventDraft } from "../../events/event.js";
import type { PlanState, PlanUpdate } from "../../events/folds/plan.js";
import type { Machines } from "../../events/machines/run-machines.js";
import type { Tool, ToolCallChat, ToolContext, ToolResult } from "../../tools/tool.js";
import { InOrder } from "../../util/async/in-order.js";
import { newId } from "../../util/ids.js";
import { namesOf } from "../../util/text/untrusted.js";
import { changePlan } from "../plan/changes.js";
import { planResult, progressLine, summaryLine } from "../plan/text.js";
import type { AgentPorts } from "../ports.js";
import type { HumanInput } from "../questions/human-input.js";
import { askForTool } from "../questions/tool-questions.js";
import type { Interruption } from "../turn/ending/interruption.js";
import { queuedReplies } from "../turn/own-words.js";
import type { PendingCall } from "../turn/resume.js";
import type { TurnLog } from "../turn/turn-log.js";
import { createPermit } from "./approvals.js";
import { closeInterrupted, completion, interrupted, stoppedByPerson, toFinished } from "./call-ends.js";
import { CallLabels } from "./call-labels.js";
import type { DoomLoop } from "./doom-loop.js";
import { createOutgoing } from "./outgoing.js";
import { ownUploads } from "./provenance.js";
import { skillsMatched } from "./skill-events.js";

export interface ToolCallScope {
  readonly ports: Pick<AgentPorts, "tools" | "context" | "policy" | "chat" | "files" | "tasks">;
  readonly message: InboundMessage;
  readonly human: HumanInput;
  readonly doom: DoomLoop;
  readonly sight: SessionSight;
  readonly iteration: number;
  readonly log: TurnLog;
  readonly machines: Machines;
  /** Once the process stops, a cut call gets no result now, but at the next start. */
  readonly interruption: Pick<Interruption, "signal" | "isShuttingDown">;
}

/** What a call may know about its session, as it is at this moment. */
export interface SessionSight {
  /** Where those parts of the context came from that others wrote. */
  readonly outside: () => readonly string[];
  readonly plan: () => PlanState | undefined;
  readonly knowsAddress: ToolContext["conversation"]["knowsAddress"];
  readonly receivedHere: ToolContext["conversation"]["receivedHere"];
  readonly cwd: string | undefined;
}

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
    if (scope.interruption.signal.aborted) {
      if (!scope.interruption.isShuttingDown)
        await scope.log.append(closeInterrupted(calls.slice(index), scope.log, scope.machines));
      return;
    }
    const executionId = await start(pending, scope);
    await finish(pending, executionId, await run(pending, executionId, scope), scope);
  }
}

/** Each is reported when it is done, one after the other. None waits for one that takes longer. */
async function runSideBySide(calls: readonly PendingCall[], scope: ToolCallScope): Promise<void> {
  const started: { readonly pending: PendingCall; readonly executionId: string; readonly outcome: Promise<Outcome> }[] =
    [];
  for (const pending of calls) {
    const executionId = await start(pending, scope);
    started.push({ pending, executionId, outcome: run(pending, executionId, scope) });
  }
  const finishing = new InOrder();
  const finished = started.map(async ({ pending, executionId, outcome }) => {
    const ended = await outcome;
    await finishing.run(() => finish(pending, executionId, ended, scope));
  });
  // Settled together, so that no rejection goes unheard.
  const ends = await Promise.allSettled(finished);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

async function start({ call, startedAs }: PendingCall, scope: ToolCallScope): Promise<string> {
  const outputs = scope.machines.feed({ kind: "tool_started", toolCallId: call.id, toolName: call.name });
  if (startedAs !== undefined) {
    await scope.log.writeOutputs(outputs);
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
  await scope.log.writeOutputs(outputs, [event], tool?.effect === "write");
  return executionId;
}

interface Outcome {
  readonly result: ToolResult;
  /** What else it brought about, to be told before its end. */
  readonly events: readonly EventDraft[];
  /** What happened to the plan. */
  readonly updates: readonly PlanUpdate[];
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
    const skill = await scope.ports.context.readSkill(name);
    const missing = skill === undefined ? [name] : [];
    events.push(skillsMatched(scope.log, skill === undefined ? [] : [skill], missing, pending.call.name));
    return skill?.text;
  };
  const updates: PlanUpdate[] = [];
  const aids = { executionId, waiting, readSkill, changePlan: planChanger(scope, updates) };
  const result = await runOnce(pending, scope, aids);
  return {
    result,
    events,
    updates: result.isError ? [] : updates,
    durationMs: Math.max(0, Date.now() - startedAt - waitedMs),
  };
}

/** Works out the new plan, and leaves it in `updates` to be written together with the call's end. */
function planChanger(scope: ToolCallScope, updates: PlanUpdate[]): ToolContext["agent"]["changePlan"] {
  const { channel, senderId } = scope.message;
  return (request) => {
    const changed = changePlan(scope.sight.plan(), request, `${channel}:${senderId}`);
    const plan = "updates" in changed ? changed.updates.at(-1)?.plan : undefined;
    if ("problem" in changed || plan === undefined) {
      const text = "problem" in changed ? changed.problem : "Nothing was changed.";
      return { text, isError: true, summary: text };
    }
    updates.push(...changed.updates);
    return { text: planResult(plan), isError: false, summary: summaryLine(changed.updates) };
  };
}

/** What a call is given besides its scope. */
interface Aids {
  readonly executionId: string;
  readonly waiting: <T>(work: () => Promise<T>) => Promise<T>;
  readonly readSkill: ToolContext["agent"]["readSkill"];
  readonly changePlan: ToolContext["agent"]["changePlan"];
}

async function runOnce({ call, startedAs }: PendingCall, scope: ToolCallScope, aids: Aids): Promise<ToolResult> {
  const { ports, human, doom } = scope;
  const { signal } = scope.interruption;
  const { waiting } = aids;
  const tool = ports.tools.find(call.name, call.input);
  if (startedAs !== undefined && !runsAgain(tool) && !human.wasAsking(call.id)) return interrupted(call.name);
  if (call.invalid_json !== undefined)
    return {
      text: `The arguments of ${call.name} were not a JSON object: ${call.invalid_json.slice(0, 200)}`,
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
  const { ports, message, sight } = scope;
  const folder = ports.files.folderOf(message.sessionKey);
  return new CallLabels({
    labels: ports.files.labels,
    outsideOf: (path) => ports.files.outsideOf(path, folder),
    ownUploads: () => ownUploads(folder, message, ports),
    outside: sight.outside,
    planOutside: () => sight.plan()?.outside,
    folder,
    effect: tool?.effect ?? "write",
    isForGuest: !ports.chat.isOwner(message.channel, message.senderId),
  });
}

function contextOf(
  call: ToolUsePart,
  tool: Tool | undefined,
  scope: ToolCallScope,
  aids: Aids,
  labels: CallLabels,
): ToolContext {
  const { waiting, readSkill, changePlan } = aids;
  const { ports, message, human, log } = scope;
  const { outside, receivedHere, cwd, knowsAddress } = scope.sight;
  const { signal } = scope.interruption;
  const folder = ports.files.folderOf(message.sessionKey);
  const { permit, permissions } = permissionsOf(call, tool, scope, folder);
  return {
    sessionKey: message.sessionKey,
    folder,
    signal,
    permit: labels.permit((access) => waiting(() => permit(access))),
    ask: (question, withdrawn) => waiting(() => askForTool(call, question, human, withdrawn)),
    call: { turnId: log.turnId, toolCallId: call.id, isSubAgent: message.taskId !== undefined },
    permissions,
    chat: chatOf(call, scope, aids, labels),
    files: {
      workspace: ports.files.workspace,
      whyFull: () => ports.files.whyFull(folder),
      outsideOf: (path, of) => labels.outsideOf(path, of),
      wrote: (path) => labels.wrote(path),
      ownUploads: () => ownUploads(folder, message, ports),
    },
    commands: {
      cwd,
      hiddenFiles: () => ports.files.labels.hiddenFrom(folder),
      startRun: (sees) => labels.startRun(sees),
    },
    conversation: { outside, receivedHere, knowsAddress },
    agent: {
      tasks: ports.tasks.of({ message, executionId: aids.executionId, signal, outside, knowsAddress }),
      readSkill,
      changePlan,
    },
  };
}

function permissionsOf(
  call: ToolUsePart,
  tool: Tool | undefined,
  scope: ToolCallScope,
  folder: string,
): Pick<ToolContext, "permit" | "permissions"> {
  const never = (): boolean => false;
  if (tool === undefined)
    return {
      permit: async () => undefined,
      permissions: { allows: never, allowedByRule: never, allowedByPerson: never },
    };
  const { ports, message, human, interruption, sight } = scope;
  return createPermit({
    policy: ports.policy,
    message,
    human,
    signal: interruption.signal,
    tool,
    call,
    folder,
    outside: sight.outside,
    isPlanning: isPlanning(scope),
  });
}

function chatOf(
  { name }: ToolUsePart,
  { ports, message, log }: ToolCallScope,
  { executionId }: Aids,
  labels: CallLabels,
): ToolCallChat {
  const { channel, chatId, thread, senderId } = message;
  const copied = (from: string, to: string): Promise<void> => labels.copied(from, to);
  const outgoing = createOutgoing({ ports, message, log, executionId, toolName: name, copied });
  return { channel, chatId, thread, senderId, ...outgoing };
}

function isPlanning({ sight }: ToolCallScope): boolean {
  return sight.plan()?.plan.status === "pending";
}

async function finish(
  { call }: PendingCall,
  executionId: string,
  { result, events, updates, durationMs }: Outcome,
  scope: ToolCallScope,
): Promise<void> {
  if (scope.interruption.isShuttingDown && scope.interruption.signal.aborted) return;
  const { ports, message, log } = scope;
  const planned = updates.map((payload) => log.draft("plan_updated", { ...payload, ...planOutside(scope) }));
  const line = progressLine(updates);
  const replies = line === undefined ? [] : ports.chat.replies(message, executionId, line, log.turnId);
  const outputs = scope.machines.feed(toFinished(call, result, durationMs));
  const before = [...events, ...planned, completion(call, executionId, result, durationMs, log)];
  await log.writeOutputs(outputs, [...before, ...queuedReplies(log, replies)], false, replies);
}

/** A plan is at least as foreign as what it was made of, and as it was before. */
function planOutside({ sight }: ToolCallScope): { readonly outside?: string } {
  const before = sight.plan()?.outside;
  const sources = [...(before === undefined ? [] : [before]), ...sight.outside()];
  return sources.length === 0 ? {} : { outside: namesOf(sources) };
}

/** Whether a tool is safe to run again after a crash. */
function runsAgain(tool: Tool | undefined): boolean {
  return tool?.effect === "read" || tool?.effect === "idempotent";
}
