import type { FunctionComponent } from "preact";
import type { IconName } from "../parts/dom.js";
import { paneTitles } from "./titles/words.js";
import type { PaneWorld } from "./world.js";

export interface PaneProps {
  readonly world: PaneWorld;
  /** What of the pane is open: what the address has after the pane's name. May be empty. */
  readonly argument: string;
}

export type Pane = FunctionComponent<PaneProps>;

/** A part of the page beside the chats. Its code is fetched when somebody opens it. */
export interface PaneEntry {
  /** Its name in the address. */
  readonly id: string;
  readonly icon: IconName;
  /** `rail`: beside the chats; `settings`: in the list of the settings; `hidden`: opened from elsewhere. */
  readonly area: "rail" | "settings" | "hidden";
  readonly title: () => string;
  /** One sentence about what it is for. */
  readonly about: () => string;
  readonly load: () => Promise<Pane>;
}

/** Every pane, in the order in which they are shown. To add one: its folder, and a line here. */
export const panes: readonly PaneEntry[] = [
  {
    id: "inbox",
    icon: "inbox",
    area: "rail",
    title: () => paneTitles.t("inbox"),
    about: () => paneTitles.t("inboxAbout"),
    load: async () => (await import("./inbox/inbox-pane.js")).InboxPane,
  },
  {
    id: "jobs",
    icon: "clock",
    area: "rail",
    title: () => paneTitles.t("jobs"),
    about: () => paneTitles.t("jobsAbout"),
    load: async () => (await import("./jobs/jobs-pane.js")).JobsPane,
  },
  {
    id: "usage",
    icon: "chart",
    area: "rail",
    title: () => paneTitles.t("usage"),
    about: () => paneTitles.t("usageAbout"),
    load: async () => (await import("./usage/usage-pane.js")).UsagePane,
  },
  {
    id: "timeline",
    icon: "timeline",
    area: "hidden",
    title: () => paneTitles.t("timeline"),
    about: () => paneTitles.t("timelineAbout"),
    load: async () => (await import("./timeline/timeline-pane.js")).TimelinePane,
  },
  {
    id: "system",
    icon: "pulse",
    area: "rail",
    title: () => paneTitles.t("system"),
    about: () => paneTitles.t("systemAbout"),
    load: async () => (await import("./system/system-pane.js")).SystemPane,
  },
  {
    id: "memory",
    icon: "memory",
    area: "settings",
    title: () => paneTitles.t("memory"),
    about: () => paneTitles.t("memoryAbout"),
    load: async () => (await import("./memory/memory-pane.js")).MemoryPane,
  },
  {
    id: "models",
    icon: "spark",
    area: "settings",
    title: () => paneTitles.t("models"),
    about: () => paneTitles.t("modelsAbout"),
    load: async () => (await import("./models/models-pane.js")).ModelsPane,
  },
  {
    id: "channels",
    icon: "plug",
    area: "settings",
    title: () => paneTitles.t("channels"),
    about: () => paneTitles.t("channelsAbout"),
    load: async () => (await import("./channels/channels-pane.js")).ChannelsPane,
  },
  {
    id: "skills",
    icon: "book",
    area: "settings",
    title: () => paneTitles.t("skills"),
    about: () => paneTitles.t("skillsAbout"),
    load: async () => (await import("./skills/skills-pane.js")).SkillsPane,
  },
  {
    id: "tools",
    icon: "shield",
    area: "settings",
    title: () => paneTitles.t("tools"),
    about: () => paneTitles.t("toolsAbout"),
    load: async () => (await import("./tools/tools-pane.js")).ToolsPane,
  },
  {
    id: "mcp",
    icon: "tool",
    area: "settings",
    title: () => paneTitles.t("mcp"),
    about: () => paneTitles.t("mcpAbout"),
    load: async () => (await import("./mcp/mcp-pane.js")).McpPane,
  },
  {
    id: "agents",
    icon: "people",
    area: "settings",
    title: () => paneTitles.t("agents"),
    about: () => paneTitles.t("agentsAbout"),
    load: async () => (await import("./agents/agents-pane.js")).AgentsPane,
  },
  {
    id: "budgets",
    icon: "coin",
    area: "settings",
    title: () => paneTitles.t("budgets"),
    about: () => paneTitles.t("budgetsAbout"),
    load: async () => (await import("./budgets/budgets-pane.js")).BudgetsPane,
  },
  {
    id: "settings",
    icon: "gear",
    area: "settings",
    title: () => paneTitles.t("settings"),
    about: () => paneTitles.t("settingsAbout"),
    load: async () => (await import("./settings/settings-pane.js")).SettingsPane,
  },
];
