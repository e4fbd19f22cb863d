import type { TurnBudget } from "../../budgets/turn-budget.js";
import { newId } from "../../util/ids.js";
import { endsPlan } from "../commands/plan.js";
import { payerOf } from "../model/payer.js";
import { HumanInput } from "../questions/human-input.js";
import { openTurnLog } from "./attempt.js";
import { Beside } from "./beside.js";
import { type Interrupt, Interruption } from "./ending/interruption.js";
import { Mailbox } from "./mailbox.js";
import { type EarlierAttempts, readEarlierAttempts } from "./resume.js";
import type { TurnScope } from "./scope.js";
import type { TurnLog } from "./turn-log.js";

/** A turn that runs: its log, its budget, and what can reach it meanwhile. */
export interface LiveTurn extends Disposable {
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

/** Opens a turn for one attempt, whose signal this is. */
export async function openLiveTurn(scope: TurnScope, signal: AbortSignal): Promise<LiveTurn> {
  const { ports, delivery, session } = scope;
  const message = delivery.work.body;
  const startedAt = Date.now();
  const earlier = readEarlierAttempts(session.openTurn, message.id);
  const turnId = earlier?.turnId ?? newId("turn");
  const conversation = await ports.tasks.conversationOf(session);
  const budget = ports.budgets.open({ turnId, conversation, ...payerOf(message) });
  const log = openTurnLog(scope, turnId, earlier, budget);
  const interruption = new Interruption(signal);
  const interrupt = (why: Interrupt): void => interruption.interrupt(why);
  const { senderId, sessionKey } = message;
  const running = ports.sessions.running.begin(sessionKey, { turnId, senderId, interrupt, startedAt });
  const human = new HumanInput({
    chat: ports.chat,
    delivery,
    log,
    machines: scope.machines,
    earlier: earlier?.questions ?? [],
    signal: interruption.signal,
    stopping: signal,
    giveBack: () => interrupt({ kind: "shutdown" }),
  });
  const close = (): void => {
    running[Symbol.dispose]();
    budget[Symbol.dispose]();
  };
  try {
    const beside = new Beside({ scope, log, human, signal: interruption.signal });
    const mailbox = await openMailbox({ scope, earlier, human, beside, interrupt });
    const dispose = (): void => {
      mailbox[Symbol.dispose]();
      close();
    };
    return { scope, startedAt, earlier, budget, log, human, mailbox, interruption, [Symbol.dispose]: dispose };
  } catch (error) {
    close();
    throw error;
  }
}

/** What arrives stops the turn, or answers its questions. */
async function openMailbox({ scope, earlier, human, beside, interrupt }: MailboxParts): Promise<Mailbox> {
  const { ports, delivery, session } = scope;
  const mailbox = await Mailbox.open({
    ports,
    delivery,
    rejoined: [...(earlier?.messageIds ?? []), ...(earlier?.answeredBy ?? []), ...(earlier?.begunWith ?? [])],
    onStop: (mode) => interrupt({ kind: "user", mode }),
    reserveAnswer: (answer) => human.reserve(answer),
    beside: (command) => beside.of(command),
    endsPlan: (content) => endsPlan(content, session.plan.current),
  });
  human.onAsked = () => mailbox.onAsked();
  human.reconsider = (sinceMs) => mailbox.reconsider(sinceMs);
  return mailbox;
}

interface MailboxParts extends Pick<LiveTurn, "scope" | "earlier" | "human"> {
  readonly beside: Beside;
  readonly interrupt: (why: Interrupt) => void;
}
