import type { TurnBudget } from "../../budgets/budgets.js";
import type { Exceeded } from "../../budgets/limits.js";
import type { InboundMessage } from "../../bus/messages.js";
import { EngineError, messageOf, ProviderError } from "../../errors.js";
import { textOf } from "../../events/content.js";
import type { EventDraft } from "../../events/event.js";
import { isActive, type PlanState } from "../../events/plan.js";
import { isClosed } from "../../events/session-state.js";
import type { ChosenModel, ModelChain, ModelRequest } from "../../providers/provider.js";
import { newId } from "../../util/ids.js";
import { DoomLoop } from "../calls/doom-loop.js";
import { othersFor } from "../calls/provenance.js";
import { runToolCalls } from "../calls/tool-calls.js";
import { endsPlan } from "../commands/plan.js";
import { type Answer, callModel } from "../model/call.js";
import { systemPrompt } from "../model/context.js";
import { payerOf } from "../model/payer.js";
import { toModelRequest } from "../model/request.js";
import { openRoom } from "../model/room.js";
import {
  cutAnswer,
  emptyAnswer,
  endlessThinking,
  limitReached,
  refusedAnswer,
  tooLongAnswer,
} from "../model/sentences.js";
import type { SkillSelection } from "../ports.js";
import { HumanInput } from "../questions/human-input.js";
import { startsAfresh } from "../session-state.js";
import { beginAttempt, openTurnLog } from "./attempt.js";
import { needOf, usedBy } from "./budget.js";
import { endTurn, type LoopEnd } from "./end.js";
import { type Mailbox, openMailbox } from "./mailbox.js";
import { type EarlierAttempts, readEarlierAttempts } from "./resume.js";
import type { Interrupt } from "./running-turns.js";
import type { TurnScope } from "./scope.js";
import type { TurnLog } from "./turn-log.js";
import { userMessage } from "./user-message.js";

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
  const conversation = await ports.tasks.conversationOf(session);
  using budget = ports.budgets.open({ turnId, conversation, ...payerOf(message) });
  const log = openTurnLog(scope, turnId, earlier, budget);

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
  using _running = ports.running.begin(message.sessionKey, {
    turnId,
    senderId: message.senderId,
    interrupt,
    startedAt,
  });
  const human = new HumanInput({
    ports,
    delivery,
    log,
    machines: scope.machines,
    earlier: earlier?.questions ?? [],
    signal: abort.signal,
    stopping: signal,
    giveBack: () => interrupt({ kind: "shutdown" }),
  });
  using mailbox = await openMailbox({
    ports,
    delivery,
    rejoined: [...(earlier?.messageIds ?? []), ...(earlier?.answeredBy ?? []), ...(earlier?.begunWith ?? [])],
    onStop: (mode) => interrupt({ kind: "user", mode }),
    reserveAnswer: (text) => human.reserve(text),
    endsPlan: (content) => endsPlan(content, session.plan.current),
  });
  human.reconsider = mailbox.reconsider;

  const isShuttingDown = (): boolean => why?.kind === "shutdown";
  const drop = (): void => interrupt({ kind: "user", mode: "cancel" });
  const loop = { scope, log, mailbox, human, budget, earlier, signal: abort.signal, isShuttingDown, drop };
  const end = await runLoop(loop).catch((error: unknown) => {
    const isOver = error instanceof EngineError && (error.kind === "fenced" || error.kind === "closed");
    if (!isOver) log.abandonStream(scope.machines);
    throw error;
  });
  await human.settled();
  if (end.kind === "interrupted" && why?.kind !== "user") return await delivery.release();
  const mode = why?.kind === "user" ? why.mode : "stop";
  // Before the end is written, so that a crash in between stops them again.
  if (why?.kind === "user" && mode !== "cancel") await ports.tasks.stop(session.key);
  await endTurn(end, { ...loop, closeQuestions: () => human.closeEarlier(), mode, startedAt });
}

interface Loop {
  readonly scope: TurnScope;
  readonly log: TurnLog;
  readonly mailbox: Mailbox;
  readonly human: HumanInput;
  readonly budget: TurnBudget;
  readonly earlier: EarlierAttempts | undefined;
  readonly signal: AbortSignal;
  readonly isShuttingDown: () => boolean;
  /** Ends the turn as if its sender had taken the message back. */
  readonly drop: () => void;
}

