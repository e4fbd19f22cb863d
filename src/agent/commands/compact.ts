import type { TurnBudget } from "../../budgets/turn-budget.js";
import { messageOf } from "../../errors.js";
import { noUsage } from "../../events/content.js";
import { isClosed } from "../../events/folds/session-state.js";
import type { ChosenModel } from "../../providers/provider.js";
import { formatCount } from "../../util/text/amounts.js";
import { estimateTokens } from "../../util/text/estimate-tokens.js";
import { olderPart } from "../model/compaction.js";
import { systemPrompt } from "../model/context.js";
import { payerOf } from "../model/payer.js";
import { overheadOf } from "../model/room.js";
import { overSentence } from "../model/sentences.js";
import { budgetSentence } from "../turn/budget.js";
import type { CommandOutcome, CommandScope } from "./scope.js";

/** What a summary takes is about as much: less is not worth one. */
const leastTokens = 300;

/**
 * `/compact`: replaces what was said before the last message and its answer by a summary, now. For owners, and for people in
 * a chat of their own: in a group it takes words of others out of sight.
 */
export async function runCompactCommand(scope: CommandScope): Promise<CommandOutcome> {
  const { ports, session, message, log } = scope;
  const refusal = whyNot(scope);
  if (refusal !== undefined) return { reply: refusal, events: [] };
  using budget = ports.budgets.open({
    turnId: log.turnId,
    conversation: await ports.tasks.conversationOf(session),
    ...payerOf(message),
  });
  const before = olderPart(session.history);
  const exceeded = budget.admit({ tokens: before.tokens, usd: 0 }, { usage: noUsage, costUsd: 0 });
  if (exceeded !== undefined) return { reply: budgetSentence(exceeded, ports.budgets.calendar.timeZone), events: [] };
  let chosen: ChosenModel | undefined;
  try {
    [chosen] = (await ports.models.chain(session.wanted, scope.signal)).candidates();
  } catch (error) {
    scope.signal.throwIfAborted();
    return { reply: messageOf(error), events: [] };
  }
  return chosen === undefined ? { reply: nothing, events: [] } : await compact(scope, chosen, budget);
}

const nothing = "There is nothing to summarise yet.";

function whyNot({ ports, session, message }: CommandScope): string | undefined {
  const { state } = session.document;
  if (isClosed(state)) return overSentence(state);
  if (ports.chat.isGroup(message) && !ports.chat.isOwner(message.channel, message.senderId))
    return "In a group only an owner of this assistant may have the conversation summarised.";
  // What it works with must not change under it.
  if (session.openTurn.length > 0) return "I am working on an answer. Send /compact again when it is there.";
  const { messages, tokens } = olderPart(session.history);
  if (messages === 0 || (messages === 1 && session.history.beginsWithSummary)) return nothing;
  return tokens < leastTokens
    ? `There is little to summarise: what was said before your last message takes about ${formatCount(tokens)} tokens. Nothing was changed.`
    : undefined;
}

async function compact(scope: CommandScope, chosen: ChosenModel, budget: TurnBudget): Promise<CommandOutcome> {
  const { ports, session, message, log, signal } = scope;
  const { history } = session;
  const before = olderPart(history);
  const [files, skills] = await Promise.all([ports.context.files(message), ports.context.skills("", undefined)]);
  const overhead = overheadOf(systemPrompt(files, skills.listing), ports.tools);
  const room = { history, currentTurnId: log.turnId, chosen, overhead, isWished: true };
  const change = await ports.context.compaction.plan(room, signal);
  if (change === undefined) return { reply: nothing, events: [] };
  const event = log.draft("context_compressed", change);
  const counts = budget.counts([event]);
  const after = estimateTokens(change.summary);
  if (after >= before.tokens)
    return { reply: "A summary would be longer than what was said. Nothing was changed.", events: [], counts };
  const how = change.strategy === "digest" ? "No model gave a summary, so I keep how each message began. " : "";
  const reply = `${how}I have summarised ${formatCount(before.messages)} older messages: about ${formatCount(before.tokens)} tokens have become ${formatCount(after)}. Your last message and its answer stay as they are.`;
  return { reply, events: [event], counts };
}
