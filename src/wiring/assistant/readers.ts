import type { InboundMessage } from "../../bus/messages.js";
import { isGroup } from "../../bus/replies.js";
import { platformOf } from "../../channels/platforms.js";
import type { LiveConfig } from "../../config/live/live-config.js";
import type { Config } from "../../config/schema.js";
import type { Records } from "../../engine/engine.js";
import { channelOf, chatOf } from "../../events/session-key.js";
import { createAudience, type Heard, type Readers } from "../../policy/audience.js";
import { heartbeatJob } from "../../schedule/heartbeat/job.js";
import { type JobOwner, job } from "../../schedule/job.js";
import { jobOwnerOf } from "../../schedule/job-owner.js";
import type { Core } from "../core/core.js";

/** Who reads along, as policy says it, for what the gateway knows about messages and sessions. */
export interface Readership {
  of(message: Pick<InboundMessage, "sessionKey" | "channel" | "chatId" | "senderId">): Readers;
  /** Of a session, no matter who writes there next. */
  ofSession(key: string): Readers;
  /** As it is at this moment, whatever the config says later. */
  now(): Pick<Readership, "of">;
}

export async function openReadership(
  { engine }: Pick<Core, "engine">,
  isAdded: (channel: string) => boolean,
  isOwner: (channel: string, senderId: string) => boolean,
  live: LiveConfig,
): Promise<Readership> {
  const jobs = await engine.records.open("cron");
  // Also while they are off, or in the config no longer: their chats stay what they are.
  const isBuiltIn = (name: string): boolean => platformOf(name) !== undefined && !isAdded(name);
  const open = ({ owners, heartbeat }: Config): ReadersOf =>
    createAudience({
      owners: owners.filter((owner) => isOwner(channelOf(owner), chatOf(owner))),
      platforms: { has: (name) => isBuiltIn(name) || isAdded(name) },
      plainIds: { has: isBuiltIn },
      chatOfJob: (sessionKey) => chatOfJob(sessionKey, { owners, heartbeat, jobs }),
    });
  let inForce = open(live.running);
  live.own({
    sections: ["owners", "heartbeat.chat"],
    apply(next) {
      inForce = open(next);
    },
  });
  const of = (readersOf: ReadersOf): Readership["of"] => {
    return (message) => readersOf(heardIn(message));
  };
  return {
    of: (message) => of(inForce)(message),
    ofSession: (sessionKey) => inForce({ sessionKey, channel: "webui", chatId: sessionKey, chatType: "dm" }),
    now: () => ({ of: of(inForce) }),
  };
}

type ReadersOf = ReturnType<typeof createAudience>;

function chatOfJob(
  sessionKey: string,
  { owners, heartbeat, jobs }: Pick<Config, "owners" | "heartbeat"> & { readonly jobs: Pick<Records, "get"> },
): Heard | undefined {
  const id = sessionKey.slice("cron:".length);
  // Without a chat of its own it speaks in an owner's direct chat, or on the page only.
  if (id.startsWith(`${heartbeatJob}-`)) return heardIn(jobOwnerOf(heartbeat.chat ?? `webui:${heartbeatJob}`, owners));
  const found = job.safeParse(jobs.get(id));
  return found.success ? heardIn(found.data.owner) : undefined;
}

function heardIn(place: Pick<JobOwner, "sessionKey" | "channel" | "chatId" | "senderId">): Heard {
  const { sessionKey, channel, chatId } = place;
  return { sessionKey, channel, chatId, chatType: isGroup(place) ? "group" : "dm" };
}
