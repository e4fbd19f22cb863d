import {
  damageKind,
  damageSentence,
  isKept,
  type LogDamage,
  lostEvents,
  parseLogDamage,
} from "../engine/log-damage.js";
import { messageOf } from "../errors.js";
import { channelOf, chatOf, clientChannels, rootKeyOf } from "../events/session-key.js";
import { InOrder } from "../util/async/in-order.js";
import { derivedId } from "../util/ids.js";
import type { Assistant } from "./assistant.js";
import type { Core } from "./core.js";
import type { GatewayOptions } from "./options.js";

const headEvents = 200;

/** A sentence for each session log that was damaged, as long as the damaged file is there. */
export function damagedLogs({ engine }: Pick<Core, "engine">): readonly string[] {
  return engine
    .records(damageKind)
    .list()
    .flatMap(({ id, value }) => {
      const damage = parseLogDamage(value);
      return damage === undefined || !isKept(damage) ? [] : [damageSentence(id, damage)];
    });
}

/** Tells the people of a chat whose log was damaged, and the owners, once; also what an earlier run had no time for. */
export function tellOfDamage(
  { config: { config }, log }: GatewayOptions,
  core: Core,
  assistant: Assistant,
): () => void {
  const { engine, events, messages, sessions } = core;
  const records = engine.records(damageKind);
  const { channels, isOwner } = assistant;

  const send = async (to: Address, about: string, damage: LogDamage, content: string): Promise<void> => {
    const id = derivedId("msg", damage.eventId, to.channel, to.chatId);
    const queuedEventId = derivedId("evt", damage.eventId, to.channel, to.chatId);
    // It belongs to the damaged conversation, whose log tells what was sent to whom.
    const message = { ...to, id: `${id}#1`, sessionKey: about, content, attachments: [] };
    await messages.publishOutbound({ ...message, queuedEventId }, damage.eventId);
  };

  const tell = async (key: string, damage: LogDamage): Promise<void> => {
    const chat = key === rootKeyOf(key) ? await addressOf(core, key) : undefined;
    const inChat = chat !== undefined && channels.has(chat.channel);
    if (inChat) await send(chat, key, damage, chatText(damage));
    for (const owner of new Set(config.owners)) {
      const to = { channel: channelOf(owner), chatId: chatOf(owner) };
      const isSame = inChat && to.channel === chat.channel && to.chatId === chat.chatId;
      if (isSame || !channels.has(to.channel) || !isOwner(to.channel, to.chatId)) continue;
      if (await sessions.exists(owner)) await send(to, key, damage, damageSentence(key, damage));
    }
  };

  const tellAll = async (): Promise<void> => {
    for (const { id: key, value } of records.list()) {
      const damage = parseLogDamage(value);
      if (damage === undefined || damage.isTold) continue;
      await tell(key, damage);
      const now = parseLogDamage(records.get(key));
      if (now?.eventId === damage.eventId) await records.put(key, { ...now, isTold: true });
    }
  };
  const inOrder = new InOrder();
  const start = (): void => {
    inOrder.run(tellAll).catch((error: unknown) => {
      log.warn(`That a log was damaged could not be told; it is tried again at the next start: ${messageOf(error)}`);
    });
  };
  start();
  return events.on("session_log_mended", start);
}

interface Address {
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string | undefined;
}

/** Where the people of a session are; undefined for those who read its events themselves. */
async function addressOf({ engine }: Core, key: string): Promise<Address | undefined> {
  if (clientChannels.has(channelOf(key)) || channelOf(key) === "system") return undefined;
  const { events } = await engine.events(key, { afterSeq: 0, limit: headEvents });
  for (const event of events)
    if (event.type === "user_message_queued") {
      const { channel, chat_id: chatId, thread } = event.payload;
      return { channel, chatId, ...(thread === undefined ? {} : { thread }) };
    }
  return { channel: channelOf(key), chatId: chatOf(key) };
}

function chatText(damage: LogDamage): string {
  if (lostEvents(damage) === 0)
    return "What I have stored of this conversation was damaged on my disk. I could restore all of it.";
  return "What I have stored of this conversation was damaged on my disk. I have restored what I could read; a part of our history may be missing. Please tell me again what matters.";
}
