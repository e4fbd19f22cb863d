import type { GatewayEvent } from "../../events/event.js";
import { clientChannels } from "../../events/session-key.js";
import { type JobOwner, jobOwner } from "../job.js";
import { jobOwnerOf } from "../job-owner.js";
import type { ScheduleRecords } from "../records.js";
import { heartbeatPrefix } from "./job.js";

const nobody: JobOwner = { channel: "webui", chatId: "heartbeat", senderId: "owner", sessionKey: "webui:heartbeat" };
const lastChat = "chat";

export interface HeartbeatChatPorts {
  /** `channel:chat` of the config; undefined: where an owner wrote last. */
  readonly chat: string | undefined;
  /** `channel:sender` from the config. */
  readonly owners: () => readonly string[];
  readonly isOwner: (channel: string, senderId: string) => boolean;
  readonly records: Pick<ScheduleRecords, "get" | "put">;
  readonly sessions: { keys(isWanted: (key: string) => boolean): Promise<readonly string[]> };
}

/** Where heartbeats speak. */
export class HeartbeatChat {
  readonly #ports: HeartbeatChatPorts;

  constructor(ports: HeartbeatChatPorts) {
    this.#ports = ports;
  }

  async find(): Promise<JobOwner> {
    const { chat, isOwner, records, sessions } = this.#ports;
    const owners = this.#ports.owners();
    if (chat !== undefined) return jobOwnerOf(chat, owners);
    const last = jobOwner.safeParse(records.get(lastChat));
    // Who wrote there may not be an owner any more.
    if (last.success && isOwner(last.data.channel, last.data.senderId)) return last.data;
    // Nobody has written since it is on: an owner's own chat is called after them on most platforms.
    const [own] = await sessions.keys((key) => owners.includes(key));
    return own === undefined ? nobody : jobOwnerOf(own, owners);
  }

  /** Keeps in which chat an owner writes. */
  async note(event: GatewayEvent): Promise<void> {
    const { records, isOwner } = this.#ports;
    const chat = ownersChat(event, isOwner);
    if (chat !== undefined && JSON.stringify(records.get(lastChat)) !== JSON.stringify(chat))
      await records.put(lastChat, chat);
  }
}

/** The direct chat that an owner writes in, by one of their messages. What the gateway itself sends there is none. */
function ownersChat(event: GatewayEvent, isOwner: HeartbeatChatPorts["isOwner"]): JobOwner | undefined {
  if (event.type !== "user_message_queued") return undefined;
  const { channel, chat_id: chatId, sender_id: senderId, thread, message_id: id } = event.payload;
  const isByPerson = !id.startsWith("cron:") && !id.startsWith(heartbeatPrefix);
  if (!isByPerson || clientChannels.has(channel) || chatId !== senderId || !isOwner(channel, senderId))
    return undefined;
  return { channel, chatId, senderId, sessionKey: event.session_key, ...(thread === undefined ? {} : { thread }) };
}
