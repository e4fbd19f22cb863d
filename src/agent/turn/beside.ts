import type { InboundMessage } from "../../bus/messages.js";
import { messageOf } from "../../errors.js";
import { InOrder } from "../../util/async/in-order.js";
import { type ChatCommand, commandOf, type UnknownCommand } from "../commands/chat-command.js";
import { leavesPlan } from "../commands/plan.js";
import { runCommand } from "../commands/run.js";
import type { CommandOutcome } from "../commands/scope.js";
import { failureText, sentenceFor } from "../model/sentences.js";
import type { HumanInput } from "../questions/human-input.js";
import type { AtOnce } from "./mailbox.js";
import { isReadByOwner, noticeMessage, queuedReplies } from "./own-words.js";
import type { TurnScope } from "./scope.js";
import type { TurnLog } from "./turn-log.js";

interface BesideParts {
  readonly scope: TurnScope;
  readonly log: TurnLog;
  readonly human: Pick<HumanInput, "isAsking">;
  readonly signal: AbortSignal;
}

type Command = ChatCommand | UnknownCommand;

/** Commands that come while the turn waits for a person. None of them waits behind the question. */
export class Beside {
  readonly #parts: BesideParts;
  readonly #inOrder = new InOrder();

  constructor(parts: BesideParts) {
    this.#parts = parts;
  }

  /** `ends`: what it changes is what the turn works with. Undefined where nobody is asked, and for a stop. */
  of(message: InboundMessage): AtOnce | undefined {
    const command = commandOf(message);
    if (command === undefined || command.name === "stop") return undefined;
    const { human, scope } = this.#parts;
    const { session, ports } = scope;
    const isEnding = !leavesTurn(command, session.plan.current);
    if (isEnding) return human.isAsking ? "ends" : undefined;
    // A sub-agent's question is asked in the same chat.
    const isAsked = human.isAsking || (session.openTurn.length > 0 && ports.chat.questions.isAskingIn(session.key));
    return isAsked ? () => this.#inOrder.run(() => this.#answer(message, command)) : undefined;
  }

  async #answer(message: InboundMessage, command: Command): Promise<void> {
    const { log, scope } = this.#parts;
    const { reply, events } = await this.#run(message, command);
    const replies = scope.ports.chat.replies(message, `${log.turnId}-${message.id}`, reply, log.turnId);
    const { draft } = noticeMessage(log, reply, undefined, message.id);
    const drafts = [...events.map((event) => log.adopt(event)), draft, ...queuedReplies(log, replies)];
    await log.append(drafts, true, replies);
  }

  /** It is this turn's by now: a fault of ours must not leave its sender without a word. */
  async #run(message: InboundMessage, command: Command): Promise<CommandOutcome> {
    const { log, signal, scope } = this.#parts;
    const { ports, session } = scope;
    try {
      return await runCommand(command, { ports, session, message, log, signal });
    } catch (error) {
      ports.log.error(`A command failed: ${messageOf(error)}`, { session: session.key, error });
      const isOwner = isReadByOwner(ports.chat, message);
      return { reply: failureText(sentenceFor("UNKNOWN"), log.turnId, isOwner), events: [] };
    }
  }
}

function leavesTurn({ name, argument }: Command, plan: Parameters<typeof leavesPlan>[1]): boolean {
  if (name === "new" || name === "undo") return false;
  return name !== "plan" || leavesPlan(argument, plan);
}
