import { commands } from "../../agent/commands/chat-command.js";
import type { ChannelStates } from "../../api/status/channel-states.js";
import { createPreviews, type Previews } from "../../bus/previews.js";
import type { Shape } from "../../bus/replies.js";
import type { Channel, OwnChannelContext, ReceivedMessage } from "../../channels/channel.js";
import type { PlatformScope } from "../../channels/platform.js";
import { isPermitted, openPlatform, platformNames, platformOf, shapeOf } from "../../channels/platforms.js";
import { OpenWebhookPaths } from "../../channels/wire/webhook-paths.js";
import type { LiveConfig } from "../../config/live/live-config.js";
import type { Config } from "../../config/schema.js";
import { draft } from "../../events/event.js";
import type { Intake } from "../../inbound/intake.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";
import { OpeningRecords } from "./channel-records.js";

const commandMenu = Object.entries(commands).map(([command, description]) => ({ command, description }));

/** Where people are met. */
export interface Channels {
  readonly channels: ReadonlyMap<string, Channel>;
  /** What platforms bring to the gateway's own HTTP server. */
  readonly webhooks: Pick<OpenWebhookPaths, "find">;
  /** How replies are cut, also those of channels that are off. */
  readonly shapes: Pick<ReadonlyMap<string, Shape>, "get">;
  readonly previews: Previews;
  /** Why channels that the config switches on are off. */
  readonly off: ReadonlyMap<string, string>;
  /** What people should know about channels, as sentences. */
  readonly problems: () => readonly string[];
  /** It comes from an extension, and not from a section of the config. */
  isAdded(name: string): boolean;
  /** Opens the channels that these sections switch on, and ends those that they switch off. */
  follow(sections: Config["channels"], connections: ComingAndGoing, states: ChannelStates): Promise<void>;
}

/** Of a channel's connection. */
interface ComingAndGoing {
  begin(channel: Channel): void;
  end(name: string): Promise<void>;
}

/** The channels of extensions and of the config. A platform's code is loaded only when its channel is on. */
export async function openChannels(
  options: GatewayOptions,
  core: Core,
  intake: Intake,
  live: Pick<LiveConfig, "running">,
): Promise<Channels> {
  const { config, log } = options;
  const records = new OpeningRecords(core.engine);
  const webhooks = new OpenWebhookPaths();
  const forChannel = contextsOf(options, core, intake, { records, webhooks });
  const channels = new Map(addedChannels(options, core, intake, forChannel).map((channel) => [channel.name, channel]));
  const off = new Map<string, string>();
  const problems = new Map<string, readonly string[]>();
  const added = new Set(channels.keys());
  const permitted = new Set<string>();
  const open = async (name: string, sections: Config["channels"]): Promise<void> => {
    if (isPermitted(name, sections)) permitted.add(name);
    const opened = await openPlatform(name, sections, {
      ...scopeOf(options, forChannel(name), live),
      isShared: core.process.isClustered,
    });
    if (opened?.channel !== undefined) channels.set(name, opened.channel);
    if (opened?.off !== undefined) off.set(name, opened.off);
    problems.set(name, opened?.problems ?? []);
    for (const setting of opened?.noted ?? [])
      core.logEvent(draft("settings_changed", { scope: "gateway", ...setting }, { source: "gateway" }));
  };
  for (const name of Object.keys(config.config.channels)) await open(name, config.config.channels);
  const shapes = await loadShapes(channels);
  await records.opened();
  const previews = createPreviews({
    engine: core.engine,
    records: await core.engine.records.open("preview"),
    channels,
    lives: core.lives,
    log,
  });
  core.lives.onLeave("previews", (key) => previews.forgetSession(key));
  const follow: Channels["follow"] = async (sections, connections, states) => {
    const names = new Set([...channels.keys(), ...off.keys(), ...permitted, ...Object.keys(sections)]);
    for (const name of [...names].filter((each) => !added.has(each))) {
      const isWanted = sections[name] !== undefined;
      const isKnown = channels.has(name) || off.has(name);
      if (isWanted === isKnown && isPermitted(name, sections) === permitted.has(name)) continue;
      if (isKnown) {
        await connections.end(name);
        states.forget(name);
        for (const known of [channels, off, problems, permitted]) known.delete(name);
      }
      if (!isWanted) continue;
      await open(name, sections);
      await records.opened();
      const channel = channels.get(name);
      if (channel !== undefined) connections.begin(channel);
      else states.turnOff(name, off.get(name) ?? "it cannot be used");
    }
  };
  const isAdded = (name: string): boolean => added.has(name);
  return { channels, webhooks, shapes, previews, off, problems: () => [...problems.values()].flat(), isAdded, follow };
}

function scopeOf(
  { home, log }: GatewayOptions,
  context: OwnChannelContext,
  live: Pick<LiveConfig, "running">,
): PlatformScope {
  const trustedProxies = (): readonly string[] => live.running.gateway.trustedProxies;
  return { context, home, trustedProxies, log };
}

type ContextOf = (name: string) => OwnChannelContext;

function contextsOf(
  { pauses, http }: GatewayOptions,
  { engine }: Core,
  intake: Intake,
  { records, webhooks }: { readonly records: OpeningRecords; readonly webhooks: OpenWebhookPaths },
): ContextOf {
  return (name) => ({
    cursor: (cursor) => engine.cursor(cursor),
    actsAtOnce: (message) => intake.actsAtOnce(name, message),
    press: (press) => intake.press(name, press),
    mayTalk: (senderId, groupId) => intake.mayTalk(name, senderId, groupId),
    records: records.of(name),
    commands: commandMenu,
    ...(http === false ? {} : { webhooks }),
    sendTimeoutMs: pauses?.sendTimeoutMs,
  });
}

/** Those of extensions, and of programs that have the gateway as a library. */
function addedChannels(
  { added, pauses }: GatewayOptions,
  { engine }: Core,
  intake: Intake,
  forChannel: ContextOf,
): readonly Channel[] {
  const own = new Set<string>();
  // For channels that do not ask for a context of their own: whatever acts at once in a chat of this name does so in each.
  const actsAtOnce = (message: ReceivedMessage): boolean => [...own].some((name) => intake.actsAtOnce(name, message));
  const cursor = (name: string): Promise<string | undefined> => engine.cursor(name);
  const { sendTimeoutMs } = pauses ?? {};
  const channels = added?.platforms?.({ cursor, actsAtOnce, sendTimeoutMs, forChannel }) ?? [];
  for (const { name } of channels) own.add(name);
  return channels;
}

/**
 * How the replies of each channel are cut, also of those that are off: what is queued for them has to fit when they are
 * back. Others than these carry any text whole, or are not known while they are off.
 */
async function loadShapes(channels: ReadonlyMap<string, Channel>): Promise<Channels["shapes"]> {
  const ofPlatforms = new Map<string, Shape | undefined>();
  for (const name of platformNames) ofPlatforms.set(name, await shapeOf(name));
  return { get: (name) => channels.get(name) ?? ofPlatforms.get(platformOf(name) ?? "") };
}
