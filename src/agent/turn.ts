import type { InboundMessage } from "../bus/messages.js";
import { EngineError, messageOf, ProviderError } from "../errors.js";
import type { EventDraft } from "../events/event.js";
import type { ChosenModel, ModelRequest } from "../providers/provider.js";
import { newId } from "../util/ids.js";
import { systemPrompt, userText } from "./context.js";
import { type Mailbox, openMailbox } from "./mailbox.js";
import { callModel } from "./model-call.js";
import type { SkillSelection } from "./ports.js";
import { type EarlierAttempts, readEarlierAttempts } from "./resume.js";
import { openRoom } from "./room.js";
import type { Interrupt } from "./running-turns.js";
import { cutAnswer, emptyAnswer, limitReached, refusedAnswer } from "./sentences.js";
import { runToolCalls } from "./tool-calls.js";
import { beginAttempt, openTurnLog } from "./turn-attempt.js";
import { endTurn, type LoopEnd } from "./turn-end.js";
import type { TurnLog } from "./turn-log.js";
import type { TurnScope } from "./turn-scope.js";

/**
 * Takes one accepted message to its end: builds the context, calls the model and the tools it asks for until there is
 * a final text, and commits events, replies and acknowledgement together. A turn that an earlier process had begun goes
 * on where its events end. `signal` aborts when the process is to stop, which turns may outlast for a while, or when the
 * attempt was taken away, which ends the turn at once.
 */
export async function runTurn(scope: TurnScope, signal: AbortSignal): Promise<void> {
  const { ports, delivery, session } = scope;
  const message = delivery.work.body;
  const startedAt = Date.now();
  const earlier = readEarlierAttempts(session.openTurn, message.id);
  const turnId = earlier?.turnId ?? newId("turn");
  const log = openTurnLog(scope, turnId, earlier);

  const abort = new AbortController();
  let why: Interrupt | undefined;
  const interrupt = (reason: Interrupt): void => {
    why ??= reason;
    abort.abort(new DOMException("The turn was stopped", "AbortError"));
  };
  const onAbort = (): void => {
    if (signal.reason instanceof EngineError && signal.reason.kind === "fenced") interrupt({ kind: "shutdown" });
  };
  signal.addEventListener("abort", onAbort, { once: true });
  using _running = ports.running.begin(message.sessionKey, { turnId, senderId: message.senderId, interrupt });
  using mailbox = await openMailbox({
    ports,
    delivery,
    rejoined: earlier?.messageIds ?? [],
    onStop: (mode) => interrupt({ kind: "user", mode }),
  });

  const loop = { scope, log, mailbox, earlier, signal: abort.signal, isShuttingDown: () => why?.kind === "shutdown" };
  const end = await runLoop(loop);
  if (end.kind === "interrupted" && why?.kind !== "user") return await delivery.release();
  await endTurn(end, { ...loop, mode: why?.kind === "user" ? why.mode : "stop", startedAt });
}

interface Loop {
  readonly scope: TurnScope;
  readonly log: TurnLog;
  readonly mailbox: Mailbox;
  readonly earlier: EarlierAttempts | undefined;
  readonly signal: AbortSignal;
  readonly isShuttingDown: () => boolean;
}

async function runLoop(loop: Loop): Promise<LoopEnd> {
  const { scope, log, earlier, signal } = loop;
  const { ports, options, delivery, session, machines } = scope;
  const message = delivery.work.body;
  const [files, selection] = await Promise.all([
    ports.sources.files(),
    ports.sources.skills(message.content, message.selectedSkills),
  ]);
  await beginTurn(loop, selection);

  let chosen: ChosenModel;
  try {
    chosen = await ports.chooseModel(session.model, signal);
  } catch (error) {
    if (signal.aborted) return interruptedEnd(scope, log);
    const failure =
      error instanceof ProviderError ? error : new ProviderError(messageOf(error), { kind: "not_found", cause: error });
    return { kind: "failed", error: failure, unwritten: [] };
  }
  const system = systemPrompt(files, selection.listing);
  const room = openRoom(loop, chosen, system);
  const toolScope = { ports, message, log, machines, signal, isShuttingDown: loop.isShuttingDown };
  if (earlier !== undefined && earlier.pending.length > 0)
    await runToolCalls(earlier.pending, [], { ...toolScope, iteration: earlier.answers });

  for (let iteration = (earlier?.answers ?? 0) + 1; iteration <= options.maxIterations; iteration++) {
    if (signal.aborted) return interruptedEnd(scope, log);
    await beginIteration(loop, iteration, chosen, selection);
    await room.keep();
    if (signal.aborted) return interruptedEnd(scope, log);
    const request = (): ModelRequest => ({
      model: chosen.model,
      system,
      messages: session.history.toMessages(log.turnId),
      tools: ports.tools.declarations(),
      maxTokens: chosen.maxTokens,
      temperature: chosen.temperature,
    });
    const answer = await callModel(
      {
        chosen,
        iteration,
        maxAttempts: options.maxModelAttempts,
        request: request(),
        shrink: async () => ((await room.make()) ? request() : undefined),
      },
      log,
      machines,
      signal,
    );
    if (answer.status === "failed") return { kind: "failed", error: answer.error, unwritten: answer.unwritten };
    if (answer.status === "interrupted")
      return { kind: "interrupted", partialMessageId: answer.partialMessageId, unwritten: answer.unwritten };
    const calls = (answer.message?.content ?? []).filter((part) => part.type === "tool_use");
    if (calls.length === 0) return finalEnd(answer.message, answer.stopReason, answer.unwritten, chosen.maxTokens);
    await runToolCalls(
      calls.map((call) => ({ call })),
      answer.unwritten,
      { ...toolScope, iteration },
    );
  }
  if (signal.aborted) return interruptedEnd(scope, log);
  return {
    kind: "notice",
    text: limitReached(options.maxIterations),
    stopReason: "max_iterations",
    unwritten: log.stored(machines.feed({ kind: "limit_reached" }).stored),
  };
}

