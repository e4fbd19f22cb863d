import { basename, join } from "node:path";
import { channelOf, chatOf, clientChannels, sessionKeyOf } from "../../events/session-key.js";
import { createNotes } from "../../memory/notes.js";
import { createMemorySearch } from "../../memory/search.js";
import { listMemorySources, searchReach } from "../../memory/sources.js";
import { createAddressPolicy } from "../../policy/locations/addresses.js";
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
import { createEgress } from "../../tools/web/egress.js";
import { openWeb } from "../../tools/web/family.js";
import type { Releases } from "../../util/async/releases.js";
import { ownTimeZone } from "../../util/local-time.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import { folderLimitsOf } from "../core/folder-limits.js";
import { type GatewayOptions, isWorking } from "../options.js";
import { createEnvironments } from "./environments.js";

export interface OpenedTools extends Required<Pick<ToolFamily, "tools" | "missing" | "problems">> {
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
  const exec = execFamily(options, environments);
  const families: readonly ToolFamily[] = [
    { tools: createBuiltinTools(options.home) },
    memoryFamily(options, core, assistant),
    { tools: [cronTool((context) => schedule.jobsOf(context, context))] },
    { tools: [messageTool(knownChats(core, assistant))] },
    ...webFamilies(options, core, environments),
    exec,
    { tools: options.added?.tools ?? [] },
  ];
  for (const { close } of families) if (close !== undefined) releases.defer(close);
  return {
    tools: families.flatMap(({ tools }) => tools),
    missing: families.flatMap(({ missing = [] }) => missing),
    problems: families.flatMap(({ problems = [] }) => problems),
    sandbox: exec.sandbox,
  };
}

function execFamily(options: GatewayOptions, environments: Environments) {
  const {
    config: { config },
    home,
    log,
  } = options;
  const { workspace, executionMode, timezone } = config.agents.defaults;
  return openExec(config.tools.exec, {
    home,
    workspace,
    executionMode,
    get timeZone() {
      return timezone ?? ownTimeZone();
    },
    folderLimits: folderLimitsOf(config),
    isWorking: isWorking(options),
    environments,
    log,
  });
}

/** What reaches the web does so past the same policy, and the browser reads pages for `web_fetch`. */
function webFamilies(
  { config: { config }, home, version }: GatewayOptions,
  { files }: Core,
  environments: Environments,
): readonly ToolFamily[] {
  const { web, browser: settings } = config.tools;
  const addresses = createAddressPolicy(web.fetch.allow);
  const egress = createEgress(addresses);
  const profileOf = (key: string): string => join(home, "browser", basename(files.folder(key)));
  const browser = openBrowser(settings, { home, egress, profileOf, environments });
  const render = browser.renderer?.(web.fetch.timeout * 1000);
  return [{ tools: [], problems: addresses.problems }, openWeb(web, { version, egress, render, home }), browser];
}

function memoryFamily({ config: { config } }: GatewayOptions, core: Core, assistant: Assistant): ToolFamily {
  const { workspace } = config.agents.defaults;
  const { sessions, provenance } = core;
  const { readers } = assistant;
  const { chatMemory } = assistant.mind;
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
    notes: createNotes({ root: workspace, name: "memory/MEMORY.md" }),
    notesOfChat: chatMemory.notes,
    whoseOf: readers.of,
    reachOf: (context) => searchReach(readers.of(context), whoseOf),
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
