import type { InboundMessage } from "../bus/messages.js";
import type { Delivery, StoredWork } from "../engine/engine.js";
import { EngineError } from "../errors.js";
import { parseCommand } from "./commands.js";
import type { AgentPorts } from "./ports.js";

type InboundWork = StoredWork<"inbound">;

/** Messages of the same chat that arrive while a turn runs. */
export interface Mailbox extends Disposable {
  /** Takes into the turn what its own sender has added since, in order; other people's messages wait. */
  takeAdditions(): Promise<readonly InboundMessage[]>;
  /** Resolves once {@link messageIds} names everything that has been taken. */
  settled(): Promise<void>;
  /** Ids of all messages that the turn answers, its own first. */
  readonly messageIds: readonly string[];
}

export interface MailboxOptions {
  readonly ports: Pick<AgentPorts, "engine" | "isOwner">;
  readonly delivery: Delivery<"inbound">;
  /** Messages that an earlier attempt had taken into the turn. */
  readonly rejoined: readonly string[];
  readonly onStop: (mode: "stop" | "cancel") => void;
}

export async function openMailbox({ ports, delivery, rejoined, onStop }: MailboxOptions): Promise<Mailbox> {
  const own = delivery.work.body;
  const messageIds = [own.id];
  let stopping: Promise<void> = Promise.resolve();
  const claim = async (works: readonly InboundWork[]): Promise<readonly InboundMessage[]> => {
    if (works.length === 0) return [];
    const claimed = await delivery.claim(works.map((work) => work.id));
    messageIds.push(...claimed.map((work) => work.id));
    return claimed.map((work) => work.body);
  };
  const others = (): readonly InboundWork[] =>
    ports.engine.waiting("inbound", own.sessionKey).filter((work) => !messageIds.includes(work.id));
  const mayStop = (message: InboundMessage): boolean =>
    (message.channel === own.channel && message.senderId === own.senderId) ||
    ports.isOwner(message.channel, message.senderId);

  const stopBy = async (work: InboundWork): Promise<void> => {
    try {
      if ((await claim([work])).length > 0) onStop("stop");
    } catch (error) {
      // The turn has just ended: the stop finds nothing to stop when its own turn comes.
      if (!(error instanceof EngineError)) throw error;
    }
  };
  const onAccepted = (work: InboundWork): void => {
    if (!mayStop(work.body)) return;
    if (parseCommand(work.body.content)?.name === "stop")
      stopping = Promise.all([stopping, stopBy(work)]).then(() => undefined);
    else if (work.body.mode === "cancel") onStop("cancel");
  };
  const undo = ports.engine.onAccepted(own.sessionKey, onAccepted);
  await claim(others().filter((work) => rejoined.includes(work.id)));
  // What was accepted before this turn listened counts as well.
  for (const work of others()) onAccepted(work);
  await stopping;

  return {
    messageIds,
    settled: () => stopping,
    async takeAdditions() {
      const additions: InboundWork[] = [];
      for (const work of others()) {
        const { body } = work;
        if (body.channel !== own.channel || body.senderId !== own.senderId) break;
        if (body.mode === "next" || body.mode === "cancel" || parseCommand(body.content) !== undefined) break;
        additions.push(work);
      }
      return await claim(additions);
    },
    [Symbol.dispose]: undo,
  };
}