/** Writes that the turn has begun, or goes on, and what its first message looks like to the model. */
async function beginTurn({ scope, log, mailbox, earlier }: Loop, selection: SkillSelection): Promise<void> {
  const { begin, states } = beginAttempt(scope, log, mailbox.messageIds, earlier);
  if (earlier === undefined || earlier.messageIds.length === 0)
    begin.push(...userMessage(scope, log, scope.delivery.work.body, selection, 1));
  await log.append([...begin, ...states]);
}

/** Later messages of the sender join here, so that the next model call sees them. */
async function beginIteration(
  { scope, log, mailbox }: Loop,
  iteration: number,
  chosen: ChosenModel,
  selection: SkillSelection,
): Promise<void> {
  const { machines, options, ports } = scope;
  // Before the first call nothing joins: what was waiting already is a message of its own.
  const added = iteration === 1 ? [] : await mailbox.takeAdditions();
  const drafts: EventDraft[] = [];
  for (const message of added) {
    const own =
      message.selectedSkills === undefined && !message.content.includes("$") && !message.content.includes("@skill:");
    const chosenSkills = own
      ? { ...selection, matched: [], missing: [] }
      : await ports.sources.skills(message.content, message.selectedSkills);
    drafts.push(...userMessage(scope, log, message, chosenSkills, iteration));
  }
  if (added.length > 0) machines.feed({ kind: "messages_joined", messageIds: added.map((message) => message.id) });
  if (options.persistDetail)
    drafts.push(
      log.draft("turn_iteration_start", { iteration, max_iterations: options.maxIterations, model: chosen.label }),
    );
  await log.tell(
    machines.feed({ kind: "iteration_started", iteration, maxIterations: options.maxIterations, model: chosen.label }),
    drafts,
  );
}

function userMessage(
  { ports, options, session }: TurnScope,
  log: TurnLog,
  message: InboundMessage,
  selection: SkillSelection,
  iteration: number,
): EventDraft[] {
  // A skill's text that the model still sees in this conversation is not sent again.
  const fresh = selection.matched.filter((skill) => !session.history.mentions(skill.text));
  const text = userText({
    text: message.content,
    now: options.clock(new Date(message.receivedAt)),
    skills: fresh,
    missingSkills: selection.missing,
    files: message.attachments,
    senderName: ports.isGroup(message) ? (message.senderName ?? message.senderId) : undefined,
  });
  const drafts: EventDraft[] = [];
  if (selection.matched.length > 0 || selection.missing.length > 0)
    drafts.push(
      log.draft("skill_matched", {
        skills: selection.matched.map((skill) => ({
          name: skill.name,
          source: skill.source,
          chars: skill.text.length,
          truncated: skill.truncated,
        })),
        missing: [...selection.missing],
        selector: selection.selector,
      }),
    );
  drafts.push(log.draft("user_message", { message_id: message.id, content: [{ type: "text", text }], iteration }));
  return drafts;
}

function finalEnd(
  message:
    | { readonly message_id: string; readonly content: readonly { readonly type: string; readonly text?: string }[] }
    | undefined,
  stopReason: string,
  unwritten: readonly EventDraft[],
  maxTokens: number,
): LoopEnd {
  const text = (message?.content ?? []).map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
  if (message === undefined || text.trim() === "")
    return stopReason === "refusal"
      ? { kind: "notice", text: refusedAnswer, stopReason: "refusal", unwritten }
      : { kind: "notice", text: emptyAnswer, stopReason: "empty", unwritten };
  const shown = stopReason === "max_tokens" ? `${text}\n\n${cutAnswer(maxTokens)}` : text;
  return { kind: "answered", messageId: message.message_id, text: shown, stopReason, unwritten };
}

function interruptedEnd({ machines }: TurnScope, log: TurnLog): LoopEnd {
  const outputs = machines.feed({ kind: "interrupted" });
  return { kind: "interrupted", partialMessageId: undefined, unwritten: log.stored(outputs.stored) };
}
