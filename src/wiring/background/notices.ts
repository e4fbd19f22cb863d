import { notifyOwnersOfQuestions } from "../../agent/questions/owner-notices.js";
import { DamageNotices } from "../../api/status/damage.js";
import type { Releases } from "../../util/async/releases.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";

/** What owners are told in their own chats without having asked. */
export function startNotices(
  { log }: GatewayOptions,
  { engine, ownEvents: events, sessions, messages }: Core,
  { people: { isOwner, owners }, platforms: { channels }, readers }: Assistant,
  releases: Releases,
): void {
  const isOwnersChat = (key: string): boolean => readers.ofSession(key).audience === "owner";
  const to = { sessions, messages, owners, isOwner, channels, log };
  releases.defer(notifyOwnersOfQuestions({ ...to, events, isOwnersChat }));
  const damage = new DamageNotices({ ...to, engine });
  releases.defer(damage.start(events));
}
