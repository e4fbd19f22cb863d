import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Writes files by their paths; what is not text as JSON. */
export async function writeFiles(folder: string, files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  }
}

/** All files below a folder with what they hold and when they were written. Empty where there is none. */
export async function snapshot(folder: string): Promise<Readonly<Record<string, string>>> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const entries: [string, string][] = [];
  for (const name of names.sort()) {
    const stats = await stat(join(folder, name));
    if (stats.isFile()) entries.push([name, `${stats.mtimeMs} ${await readFile(join(folder, name), "utf8")}`]);
    else entries.push([name, "folder"]);
  }
  return Object.fromEntries(entries);
}

const lines = (...rows: readonly unknown[]): string =>
  rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row))).join("\n");

/** What the Go maxclaw leaves behind. */
export const goHome = {
  "config.json": {
    agents: {
      defaults: { workspace: "~/.maxclaw/workspace", model: "openai/go-model", maxTokens: 4096, executionMode: "auto" },
    },
    providers: { openai: { apiKey: "sk-go" }, groq: { apiKey: `\${GROQ_KEY}` }, anthropic: { apiKey: "" } },
    channels: {
      telegram: { enabled: true, token: "1:go", allowFrom: ["*"] },
      mattermost: { enabled: true },
      whatsapp: { enabled: true, bridgeUrl: "ws://127.0.0.1:1", bridgeToken: "go-bridge", allowFrom: ["15551230001"] },
      discord: { enabled: false, token: "" },
    },
  },
  "workspace/AGENTS.md": "Always answer in rhymes.\n",
  "workspace/memory/MEMORY.md": "The cat is called Momo.\n",
  "workspace/memory/HISTORY.md": "2025-01-01: we met.\n",
  "workspace/skills/tea/SKILL.md": "---\nname: tea\ndescription: Makes tea\n---\nBoil water.\n",
  "workspace/skills/tea/cups.txt": "two",
  "workspace/.uploads/photo.txt": "a photo",
  "workspace/.sessions/telegram_42.json": {
    key: "telegram:42",
    title: "Momo",
    messages: [
      { role: "user", content: "My cat is Momo.", timestamp: "2025-01-01T10:00:00Z" },
      { role: "assistant", content: "Noted, Momo.", timestamp: "2025-01-01T10:00:01Z" },
    ],
    metadata: { lastSequence: 7, createdAt: "2025-01-01T10:00:00Z" },
  },
  "workspace/.sessions/broken.json": '{"key": "telegram:43", "messa',
  "workspace/.cron/jobs.json": {
    tea: {
      name: "tea time",
      schedule: { type: "cron", expr: "0 0 17 * * *" },
      payload: { message: "Remind me of tea", channels: ["telegram"], to: "42" },
      enabled: true,
    },
    past: { name: "past", schedule: { type: "once", atMs: 1 }, payload: { message: "too late" } },
  },
};

/** What nanobot leaves behind. */
export const nanobotHome = {
  "config.json": {
    agents: { defaults: { workspace: "~/.nanobot/workspace", model: "anthropic/nano-model", max_tool_iterations: 40 } },
    providers: { anthropic: { api_key: "sk-nano", api_base: null }, openai: { apiKey: "sk-other" } },
    channels: {
      telegram: { enabled: true, token: "2:nano", allow_from: ["77|ada", "grace"], reply_to_message: true },
      dingtalk: { enabled: true, client_id: "x" },
      email: { enabled: true, imap_host: "imap.test", imap_use_ssl: true, allow_from: ["ada@example.org"] },
    },
    tools: {
      web: { search: { api_key: "brave-key" } },
      mcp_servers: { files: { command: "npx", env: { A_KEY: "1" } } },
    },
  },
  "workspace/SOUL.md": "Be kind.\n",
  "workspace/memory/MEMORY.md": "The dog is called Rex.\n",
  "workspace/HEARTBEAT.md": "Look at the oven.\n",
  "workspace/skills/coffee/SKILL.md": "---\nname: coffee\ndescription: Makes coffee\n---\nGrind beans.\n",
  "sessions/telegram_77.jsonl": lines(
    { _type: "metadata", key: "telegram:77", created_at: "2025-02-01T10:00:00" },
    { role: "user", content: "My dog is Rex.", timestamp: "2025-02-01T10:00:00" },
    { role: "assistant", content: null, tool_calls: [{ id: "1" }] },
    { role: "tool", content: "{}" },
    '{"role": "user", "conte',
    { role: "assistant", content: [{ type: "text", text: "Noted, Rex." }], timestamp: "2025-02-01T10:00:02" },
  ),
  "sessions/heartbeat.jsonl": lines({ _type: "metadata", key: "heartbeat" }, { role: "user", content: "tick" }),
  "sessions/empty.jsonl": "no json at all",
  "cron/jobs.json": {
    version: 1,
    jobs: [
      {
        id: "a1",
        name: "walk",
        enabled: false,
        schedule: { kind: "every", everyMs: 3_600_000 },
        payload: { kind: "agent_turn", message: "Walk the dog", deliver: true, channel: "dingtalk", to: "1" },
      },
      { id: "a2", name: "bad", schedule: { kind: "sometimes" }, payload: { message: "x" } },
    ],
  },
};

