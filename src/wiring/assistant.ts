import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commands, parseCommand } from "../agent/commands/chat-command.js";
import { asksToStop } from "../agent/questions/interrupt-phrases.js";
import { OpenQuestions } from "../agent/questions/open-questions.js";
import { RunningTurns } from "../agent/turn/running-turns.js";
import { type Budgets, createBudgets } from "../budgets/budgets.js";
import { createCalendar } from "../budgets/calendar.js";
import { usageKind } from "../budgets/counters.js";
import { counts } from "../budgets/limits.js";
import type { Attachment } from "../bus/messages.js";
import { createPreviews, type Previews } from "../bus/previews.js";
import type { Shape } from "../bus/replies.js";
import type { Channel, OwnChannelContext, ReceivedMessage } from "../channels/channel.js";
import type { Config } from "../config/schema.js";
import { saveSecrets } from "../config/secrets-file.js";
import { draft, type EventDraft } from "../events/event.js";
import { type Answers, createAnswers } from "../inbound/answers.js";
import { createIntake, type Intake } from "../inbound/intake.js";
import { createReceivedFiles } from "../inbound/received-files.js";
import { StuckChats } from "../inbound/stuck-chats.js";
import { type ChatMemory, createChatMemory } from "../memory/chat-memory.js";
import { type ContextFileLoader, createContextFiles } from "../memory/files.js";
import { createGrants, type Grants } from "../policy/grants.js";
import { createPairing, type Pairing } from "../policy/pairing.js";
import { receivedFiles } from "../policy/places/zones.js";
import { createPolicy, type Policy } from "../policy/policy.js";
import { createRateLimiter } from "../policy/rate-limits.js";
import { createModels, type Models } from "../providers/catalogue/models.js";
import { type CircuitChange, createCircuits } from "../providers/circuits.js";
import type { Provider } from "../providers/provider.js";
import { heartbeatJob } from "../schedule/heartbeat-job.js";
import { createSkills } from "../skills/find.js";
import { createSkillSource, type SkillSource } from "../skills/source.js";
import { isTemplate } from "../templates/workspace.js";
import { abortable } from "../util/async/abortable.js";
import { shared } from "../util/async/shared.js";
import type { Core } from "./core.js";
import { createGuestProblems } from "./guest-problems.js";
import type { GatewayOptions } from "./options.js";
import { openReadership, type Readership } from "./readers.js";
import { loadShapes } from "./shapes.js";

const commandMenu = Object.entries(commands).map(([command, description]) => ({ command, description }));
/** Shorter than anybody needs to save a file and send a message. */
const sharedMs = 50;
const bundledSkills = fileURLToPath(new URL("../../../skills", import.meta.url));

/** What talks, thinks and decides. */
export interface Assistant {
  readonly policy: Policy;
  readonly pairing: Pairing;
  readonly grants: Grants;
  readonly questions: OpenQuestions;
  readonly answers: Answers;
  readonly running: RunningTurns;
  readonly intake: Intake;
  readonly stuck: StuckChats;
  readonly models: Models;
  readonly budgets: Budgets;
  readonly skills: SkillSource;
  readonly contextFiles: ContextFileLoader;
  /** What guests and groups have in the place of the owner's memory. */
  readonly chatMemory: ChatMemory;
  readonly readers: Readership;
  /** What of the files that shape the assistant does not reach those it is for, as sentences. */
  readonly guestProblems: () => readonly string[];
  readonly channels: ReadonlyMap<string, Channel>;
  /** What is wrong with channels of the config: why one is off, and what people should know, as sentences. */
  /** How replies are cut, also those of channels that are off. */
  readonly shapes: ReadonlyMap<string, Shape>;
  readonly channelFaults: ChannelFaults;
  readonly previews: Previews;
  readonly isOwner: (channel: string, senderId: string) => boolean;
}