async function runLoop(loop: Loop): Promise<LoopEnd> {
  const { scope, log, human, budget, earlier, signal } = loop;
  const { ports, options, session, machines } = scope;
  const message = await asItReadsNow(loop);
  if (message.change === "deleted") return await dropTurn(loop);
  const exceeded = hasBegun(earlier) ? undefined : budget.begin();
  if (exceeded !== undefined) return await refuseTurn(loop, exceeded);
  const burst = earlier === undefined ? await loop.mailbox.takeBurst(options.quiet, signal) : [];
  const [files, selection, missingTools] = await Promise.all([
    ports.sources.files(message),
    ports.sources.skills(message.content, message.selectedSkills),
    ports.tools.settle(signal).catch(() => []),
  ]);
  await beginTurn(loop, message, selection, burst, missingTools);

  let chain: ModelChain;
  try {
    chain = await ports.models.chain({ label: session.model, thinking: session.thinking }, signal);
  } catch (error) {
    if (signal.aborted) return interruptedEnd(scope, log);
    const failure =
      error instanceof ProviderError ? error : new ProviderError(messageOf(error), { kind: "not_found", cause: error });
    return { kind: "failed", error: failure, unwritten: [] };
  }
  const system = systemPrompt(files, selection.listing);
  const sources = { history: session.history, turnId: log.turnId, system, tools: ports.tools.declarations() };
  const request = (model: ChosenModel): ModelRequest => toModelRequest(model, sources);
  const room = openRoom(loop, system);
  const doom = new DoomLoop(earlier?.finished ?? [], log, human);
  const others = othersFor(message, ports);
  const outside = (): readonly string[] => session.history.outside(others);
  const plan = (): PlanState | undefined => session.plan.current;
  const toolScope = {
    ports,
    message,
    log,
    machines,
    human,
    doom,
    outside,
    plan,
    knowsAddress: (url: string) => session.history.knowsAddress(url),
    receivedHere: () => session.history.hasFiles,
    cwd: session.document.cwd,
    signal,
    isShuttingDown: loop.isShuttingDown,
  };
  if (earlier !== undefined && earlier.pending.length > 0)
    await runToolCalls(earlier.pending, [], { ...toolScope, iteration: earlier.answers });

  for (let iteration = (earlier?.answers ?? 0) + 1; iteration <= options.maxIterations; iteration++) {
    if (signal.aborted) return interruptedEnd(scope, log);
    const model = firstOf(chain);
    await beginIteration(loop, iteration, model, selection);
    await room.keep(model);
    if (signal.aborted) return interruptedEnd(scope, log);
    const needed = budget.needsEstimate ? needOf(model, request(model)) : { tokens: 0, usd: 0 };
    const exceeded = budget.admit(needed, usedBy(machines));
    if (exceeded !== undefined) return { kind: "budget", exceeded, unwritten: [] };
    const answer = await callModel(
      {
        chain,
        request,
        iteration,
        maxAttempts: options.maxModelAttempts,
        retryDelayMs: options.retryDelayMs,
        shrink: room.make,
        onCut: (spent, isKept) => {
          log.owe(budget.countsOfCut(spent));
          if (!isKept) log.discard(spent);
        },
      },
      log,
      machines,
      signal,
    );
    if (answer.status === "failed") return { kind: "failed", error: answer.error, unwritten: answer.unwritten };
    if (answer.status === "interrupted")
      return { kind: "interrupted", partialMessageId: answer.partialMessageId, unwritten: answer.unwritten };
    const calls = (answer.message?.content ?? []).filter((part) => part.type === "tool_use");
    if (calls.length === 0) return finalEnd(answer);
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

/** An earlier attempt has put the message into the context. */
function hasBegun(earlier: EarlierAttempts | undefined): boolean {
  return earlier !== undefined && earlier.messageIds.length > 0;
}

/** What its sender has made of it while it waited. Once a turn has begun with a message, it stands as it was. */
async function asItReadsNow({ scope, mailbox, earlier }: Loop): Promise<InboundMessage> {
  const message = scope.delivery.work.body;
  const change = hasBegun(earlier) ? undefined : (await mailbox.takeChanges(message)).at(-1);
  if (change === undefined) return message;
  if (change.change === "deleted") return { ...message, change: "deleted" };
  return { ...message, content: change.content, attachments: [...message.attachments, ...change.attachments] };
}

/** A message that was taken back stays out of the context, and nobody is told anything. */
async function dropTurn({ scope, log, mailbox, earlier, drop }: Loop): Promise<LoopEnd> {
  const { begin, states } = beginAttempt(scope, log, mailbox.messageIds, earlier);
  await log.append([...begin, ...states]);
  drop();
  return { kind: "interrupted", partialMessageId: undefined, unwritten: [] };
}

/** A message that is refused stays out of the context. */
async function refuseTurn({ scope, log, mailbox, earlier }: Loop, exceeded: Exceeded): Promise<LoopEnd> {
  const { begin, states } = beginAttempt(scope, log, mailbox.messageIds, earlier);
  await log.append([...begin, ...states]);
  return { kind: "budget", exceeded, unwritten: [] };
}

function firstOf(chain: ModelChain): ChosenModel {
  const [first] = chain.candidates();
  if (first === undefined) throw new Error("A chain of models was empty");
  return first;
}

/** Writes that the turn has begun, or goes on, and what its first messages look like to the model. */
async function beginTurn(
  { scope, log, mailbox, earlier }: Loop,
  message: InboundMessage,
  selection: SkillSelection,
  burst: readonly InboundMessage[],
  missingTools: readonly string[],
): Promise<void> {
  const { begin, states } = beginAttempt(scope, log, mailbox.messageIds, earlier);
  const { state } = scope.session.document;
  if (isClosed(state)) {
    await scope.ports.keepOlderText(scope.session, message);
    // Before the message is put together, which depends on what the model still sees.
    await log.append([...begin.splice(0), ...startsAfresh(log, state, "active")]);
  }
  const isInContext = hasBegun(earlier) || scope.session.enteredMessages.has(message.id);
  if (!isInContext) begin.push(...(await firstMessage(scope, log, message, selection, missingTools)));
  begin.push(...(await addedMessages(scope, log, burst, selection, 1)));
  await log.append([...begin, ...states]);
}

/** The turn's own message, with the plan that goes on, and what a plan command has made of that. */
async function firstMessage(
  scope: TurnScope,
  log: TurnLog,
  message: InboundMessage,
  selection: SkillSelection,
  missingTools: readonly string[],
): Promise<EventDraft[]> {
  const { opening, session } = scope;
  const told = (opening?.told ?? []).map((payload) => log.draft("plan_updated", payload));
  const current = opening?.told.at(-1)?.plan ?? session.plan.current?.plan;
  const plan = current !== undefined && isActive(current) ? current : undefined;
  const isOld = opening === undefined || session.plan.current?.plan.goal === current?.goal;
  const planOutside = isOld ? session.plan.current?.outside : undefined;
  const asRead = opening === undefined ? message : { ...message, content: opening.text };
  return [...told, ...(await userMessage(scope, log, asRead, selection, 1, { plan, planOutside, missingTools }))];
}

/** What messages that join a turn look like to the model. */
async function addedMessages(
  scope: TurnScope,
  log: TurnLog,
  added: readonly InboundMessage[],
  selection: SkillSelection,
  iteration: number,
): Promise<EventDraft[]> {
  const drafts: EventDraft[] = [];
  for (const message of added) {
    const names =
      message.selectedSkills !== undefined || message.content.includes("$") || message.content.includes("@skill:");
    const own = names
      ? await scope.ports.sources.skills(message.content, message.selectedSkills)
      : { ...selection, matched: [], missing: [] };
    drafts.push(...(await userMessage(scope, log, message, own, iteration)));
  }
  return drafts;
}

/** Later messages of the sender join here, so that the next model call sees them. */
async function beginIteration(
  { scope, log, mailbox }: Loop,
  iteration: number,
  chosen: ChosenModel,
  selection: SkillSelection,
): Promise<void> {
  const { machines, options } = scope;
  // Before the first call nothing joins: what was waiting already is a message of its own.
  const added = iteration === 1 ? [] : await mailbox.takeAdditions();
  const drafts = await addedMessages(scope, log, added, selection, iteration);
  if (added.length > 0) machines.feed({ kind: "messages_joined", messageIds: added.map((message) => message.id) });
  drafts.push(
    log.draft("turn_iteration_start", { iteration, max_iterations: options.maxIterations, model: chosen.label }),
  );
  await log.tell(
    machines.feed({ kind: "iteration_started", iteration, maxIterations: options.maxIterations, model: chosen.label }),
    drafts,
  );
}

function finalEnd(answer: Extract<Answer, { readonly status: "answered" }>): LoopEnd {
  const { message, model, stopReason, unwritten, usage, costUsd } = answer;
  const text = textOf(message?.content ?? []);
  if (message === undefined || text.trim() === "") {
    const spent = message === undefined ? { model: model.label, usage, costUsd } : undefined;
    return stopReason === "refusal"
      ? { kind: "notice", text: refusedAnswer, stopReason: "refusal", spent, unwritten }
      : { kind: "notice", text: answer.isCut ? endlessThinking : emptyAnswer, stopReason: "empty", spent, unwritten };
  }
  const why = answer.isCut ? tooLongAnswer(text.length) : cutAnswer(model.maxTokens);
  const remark = stopReason === "max_tokens" ? why : undefined;
  return { kind: "answered", messageId: message.message_id, text, remark, stopReason, unwritten };
}

function interruptedEnd({ machines }: TurnScope, log: TurnLog): LoopEnd {
  const outputs = machines.feed({ kind: "interrupted" });
  return { kind: "interrupted", partialMessageId: undefined, unwritten: log.stored(outputs.stored) };
}