/** What OpenClaw leaves behind. */
export const openclawHome = {
  "openclaw.json": `// written by hand
{
  agents: { defaults: { workspace: '~/.openclaw/workspace', model: { primary: "anthropic/claw-model", fallbacks: ["openai/b",] }, userTimezone: "Europe/Berlin" } },
  models: { providers: { "my-proxy": { baseUrl: "http://localhost:4000/v1", apiKey: "\${PROXY_KEY}", api: "openai-completions",
    models: [{ id: "llama", contextWindow: 128000, maxTokens: 32000, input: ["text"] }] } } },
  channels: {
    telegram: { botToken: "3:claw", allowFrom: ["tg:99"], groups: { "*": { requireMention: true } } }, /* mine */
    signal: { enabled: true, account: "+1" },
  },
}
`,
  "agents/main/agent/auth-profiles.json": {
    version: 1,
    profiles: {
      "anthropic:default": { type: "api_key", provider: "anthropic", key: "sk-claw" },
      "openai-codex:me": { type: "oauth", provider: "openai-codex", access: "x" },
    },
  },
  "workspace/IDENTITY.md": "You are Clawd.\n",
  "workspace/MEMORY.md": "The bird is called Pip.\n",
  "workspace/memory/2026-01-01.md": "We saw an eagle.\n",
  "workspace/skills/juice/SKILL.md": "---\nname: juice\ndescription: Makes juice\n---\nSqueeze.\n",
  "agents/main/sessions/sessions.json": {
    "agent:main:main": { sessionId: "s1", lastChannel: "telegram", lastTo: "telegram:99" },
    "agent:main:telegram:group:-100:topic:5": { sessionId: "s2" },
  },
  "agents/main/sessions/s1.jsonl": lines(
    { type: "session", version: 3, id: "s1", timestamp: "2026-01-01T09:00:00.000Z", cwd: "/x" },
    {
      ...{ type: "message", id: "m1", parentId: null, timestamp: "2026-01-01T09:00:01.000Z" },
      message: { role: "user", content: [{ type: "text", text: "My bird is Pip." }] },
    },
    {
      ...{ type: "message", id: "m2", parentId: "m1", timestamp: "2026-01-01T09:00:02.000Z" },
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "Noted, Pip." },
        ],
      },
    },
  ),
  "agents/main/sessions/s2.jsonl": lines({ type: "message", message: { role: "user", content: "In a topic." } }),
  "agents/main/sessions/s0.jsonl": lines({ type: "message", message: { role: "user", content: "Long ago." } }),
  "cron/jobs.json": {
    version: 1,
    jobs: [
      {
        id: "c1",
        name: "feed",
        enabled: true,
        schedule: { kind: "cron", expr: "0 8 * * *", tz: "Europe/Berlin" },
        payload: { kind: "agentTurn", message: "Feed the bird" },
        delivery: { mode: "announce", channel: "telegram", to: "telegram:99" },
      },
    ],
  },
};