export interface ChannelFaults {
  readonly off: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

export async function openAssistant(options: GatewayOptions, core: Core): Promise<Assistant> {
  const { home, log, now = Date.now } = options;
  const { config } = options.config;
  const { workspace, enableGlobalSkills, executionMode } = config.agents.defaults;
  const { inbound } = config;
  const grants = createGrants(core.engine.records("allow_always"), { now });
  const policy = createPolicy({
    executionMode,
    workspace,
    home,
    restrictToWorkspace: config.tools.restrictToWorkspace,
    owners: config.owners,
    channels: Object.fromEntries(Object.entries(config.channels).filter(([, channel]) => channel !== undefined)),
    rules: config.policy.rules,
    grants,
  });
  const pairing = createPairing(core.engine.records("pairing"), { now });
  const loader = createContextFiles(workspace, { isTemplate });
  const contextFiles = { load: shared(() => loader.load(), sharedMs) };
  const skills = createSkills({ workspace, bundled: bundledSkills, enableGlobalSkills });
  const questions = new OpenQuestions();
  const answers = createAnswers({
    questions,
    sessions: core.sessions,
    async saveSecrets(values) {
      log.hide?.(Object.values(values));
      await saveSecrets(home, values);
    },
  });
  const stuck = new StuckChats(now);
  const intake = createIntake({
    bus: core.messages,
    lives: core.lives,
    waiting: core.engine.waiting,
    isWritable: () => core.engine.status().writable,
    stuck,
    isCommand: (content) => parseCommand(content) !== undefined,
    asksToStop,
    policy,
    pairing,
    rates: createRateLimiter({ sender: inbound.senderPerMinute, chat: inbound.chatPerMinute }, { now }),
    questions,
    answers,
    files: createReceivedFiles({
      folderOf: (key) => join(core.files.kept(key), receivedFiles),
      noteSender: (file, by) => core.provenance.senders.note(file, by),
      whyFull: (key) => core.whyFull(core.files.folder(key)),
      maxBytes: inbound.maxFileMegabytes * 1024 * 1024,
      transcribe: openTranscription(config.transcription),
      log,
    }),
    now,
    prepareSession: async (key) => void (await core.sessions.open(key)),
    log,
  });
  const { channels, channelFaults } = await openChannels(options, core, intake);
  const isOwner: Assistant["isOwner"] = (channel, senderId) => {
    const decision = policy.maySpeak({ channel, senderId, chatType: "dm", addressed: true }, () => false);
    return decision.allowed && decision.role === "owner";
  };
  const previews = createPreviews(core.engine, channels, core.lives, log);
  core.lives.onLeave("previews", (key) => previews.forgetSession(key));
  const readers = openReadership(options, core, channels.keys(), isOwner);
  return {
    policy,
    pairing,
    grants,
    questions,
    answers,
    running: new RunningTurns(),
    intake,
    stuck,
    models: openModels(options, core, now),
    budgets: createBudgets({
      limits: config.budgets,
      jobs: { [heartbeatJob]: config.heartbeat.budget },
      records: core.engine.records(usageKind),
      calendar: createCalendar(config.agents.defaults.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone),
      log,
      now,
    }),
    skills: createSkillSource(skills, config.skills.default),
    contextFiles,
    chatMemory: createChatMemory(core.files.kept, core.provenance.markForeign),
    readers,
    guestProblems: createGuestProblems(config, {
      pairing,
      contextFiles,
      isOwner,
      isOwnersChat: (key) => readers.ofSession(key).audience === "owner",
    }),
    channels,
    shapes: await loadShapes(channels),
    channelFaults,
    previews,
    isOwner,
  };
}

/** One that somebody else has written and that does not listen to the signal holds up neither a stop nor a chat. */
function endingWithSignal(provider: Provider): Provider {
  return {
    name: provider.name,
    stream: (request, signal) => abortable(provider.stream(request, signal), signal),
  };
}

function openModels(
  { config: { config }, providers, ollamaAddress, log }: GatewayOptions,
  core: Core,
  now: () => number,
): Models {
  return createModels({
    providers: config.providers,
    own: providers?.map(endingWithSignal),
    defaults: config.agents.defaults,
    prices: config.prices,
    needsPrices: counts(config.budgets, "usd"),
    circuits: createCircuits({ now, onChange: (change) => core.tell(circuitEvent(change)) }),
    ollamaAddress,
    onConnection: ({ name, ...change }) =>
      core.tell(
        draft("connection_state_changed", { peer: "provider", name, ...change }, { source: `provider:${name}` }),
      ),
    log,
  });
}

/** The SDK is loaded with the first voice message. */
function openTranscription(
  config: Config["transcription"],
): ((file: Attachment, signal: AbortSignal) => Promise<string>) | undefined {
  const { apiKey, apiBase, model } = config;
  if (apiKey === undefined && apiBase === undefined) return undefined;
  return async (file, signal) => {
    const { transcribe } = await import("../providers/openai/transcribe.js");
    return await transcribe({ apiKey, apiBase, model }, file, signal);
  };
}

const circuitStates = { closed: "connected", open: "disconnected", half_open: "reconnecting" } as const;

function circuitEvent({ provider, model, from, to, reason }: CircuitChange): EventDraft {
  return draft(
    "connection_state_changed",
    { peer: "provider", name: `${provider}/${model}`, from: circuitStates[from], to: circuitStates[to], reason },
    { source: `provider:${provider}` },
  );
}

/** A platform's code is loaded only when its channel is on. */
async function openChannels(
  { config: { config }, home, log, platforms, sendTimeoutMs }: GatewayOptions,
  { engine, tell }: Core,
  intake: Intake,
): Promise<{ readonly channels: ReadonlyMap<string, Channel>; readonly channelFaults: ChannelFaults }> {
  const cursor = (name: string): string | undefined => engine.cursor(name);
  const own = new Set<string>();
  const forChannel = (name: string): OwnChannelContext => ({
    cursor,
    actsAtOnce: (message) => intake.actsAtOnce(name, message),
    press: (press) => intake.press(name, press),
    records: engine.records(`channel_${name}`),
    sendTimeoutMs,
  });
  // For channels that do not ask for a context of their own: whatever acts at once in a chat of this name does so in each.
  const actsAtOnce = (message: ReceivedMessage): boolean => [...own].some((name) => intake.actsAtOnce(name, message));
  const added = platforms?.({ cursor, actsAtOnce, sendTimeoutMs, forChannel }) ?? [];
  const channels = new Map(added.map((channel) => [channel.name, channel]));
  for (const name of channels.keys()) own.add(name);
  const { telegram } = config.channels;
  if (telegram?.enabled && telegram.token !== undefined) {
    const { createTelegramChannel } = await import("../channels/telegram/telegram.js");
    const { token, apiRoot, proxy } = telegram;
    const { url, secret, ...listen } = telegram.webhook;
    const webhook = url === undefined || secret === undefined ? undefined : { url, secret, ...listen };
    channels.set(
      "telegram",
      createTelegramChannel({ token, apiRoot, proxy, webhook, commands: commandMenu, log }, forChannel("telegram")),
    );
  }
  const { discord } = config.channels;
  if (discord?.enabled && discord.token !== undefined) {
    const { createDiscordChannel } = await import("../channels/discord/discord.js");
    const { token, apiRoot } = discord;
    channels.set(
      "discord",
      createDiscordChannel({ token, apiRoot, commands: commandMenu, log }, forChannel("discord")),
    );
  }
  const { websocket } = config.channels;
  if (websocket?.enabled) {
    const { createWebSocketChannel } = await import("../channels/websocket/websocket.js");
    channels.set("websocket", createWebSocketChannel({ ...websocket, log }, forChannel("websocket")));
  }
  const off = new Map<string, string>();
  const problems: string[] = [];
  const { email } = config.channels;
  if (email?.enabled) {
    const { openEmail } = await import("./email.js");
    const opened = await openEmail(email, {
      home,
      context: forChannel("email"),
      log,
    });
    if (opened.channel !== undefined) channels.set("email", opened.channel);
    if (opened.off !== undefined) off.set("email", opened.off);
    problems.push(...opened.problems);
    // Whoever reads the gateway's log later must see that senders were not checked.
    if (email.verifySender === "off")
      tell(
        draft(
          "settings_changed",
          { scope: "gateway", key: "channels.email.verifySender", to: "off" },
          { source: "gateway" },
        ),
      );
  }
  return { channels, channelFaults: { off, problems } };
}
