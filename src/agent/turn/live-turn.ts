import type { TurnBudget } from "../../budgets/turn-budget.js";
import { newId } from "../../util/ids.js";
import { endsPlan } from "../commands/plan.js";
import { payerOf } from "../model/payer.js";
import { HumanInput } from "../questions/human-input.js";
import { openTurnLog } from "./attempt.js";
import { Interruption } from "./interruption.js";
import { Mailbox } from "./mailbox.js";
import { type EarlierAttempts, readEarlierAttempts } from "./resume.js";
import type { TurnScope } from "./scope.js";
import type { TurnLog } from "./turn-log.js";

/** A turn that runs: its log, its budget, and what can reach it meanwhile. */
export interface LiveTurn {
  readonly scope: TurnScope;
  /** Unix ms. */
  readonly startedAt: number;
  /** What the attempts before this one have left, if there were any. */
  readonly earlier: EarlierAttempts | undefined;
  readonly budget: TurnBudget;
  readonly log: TurnLog;
  /** Its questions to its people. */
  readonly human: HumanInput;
  /** What arrives in its chat while it runs. */
  readonly mailbox: Mailbox;
  readonly interruption: Interruption;
}

/** Opens a turn for one attempt, runs `work` with it, and lets go of it. `signal` is the attempt's. */
export async function withLiveTurn(
  scope: TurnScope,
  signal: AbortSignal,
  work: (turn: LiveTurn) => Promise<void>,
): Promise<void> {
  const { ports, delivery, session } = scope;
  const message = delivery.work.body;
  const startedAt = Date.now();
  const earlier = readEarlierAttempts(session.openTurn, message.id);
  const turnId = earlier?.turnId ?? newId("turn");
  const conversation = await ports.tasks.conversationOf(session);
  using budget = ports.budgets.open({ turnId, conversation, ...payerOf(message) });
  const log = openTurnLog(scope, turnId, earlier, budget);
  const interruption = new Interruption(signal);
  using _running = ports.running.begin(message.sessionKey, {
    turnId,
    senderId: message.senderId,
    interrupt: (why) => interruption.interrupt(why),
    startedAt,
  });
  const human = new HumanInput({
    ports,
    delivery,
    log,
    machines: scope.machines,
    earlier: earlier?.questions ?? [],
    signal: interruption.signal,
    stopping: signal,
    giveBack: () => interruption.interrupt({ kind: "shutdown" }),
  });
  using mailbox = await Mailbox.open({
    ports,
    delivery,
    rejoined: [...(earlier?.messageIds ?? []), ...(earlier?.answeredBy ?? []), ...(earlier?.begunWith ?? [])],
    onStop: (mode) => interruption.interrupt({ kind: "user", mode }),
    reserveAnswer: (answer) => human.reserve(answer),
    endsPlan: (content) => endsPlan(content, session.plan.current),
  });
  human.reconsider = (sinceMs) => mailbox.reconsider(sinceMs);
  await work({ scope, startedAt, earlier, budget, log, human, mailbox, interruption });
}
