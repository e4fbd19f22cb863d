import { notifyOwnersOfQuestions } from "../../agent/questions/owner-notices.js";
import { DamageNotices } from "../../api/status/damage.js";
import type { Releases } from "../../util/async/releases.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";

/** What owners are told in their own chats without having asked. */
export function startNotices(
  { config: { config }, log }: GatewayOptions,
  { engine, events, sessions, messages }: Core,
  { people: { isOwner }, platforms: { channels }, readers }: Assistant,
  releases: Releases,
): void {
  const { owners } = config;
  const isOwnersChat = (key: string): boolean => readers.ofSession(key).audience === "owner";
  releases.defer(notifyOwnersOfQuestions({ events, sessions, messages, owners, isOwner, isOwnersChat, channels, log }));
  const damage = new DamageNotices({ engine, sessions, messages, owners, isOwner, channels, log });
  releases.defer(damage.start(events));
}
