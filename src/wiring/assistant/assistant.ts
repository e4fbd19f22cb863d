import type { LiveConfig } from "../../config/live/live-config.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";
import { type Channels, openChannels } from "./channels.js";
import { type Inbound, openInbound } from "./inbound.js";
import { type Mind, openMind } from "./mind.js";
import { openPeople, type People } from "./people.js";
import { openReadership, type Readership } from "./readers.js";

/** Who talks and where, and who thinks about it. */
export interface Assistant {
  readonly people: People;
  readonly inbound: Inbound;
  readonly platforms: Channels;
  readonly readers: Readership;
  readonly mind: Mind;
  /** What all of it is configured with. */
  readonly live: LiveConfig;
}

export async function openAssistant(options: GatewayOptions, core: Core, live: LiveConfig): Promise<Assistant> {
  const people = await openPeople(options, core, live);
  const inbound = openInbound(options, core, people, live);
  const platforms = await openChannels(options, core, inbound.intake, live);
  const readers = await openReadership(core, platforms.isAdded, people.isOwner, live);
  return { people, inbound, platforms, readers, mind: await openMind(options, core, live), live };
}
