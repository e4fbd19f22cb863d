import type { FunctionComponent } from "preact";
import type { IconName } from "../parts/dom.js";
import { channelsWords } from "./channels/words.js";
import { inboxWords } from "./inbox/words.js";
import { jobsWords } from "./jobs/words.js";
import { memoryWords } from "./memory/words.js";
import { modelsWords } from "./models/words.js";
import { systemWords } from "./system/words.js";
import { usageWords } from "./usage/words.js";
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
    title: () => inboxWords.t("title"),
    about: () => inboxWords.t("about"),
    load: async () => (await import("./inbox/inbox-pane.js")).InboxPane,
  },
  {
    id: "jobs",
    icon: "clock",
    area: "rail",
    title: () => jobsWords.t("title"),
    about: () => jobsWords.t("about"),
    load: async () => (await import("./jobs/jobs-pane.js")).JobsPane,
  },
  {
    id: "usage",
    icon: "chart",
    area: "rail",
    title: () => usageWords.t("title"),
    about: () => usageWords.t("about"),
    load: async () => (await import("./usage/usage-pane.js")).UsagePane,
  },
  {
    id: "system",
    icon: "pulse",
    area: "rail",
    title: () => systemWords.t("title"),
    about: () => systemWords.t("about"),
    load: async () => (await import("./system/system-pane.js")).SystemPane,
  },
  {
    id: "memory",
    icon: "memory",
    area: "settings",
    title: () => memoryWords.t("title"),
    about: () => memoryWords.t("about"),
    load: async () => (await import("./memory/memory-pane.js")).MemoryPane,
  },
  {
    id: "models",
    icon: "spark",
    area: "settings",
    title: () => modelsWords.t("title"),
    about: () => modelsWords.t("about"),
    load: async () => (await import("./models/models-pane.js")).ModelsPane,
  },
  {
    id: "channels",
    icon: "plug",
    area: "settings",
    title: () => channelsWords.t("title"),
    about: () => channelsWords.t("about"),
    load: async () => (await import("./channels/channels-pane.js")).ChannelsPane,
  },
];
