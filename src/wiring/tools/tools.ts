import { basename, join } from "node:path";
import type { LiveConfig } from "../../config/live/live-config.js";
import type { Config } from "../../config/schema.js";
import { channelOf, chatOf, clientChannels, sessionKeyOf } from "../../events/session-key.js";
import type { Origin } from "../../memory/owner/learned.js";
import { createMemorySearch } from "../../memory/search.js";
import { listMemorySources, searchReach } from "../../memory/sources.js";
import { createAddressPolicy } from "../../policy/locations/addresses.js";
import { createEgress } from "../../policy/locations/egress.js";
import type { Schedule } from "../../schedule/schedule.js";
import { keepSaid } from "../../sessions/history/keep-said.js";
import { openBrowser } from "../../tools/browser/family.js";
import { createBuiltinTools } from "../../tools/builtin.js";
import { createKnownChats } from "../../tools/chat/known-chats.js";
import { messageTool } from "../../tools/chat/message.js";
import { type ExecFamily, openExec } from "../../tools/exec/family.js";
import type { Environments, ToolFamily } from "../../tools/family.js";
import { openMemory } from "../../tools/memory/family.js";
import { cronTool } from "../../tools/schedule/cron.js";
import type { Tool, ToolContext } from "../../tools/tool.js";
import { openWeb } from "../../tools/web/family.js";
import type { Releases } from "../../util/async/releases.js";
import { namesOf } from "../../util/text/untrusted.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import { folderLimitsOf } from "../core/folder-limits.js";
import { type GatewayOptions, isWorking } from "../options.js";
import { createEnvironments } from "./environments.js";

export interface OpenedTools extends Required<Pick<ToolFamily, "tools" | "missing">> {
  /** Those that the config can change, as they are at the moment. */
  readonly web: () => readonly Tool[];
  /** What is wrong with settings of tools, each as one sentence. */
  readonly problems: () => readonly string[];
  readonly sandbox: ExecFamily["sandbox"];
}

/** All tools but those of MCP servers. A new family is one more line in the list. */
export function openTools(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  schedule: Schedule,
  releases: Releases,
): OpenedTools {
  const environments = createEnvironments(core, options.log);
  const exec = execFamily(options, environments, assistant);
  const web = webFamilies(options, core, environments, assistant.live);
  const families: readonly ToolFamily[] = [
    { tools: createBuiltinTools(options.home) },
    memoryFamily(options, core, assistant),
    {
      tools: [
        cronTool((context) => schedule.jobsOf(callerOf(context), { ...context.conversation, signal: context.signal })),
      ],
    },
    { tools: [messageTool(knownChats(core, assistant))] },
    web.browser,
    exec,
    { tools: options.added?.tools ?? [] },
  ];
  for (const { close } of families) if (close !== undefined) releases.defer(close);
  return {
    tools: families.flatMap(({ tools }) => tools),
    get missing() {
      return families.flatMap(({ missing = [] }) => missing);
    },
    web: web.tools,
    problems: () => [...web.problems(), ...families.flatMap(({ problems = [] }) => problems)],
    sandbox: exec.sandbox,
  };
}

function execFamily(options: GatewayOptions, environments: Environments, { live, mind }: Assistant) {
  const { home, log } = options;
  const { workspace } = live.running.agents.defaults;
  const { budgets } = mind;
  const asked = ["timeout", "network", "maxFolderMegabytes", "maxFolderFiles"];
  live.own({ sections: asked.map((name) => `tools.exec.${name}`), apply() {} });
  return openExec(() => live.running.tools.exec, {
    home,
    workspace,
    executionMode: () => live.running.agents.defaults.executionMode,
    get timeZone() {
      return budgets.calendar.timeZone;
    },
    folderLimits: folderLimitsOf(() => live.running),
    isWorking: isWorking(options),
    environments,
    log,
  });
}

/** What reaches the web does so past the same policy, and the browser reads pages for `web_fetch`. */
function webFamilies(
  { home, version }: GatewayOptions,
  { folders: { files } }: Core,
  environments: Environments,
  live: LiveConfig,
): { readonly browser: ToolFamily; readonly tools: () => readonly Tool[]; readonly problems: () => readonly string[] } {
  let addresses = createAddressPolicy(live.running.tools.web.fetch.allow);
  // A request under way looks again at each address.
  const egress = createEgress({ refusalOf: (target) => addresses.refusalOf(target) });
  const profileOf = (key: string): string => join(home, "browser", basename(files.folder(key)));
  const browser = openBrowser(live.running.tools.browser, { home, egress, profileOf, environments });
  const open = ({ web }: Config["tools"]) =>
    openWeb(web, { version, egress, render: browser.renderer?.(web.fetch.timeout * 1000), home });
  let inForce = open(live.running.tools);
  live.own({
    sections: ["tools.web"],
    apply({ tools }) {
      addresses = createAddressPolicy(tools.web.fetch.allow);
      inForce = open(tools);
    },
  });
  return { browser, tools: () => inForce.tools, problems: () => [...addresses.problems, ...inForce.problems] };
}

function memoryFamily({ config: { config } }: GatewayOptions, core: Core, assistant: Assistant): ToolFamily {
  const { workspace } = config.agents.defaults;
  const { sessions, folders } = core;
  const { provenance } = folders;
  const { readers } = assistant;
  const { chatMemory, ownerMemory } = assistant.mind;
  const whoseOf = readers.ofSession;
  const past = createMemorySearch(() =>
    listMemorySources({
      workspace,
      sessions,
      whoseOf,
      notesFile: chatMemory.notesFile,
      provenance: {
        outsideOf: (path) => provenance.files.outsideOf(path, undefined),
        isForeign: (paragraph) => provenance.texts.isForeign(paragraph),
      },
    }),
  );
  return openMemory({
    past,
    notes: (context) => ({ change: (change) => ownerMemory.change(change, originOf(context)) }),
    notesOfChat: chatMemory.notes,
    whoseOf: (context) => readers.of(callerOf(context)),
    reachOf: (context) => searchReach(readers.of(callerOf(context)), whoseOf),
  });
}

function knownChats({ engine, sessions }: Core, { platforms: { channels }, people: { isOwner } }: Assistant) {
  return createKnownChats({
    isOwner,
    channels,
    clientChannels,
    chatsOf: async (channel) => (await sessions.keys((key) => channelOf(key) === channel)).map(chatOf),
    keepSaid: ({ channel, chatId, thread }, said) =>
      keepSaid({ engine, sessions }, sessionKeyOf(channel, chatId, thread), said),
  });
}

function originOf({ sessionKey, chat: { channel, senderId }, conversation }: ToolContext): Origin {
  const outside = namesOf(conversation.outside());
  const at = new Date().toISOString();
  return { sessionKey, by: `${channel}:${senderId}`, at, ...(outside === "" ? {} : { outside }) };
}

function callerOf({ sessionKey, chat: { channel, chatId, thread, senderId } }: ToolContext) {
  return { sessionKey, channel, chatId, thread, senderId };
}
