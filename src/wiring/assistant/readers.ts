import type { InboundMessage } from "../../bus/messages.js";
import { isGroup } from "../../bus/replies.js";
import { platformNames } from "../../channels/platforms.js";
import { channelOf, chatOf } from "../../events/session-key.js";
import { createAudience, type Heard, type Readers } from "../../policy/audience.js";
import { heartbeatJob } from "../../schedule/heartbeat/job.js";
import { type JobOwner, job } from "../../schedule/job.js";
import { jobOwnerOf } from "../../schedule/job-owner.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";

/** Who reads along, as policy says it, for what the gateway knows about messages and sessions. */
export interface Readership {
  of(message: Pick<InboundMessage, "sessionKey" | "channel" | "chatId" | "senderId">): Readers;
  /** Of a session, no matter who writes there next. */
  ofSession(key: string): Readers;
}

export async function openReadership(
  { config: { config } }: GatewayOptions,
  { engine }: Pick<Core, "engine">,
  channels: Iterable<string>,
  isOwner: (channel: string, senderId: string) => boolean,
): Promise<Readership> {
  const { owners, heartbeat } = config;
  const jobs = await engine.records.open("cron");
  const chatOfJob = (sessionKey: string): Heard | undefined => {
    const id = sessionKey.slice("cron:".length);
    if (id.startsWith(`${heartbeatJob}-`)) {
      // Without a chat of its own it speaks in an owner's direct chat, or on the page only.
      return heardIn(jobOwnerOf(heartbeat.chat ?? `webui:${heartbeatJob}`, owners));
    }
    const found = job.safeParse(jobs.get(id));
    return found.success ? heardIn(found.data.owner) : undefined;
  };
  const readersOf = createAudience({
    owners: owners.filter((owner) => isOwner(channelOf(owner), chatOf(owner))),
    // Also while they are off: their chats stay what they are.
    platforms: new Set([...platformNames, ...Object.keys(config.channels), ...channels]),
    plainIds: new Set(platformNames),
    chatOfJob,
  });
  return {
    of: (message) => readersOf(heardIn(message)),
    ofSession: (sessionKey) => readersOf({ sessionKey, channel: "webui", chatId: sessionKey, chatType: "dm" }),
  };
}

function heardIn(place: Pick<JobOwner, "sessionKey" | "channel" | "chatId" | "senderId">): Heard {
  const { sessionKey, channel, chatId } = place;
  return { sessionKey, channel, chatId, chatType: isGroup(place) ? "group" : "dm" };
}
