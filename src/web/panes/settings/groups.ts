import type { Setting } from "./all-settings.js";
import { nameIn } from "./fields/words.js";

/** Settings that are shown together. */
export interface Group {
  /** What the names of its settings begin with. */
  readonly id: string;
  readonly settings: readonly Setting[];
  /** Of a channel: its name for people. */
  readonly title: string | undefined;
  /** The pane that sets up the same in a simpler way. */
  readonly pane: string | undefined;
}

/** What people look for most comes first. A group that is not named here comes last. */
const order = [
  "agents.defaults",
  "agents.spawn",
  "providers",
  "prices",
  "budgets",
  "channels",
  "owners",
  "policy",
  "inbound",
  "transcription",
  "skills",
  "memory",
  "heartbeat",
  "tools.web",
  "tools.browser",
  "tools.exec",
  "tools.restrictToWorkspace",
  "tools.mcpServers",
  "tools.mcp",
  "gateway",
  "events",
  "log",
  "reactors",
  "storage",
  "telemetry",
  "extensions",
  "engine",
];
const inTwo = new Set(["agents", "channels", "tools"]);

/** Panes that set up the same in a simpler way. */
const paneOf: Readonly<Record<string, string>> = {
  "agents.defaults": "agents",
  "agents.spawn": "agents",
  providers: "models",
  prices: "models",
  budgets: "budgets",
  "tools.mcpServers": "mcp",
  policy: "tools",
  skills: "skills",
};

function groupOf(path: readonly string[]): string {
  return path.slice(0, inTwo.has(path[0] ?? "") ? 2 : 1).join(".");
}

export function groupsOf(settings: readonly Setting[]): readonly Group[] {
  const groups = new Map<string, Setting[]>();
  for (const setting of settings) {
    const id = groupOf(setting.path);
    const known = groups.get(id) ?? [];
    known.push(setting);
    groups.set(id, known);
  }
  const place = (id: string): number => {
    const known = id.startsWith("channels.") ? "channels" : id;
    return order.includes(known) ? order.indexOf(known) : order.length;
  };
  return [...groups]
    .map(([id, list]) => {
      const channel = list[0]?.channel;
      return { id, settings: list, title: channel?.title, pane: channel?.isOffered === true ? "channels" : paneOf[id] };
    })
    .sort((one, other) => place(one.id) - place(other.id));
}

/** `Commands: Sandbox for commands`, where the group is not in sight. */
export function placeOf({ path, label, channel }: Setting): string {
  return `${channel?.title ?? nameIn("group", groupOf(path))}: ${label}`;
}

/** Whether all words are somewhere in its label, its name in the file, or its meaning. */
export function isFound({ name, label, meaning }: Setting, wanted: string): boolean {
  const text = `${label} ${name} ${name.replace(/([a-z])([A-Z])/g, "$1 $2")} ${meaning}`.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
