import { commands } from "../../agent/commands/chat-command.js";
import type { ChannelStates } from "../../api/status/channel-states.js";
import { createPreviews, type Previews } from "../../bus/previews.js";
import type { Shape } from "../../bus/replies.js";
import type { Channel, OwnChannelContext, ReceivedMessage } from "../../channels/channel.js";
import type { CommonSection, OpenedPlatform, PlatformScope } from "../../channels/platform.js";
import {
  type ChannelSections,
  goesOnWith,
  openPlatform,
  platformNames,
  platformOf,
  shapeOf,
} from "../../channels/platforms.js";
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
  /** Opens the channels that these sections switch on, ends those that they switch off, and opens again what they change. */
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
  const open = (name: string, sections: ChannelSections): Promise<OpenedPlatform | undefined> =>
    openPlatform(name, sections, { ...scopeOf(options, forChannel(name), live), isShared: core.process.isClustered });
  const opened = new OpenedChannels(addedChannels(options, core, intake, forChannel), { open, records, core });
  await opened.openAll(config.config.channels);
  const { channels } = opened;
  const shapes = await loadShapes(channels);
  const previews = createPreviews({
    engine: core.engine,
    records: await core.engine.records.open("preview"),
    channels,
    lives: core.lives,
    log,
  });
  core.lives.onLeave("previews", (key) => previews.forgetSession(key));
  return {
    ...{ channels, webhooks, shapes, previews, off: opened.off },
    problems: () => opened.problems(),
    isAdded: (name) => opened.isAdded(name),
    follow: (sections, connections, states) => opened.follow(sections, connections, states),
  };
}

interface OpeningPorts {
  readonly open: (name: string, sections: ChannelSections) => Promise<OpenedPlatform | undefined>;
  readonly records: Pick<OpeningRecords, "opened">;
  readonly core: Pick<Core, "logEvent">;
}

/** The channels that are open, each with the section that it was opened with. */
class OpenedChannels {
  readonly channels: Map<string, Channel>;
  readonly off = new Map<string, string>();
  readonly #added: ReadonlySet<string>;
  readonly #sections = new Map<string, CommonSection | undefined>();
  readonly #problems = new Map<string, readonly string[]>();
  readonly #ports: OpeningPorts;

  /** `added`: those of extensions, which have no section. */
  constructor(added: readonly Channel[], ports: OpeningPorts) {
    this.channels = new Map(added.map((channel) => [channel.name, channel]));
    this.#added = new Set(this.channels.keys());
    this.#ports = ports;
  }

  isAdded(name: string): boolean {
    return this.#added.has(name);
  }

  problems(): readonly string[] {
    return [...this.#problems.values()].flat();
  }

  async openAll(sections: ChannelSections): Promise<void> {
    for (const name of Object.keys(sections)) await this.#open(name, sections);
    await this.#ports.records.opened();
  }

  async follow(sections: ChannelSections, connections: ComingAndGoing, states: ChannelStates): Promise<void> {
    const names = [...new Set([...this.#sections.keys(), ...Object.keys(sections)])].filter(
      (name) => !this.#added.has(name) && !goesOnWith(name, this.#sections.get(name), sections[name]),
    );
    // All of them end first: what one gives up, such as a token, another may have.
    for (const name of names.filter((each) => this.#sections.has(each))) {
      await connections.end(name);
      states.forget(name);
      for (const known of [this.off, this.#problems, this.#sections]) known.delete(name);
      // Replies go on by one that is opened again until the other takes its place.
      if (sections[name] === undefined) this.channels.delete(name);
    }
    for (const name of names.filter((each) => sections[each] !== undefined)) {
      await this.#open(name, sections);
      await this.#ports.records.opened();
      const channel = this.channels.get(name);
      if (channel !== undefined) connections.begin(channel);
      else states.turnOff(name, this.off.get(name) ?? "it cannot be used");
    }
  }

  async #open(name: string, sections: ChannelSections): Promise<void> {
    // It counts as opened also where opening fails: it is tried again with other settings.
    this.#sections.set(name, sections[name]);
    const opened = await this.#ports.open(name, sections);
    if (opened?.channel !== undefined) this.channels.set(name, opened.channel);
    else if (!this.#added.has(name)) this.channels.delete(name);
    if (opened?.off !== undefined) this.off.set(name, opened.off);
    this.#problems.set(name, opened?.problems ?? []);
    for (const setting of opened?.noted ?? [])
      this.#ports.core.logEvent(draft("settings_changed", { scope: "gateway", ...setting }, { source: "gateway" }));
  }
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
