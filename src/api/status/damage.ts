import type { MessageBus } from "../../bus/message-bus.js";
import type { Engine } from "../../engine/engine.js";
import {
  damageKind,
  damageSentence,
  isStillTold,
  type LogDamage,
  lostEvents,
  parseLogDamage,
} from "../../engine/log-damage.js";
import { messageOf } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import { channelOf, chatOf, clientChannels, rootKeyOf } from "../../events/session-key.js";
import type { Logger } from "../../log.js";
import { InOrder } from "../../util/async/in-order.js";
import { derivedId } from "../../util/ids.js";

const headEvents = 200;

/** A sentence for each session log that was damaged, until its owner has seen it. */
export async function damagedLogs(engine: Pick<Engine, "records">): Promise<readonly string[]> {
  const records = await engine.records.open(damageKind);
  return records.list().flatMap(({ id, value }) => {
    const damage = parseLogDamage(value);
    return damage === undefined || !isStillTold(damage) ? [] : [damageSentence(id, damage)];
  });
}

export interface DamagePorts {
  readonly engine: Pick<Engine, "records" | "events">;
  readonly sessions: { exists(key: string): Promise<boolean> };
  readonly messages: Pick<MessageBus, "publishOutbound">;
  /** `channel:sender` from the config. */
  readonly owners: () => readonly string[];
  /** Owners are written to where they are met alone. */
  readonly isOwner: (channel: string, senderId: string) => boolean;
  readonly channels: { has(name: string): boolean };
  readonly log: Logger;
}

interface Address {
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string | undefined;
}

/** Notifies the people of a chat whose log was damaged, and the owners, once. */
export class DamageNotices {
  readonly #ports: DamagePorts;
  readonly #inOrder = new InOrder();

  constructor(ports: DamagePorts) {
    this.#ports = ports;
  }

  /** Also sends the notices that an earlier run had no time for. Returns the undo. */
  start(events: EventConsumer): () => void {
    this.#begin();
    return events.on("session_log_mended", () => this.#begin());
  }

  #begin(): void {
    this.#inOrder
      .run(() => this.#notifyAll())
      .catch((error: unknown) => {
        this.#ports.log.warn(
          `A damaged log could not be reported; this is tried again at the next start: ${messageOf(error)}`,
        );
      });
  }

  async #notifyAll(): Promise<void> {
    const records = await this.#ports.engine.records.open(damageKind);
    for (const { id: key, value } of records.list()) {
      const damage = parseLogDamage(value);
      if (damage === undefined || damage.isTold) continue;
      await this.#notify(key, damage);
      await records.update(key, (value) => {
        const now = parseLogDamage(value);
        return now?.eventId === damage.eventId ? { ...now, isTold: true } : value;
      });
    }
  }

  async #notify(key: string, damage: LogDamage): Promise<void> {
    const { channels, owners, isOwner, sessions } = this.#ports;
    const chat = key === rootKeyOf(key) ? await this.#addressOf(key) : undefined;
    const inChat = chat !== undefined && channels.has(chat.channel);
    if (inChat) await this.#send(chat, key, damage, chatText(damage));
    for (const owner of new Set(owners())) {
      const to = { channel: channelOf(owner), chatId: chatOf(owner) };
      const isSame = inChat && to.channel === chat.channel && to.chatId === chat.chatId;
      if (isSame || !channels.has(to.channel) || !isOwner(to.channel, to.chatId)) continue;
      if (await sessions.exists(owner)) await this.#send(to, key, damage, damageSentence(key, damage));
    }
  }

  async #send(to: Address, about: string, damage: LogDamage, content: string): Promise<void> {
    const id = derivedId("msg", damage.eventId, to.channel, to.chatId);
    const queuedEventId = derivedId("evt", damage.eventId, to.channel, to.chatId);
    // It belongs to the damaged conversation, whose log tells what was sent to whom.
    const message = { ...to, id: `${id}#1`, sessionKey: about, content, attachments: [] };
    await this.#ports.messages.publishOutbound({ ...message, queuedEventId }, damage.eventId);
  }

  /** Where the people of a session are; undefined for those who read its events themselves. */
  async #addressOf(key: string): Promise<Address | undefined> {
    if (clientChannels.has(channelOf(key)) || channelOf(key) === "system") return undefined;
    const { events } = await this.#ports.engine.events(key, { afterSeq: 0, limit: headEvents });
    for (const event of events)
      if (event.type === "user_message_queued") {
        const { channel, chat_id: chatId, thread } = event.payload;
        return { channel, chatId, ...(thread === undefined ? {} : { thread }) };
      }
    return { channel: channelOf(key), chatId: chatOf(key) };
  }
}

function chatText(damage: LogDamage): string {
  if (lostEvents(damage) === 0)
    return "What I have stored of this conversation was damaged on my disk. I could restore all of it.";
  return "What I have stored of this conversation was damaged on my disk. I have restored what I could read; a part of our history may be missing. Please tell me again what matters.";
}
