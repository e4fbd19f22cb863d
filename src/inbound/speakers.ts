import type { PublishOutcome, ReceivedMessage } from "../channels/channel.js";
import type { Logger } from "../log.js";
import type { Pairing } from "../policy/pairing.js";
import type { Policy, SpeechDecision } from "../policy/policy.js";

/** Who wants to talk, and where. */
export type Speaking = Pick<ReceivedMessage, "chatId" | "chatType" | "addressed" | "senderId">;

export interface SpeakerPorts {
  readonly policy: Pick<Policy, "maySpeak">;
  readonly pairing: Pick<Pairing, "isPaired" | "request">;
  readonly log: Logger;
}

/** Who may talk, and what a stranger hears. */
export class Speakers {
  readonly #ports: SpeakerPorts;
  readonly #isPaired: Pairing["isPaired"];

  constructor(ports: SpeakerPorts) {
    this.#ports = ports;
    this.#isPaired = (channel, senderId) => ports.pairing.isPaired(channel, senderId);
  }

  decide(channel: string, { chatId, chatType, addressed, senderId }: Speaking): SpeechDecision {
    return this.#ports.policy.maySpeak({ channel, chatId, senderId, chatType, addressed }, this.#isPaired);
  }

  /** A stranger gets a code once, where pairing can let them in; in all other cases silence. */
  async turnAway(
    channel: string,
    { senderId, senderName }: ReceivedMessage,
    { reason }: Extract<SpeechDecision, { allowed: false }>,
  ): Promise<PublishOutcome> {
    if (reason !== "needs_pairing") return { status: "refused" };
    const { pairing, log } = this.#ports;
    const { code, isNew } = await pairing.request(channel, senderId, senderName);
    log.info(`${channel}: sender ${senderId} asks to be paired`, { sender: senderId });
    return isNew ? { status: "refused", reply: pairingText(code) } : { status: "refused" };
  }
}

function pairingText(code: string): string {
  return `I do not know you yet. Ask the owner of this assistant to run:\n\nmaxclaw pair approve ${code}\n\nThe code is valid for 10 minutes.`;
}
