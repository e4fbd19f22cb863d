import { commands } from "../../agent/commands/chat-command.js";
import { createPreviews, type Previews } from "../../bus/previews.js";
import type { Shape } from "../../bus/replies.js";
import type { Channel, OwnChannelContext, ReceivedMessage } from "../../channels/channel.js";
import { openPlatform, platformNames, shapeOf } from "../../channels/platforms.js";
import { draft } from "../../events/event.js";
import type { Intake } from "../../inbound/intake.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";
import { OpeningRecords } from "./channel-records.js";

const commandMenu = Object.entries(commands).map(([command, description]) => ({ command, description }));

/** Where people are met. */
export interface Channels {
  readonly channels: ReadonlyMap<string, Channel>;
  /** How replies are cut, also those of channels that are off. */
  readonly shapes: ReadonlyMap<string, Shape>;
  readonly previews: Previews;
  /** Why channels that the config switches on are off. */
  readonly off: ReadonlyMap<string, string>;
  /** What people should know of channels, as sentences. */
  readonly problems: readonly string[];
}

/** The channels of extensions and of the config. A platform's code is loaded only when its channel is on. */
export async function openChannels(options: GatewayOptions, core: Core, intake: Intake): Promise<Channels> {
  const { config, home, log } = options;
  const records = new OpeningRecords(core.engine);
  const forChannel = contextsOf(options, core, intake, records);
  const channels = new Map(addedChannels(options, core, intake, forChannel).map((channel) => [channel.name, channel]));
  const off = new Map<string, string>();
  const problems: string[] = [];
  for (const name of platformNames) {
    const scope = { context: forChannel(name), home, commands: commandMenu, log };
    const opened = await openPlatform(name, config.config.channels, scope);
    if (opened?.channel !== undefined) channels.set(name, opened.channel);
    if (opened?.off !== undefined) off.set(name, opened.off);
    problems.push(...(opened?.problems ?? []));
    for (const setting of opened?.noted ?? [])
      core.logEvent(draft("settings_changed", { scope: "gateway", ...setting }, { source: "gateway" }));
  }
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
  return { channels, shapes, previews, off, problems };
}

type ContextOf = (name: string) => OwnChannelContext;

function contextsOf({ pauses }: GatewayOptions, { engine }: Core, intake: Intake, records: OpeningRecords): ContextOf {
  return (name) => ({
    cursor: (cursor) => engine.cursor(cursor),
    actsAtOnce: (message) => intake.actsAtOnce(name, message),
    press: (press) => intake.press(name, press),
    records: records.of(name),
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
async function loadShapes(channels: ReadonlyMap<string, Channel>): Promise<ReadonlyMap<string, Shape>> {
  const shapes = new Map<string, Shape>(channels);
  for (const name of platformNames) {
    if (shapes.has(name)) continue;
    const shape = await shapeOf(name);
    if (shape !== undefined) shapes.set(name, shape);
  }
  return shapes;
}
