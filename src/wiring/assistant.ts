import { fileURLToPath } from "node:url";
import { RunningTurns } from "../agent/running-turns.js";
import { createIntake, type Intake } from "../api/intake.js";
import type { Channel } from "../channels/channel.js";
import type { Engine } from "../engine/engine.js";
import { type ContextFileLoader, createContextFiles } from "../memory/files.js";
import { createPairing, type Pairing } from "../policy/pairing.js";
import { createPolicy, type Policy } from "../policy/policy.js";
import { createModels, type Models } from "../providers/models.js";
import { createSkills } from "../skills/find.js";
import { createSkillSource, type SkillSource } from "../skills/source.js";
import { workspaceTemplates } from "../templates/workspace.js";
import { shared } from "../util/shared.js";
import type { Core } from "./core.js";
import type { GatewayOptions } from "./options.js";

/** Shorter than anybody needs to save a file and send a message. */
const sharedMs = 50;
const bundledSkills = fileURLToPath(new URL("../../../skills", import.meta.url));

/** What talks, thinks and decides. */
export interface Assistant {
  readonly policy: Policy;
  readonly pairing: Pairing;
  readonly running: RunningTurns;
  readonly intake: Intake;
  readonly models: Models;
  readonly skills: SkillSource;
  readonly contextFiles: ContextFileLoader;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly isOwner: (channel: string, senderId: string) => boolean;
}

export async function openAssistant(options: GatewayOptions, core: Core): Promise<Assistant> {
  const { home, log } = options;
  const { config } = options.config;
  const { workspace, enableGlobalSkills, executionMode } = config.agents.defaults;
  const policy = createPolicy({
    executionMode,
    workspace,
    home,
    restrictToWorkspace: config.tools.restrictToWorkspace,
    owners: config.owners,
    channels: config.channels.telegram === undefined ? {} : { telegram: config.channels.telegram },
  });
  const pairing = createPairing(core.engine.records("pairing"), { now: Date.now });
  const contextFiles = createContextFiles(workspace, { templates: workspaceTemplates });
  const skills = createSkills({ workspace, bundled: bundledSkills, enableGlobalSkills });
  return {
    policy,
    pairing,
    running: new RunningTurns(),
    intake: createIntake({
      bus: core.messages,
      policy,
      pairing,
      prepareSession: async (key) => void (await core.sessions.open(key)),
      log,
    }),
    models: createModels({
      providers: config.providers,
      defaults: config.agents.defaults,
      prices: config.prices,
      ollamaAddress: options.ollamaAddress,
      log,
    }),
    skills: createSkillSource(skills, config.skills.default),
    contextFiles: { load: shared(() => contextFiles.load(), sharedMs) },
    channels: await openChannels(options, core.engine),
    isOwner(channel, senderId) {
      const decision = policy.maySpeak({ channel, senderId, chatType: "dm", addressed: true }, () => false);
      return decision.allowed && decision.role === "owner";
    },
  };
}

/** A platform's code is loaded only when its channel is on. */
async function openChannels(
  { config: { config }, log }: GatewayOptions,
  engine: Engine,
): Promise<ReadonlyMap<string, Channel>> {
  const channels = new Map<string, Channel>();
  const { telegram } = config.channels;
  if (telegram?.enabled && telegram.token !== undefined) {
    const { createTelegramChannel } = await import("../channels/telegram/telegram.js");
    const { token, apiRoot, proxy } = telegram;
    channels.set(
      "telegram",
      createTelegramChannel({ token, apiRoot, proxy, log }, { cursor: (name) => engine.cursor(name) }),
    );
  }
  return channels;
}
