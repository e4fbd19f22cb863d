import type { Exceeded } from "../../budgets/limits.js";
import type { InboundMessage } from "../../bus/messages.js";
import type { EventDraft } from "../../events/event.js";
import { isClosed } from "../../events/folds/session-state.js";
import type { ChosenModel } from "../../providers/provider.js";
import type { ContextFiles } from "../model/context.js";
import type { SkillSelection } from "../ports.js";
import { toFreshStart } from "../session-state.js";
import { beginAttempt } from "./attempt.js";
import type { LoopEnd } from "./ending/loop-end.js";
import type { LiveTurn } from "./live-turn.js";
import { asAsked } from "./retry/as-asked.js";
import { retriedBy } from "./retry/retried.js";
import { addedMessages, firstMessage } from "./user-message.js";

/** What shapes a turn's answers besides the session. */
export interface TurnContext {
  readonly files: ContextFiles;
  readonly skills: SkillSelection;
}

/** A turn that has begun. */
export interface BegunTurn extends TurnContext {
  /** The end of what it begins with, to be written with what comes next. */
  readonly opening: EventDraft[];
}

/** An earlier attempt has put the message into the context. */
export function hasBegun({ earlier }: LiveTurn): boolean {
  return earlier !== undefined && earlier.messageIds.length > 0;
}

/**
 * The turn's message with what its sender has made of it while it waited. Once a turn has begun with a message, it
 * is as it was.
 */
export async function withEdits(turn: LiveTurn): Promise<InboundMessage> {
  const { body } = turn.scope.delivery.work;
  // An edit of what had failed is a correction, which comes after it.
  if (body.retry !== undefined) return asAsked(body, retriedBy(turn));
  const message = body;
  const change = hasBegun(turn) ? undefined : (await turn.mailbox.takeChanges(message)).at(-1);
  if (change === undefined) return message;
  if (change.change === "deleted") return { ...message, change: "deleted" };
  return { ...message, content: change.content, attachments: [...message.attachments, ...change.attachments] };
}

/** A message that was taken back stays out of the context, and nobody is told anything. */
export async function dropTurn(turn: LiveTurn): Promise<LoopEnd> {
  await writeBegin(turn);
  turn.interruption.interrupt({ kind: "user", mode: "cancel" });
  return { kind: "interrupted", partialMessageId: undefined, unwritten: [] };
}

/** A message that is refused stays out of the context. */
export async function refuseTurn(turn: LiveTurn, exceeded: Exceeded): Promise<LoopEnd> {
  await writeBegin(turn);
  return { kind: "budget", exceeded, unwritten: [] };
}

async function writeBegin({ scope, log, mailbox, earlier }: LiveTurn): Promise<void> {
  const { begin, states } = beginAttempt(scope, log, mailbox.messageIds, earlier);
  await log.append([...begin, ...states]);
}

/**
 * Gathers what the model is to see: what its sender wrote in quick succession, files, skills. Tells that the turn has
 * begun, or goes on, and what its first messages look like to the model.
 */
export async function beginTurn(turn: LiveTurn, message: InboundMessage): Promise<BegunTurn> {
  const { scope, log, mailbox, earlier, interruption } = turn;
  const { ports, options, session } = scope;
  const burst = earlier === undefined ? await mailbox.takeBurst(options.quiet, interruption.signal) : [];
  const [files, skills, missingTools] = await Promise.all([
    ports.context.files(message),
    ports.context.skills(message.content, message.selectedSkills),
    ports.tools.settle(interruption.signal).catch(() => []),
  ]);
  const { begin, states } = beginAttempt(scope, log, mailbox.messageIds, earlier);
  const { state } = session.document;
  if (isClosed(state)) {
    await ports.sessions.keepOlderText(session, message);
    // Before the message is put together, which depends on what the model still sees.
    await log.append([...begin.splice(0), ...toFreshStart(log, state, "active")]);
  }
  const to_seq =
    hasBegun(turn) || message.replaces === undefined
      ? undefined
      : session.turns.seqBefore(message.replaces, session.history);
  if (to_seq !== undefined)
    await log.append([...begin.splice(0), log.draft("session_history_changed", { kind: "undo", to_seq })]);
  const isInContext =
    hasBegun(turn) || retriedBy(turn)?.hasEntered === true || session.messages.entered.has(message.id);
  if (!isInContext) begin.push(...(await firstMessage(scope, log, message, skills, missingTools)));
  begin.push(...(await addedMessages(scope, log, burst, skills, 1)));
  return { files, skills, opening: [...begin, ...states] };
}

/** Later messages of the sender join here, so that the next model call sees them. */
export async function beginIteration(
  { scope, log, mailbox }: LiveTurn,
  iteration: number,
  chosen: ChosenModel,
  { skills: selection, opening }: BegunTurn,
): Promise<void> {
  const { machines, options } = scope;
  // Before the first call nothing joins: what was waiting already is a message of its own.
  const added = iteration === 1 ? [] : await mailbox.takeAdditions();
  const drafts = [...opening.splice(0), ...(await addedMessages(scope, log, added, selection, iteration))];
  if (added.length > 0) machines.feed({ kind: "messages_joined", messageIds: added.map((message) => message.id) });
  drafts.push(
    log.draft("turn_iteration_start", { iteration, max_iterations: options.maxIterations, model: chosen.label }),
  );
  await log.writeOutputs(
    machines.feed({ kind: "iteration_started", iteration, maxIterations: options.maxIterations, model: chosen.label }),
    drafts,
  );
}
