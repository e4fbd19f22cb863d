import { z } from "zod";
import { channelSections } from "../channels/platforms.js";
import { basePath, proxyAddress, webAddress } from "./site-values.js";
import { type mcpServer, tools } from "./tools-schema.js";
import { flag, jsonValue, number, optionalAddress, optionalText, seconds, thinking, toFlag, whole } from "./values.js";

const agentDefaults = z.strictObject({
  /** The folder that tools may read. `~` and `${NAME}` work; a relative path starts at the home. */
  workspace: optionalText,
  /** `provider/model`, or an id from some provider's `models`. Without one the provider's first model is used. */
  model: optionalText,
  /** Models that answer, in this order, when the chosen one cannot. */
  fallbacks: z.array(z.string().trim().min(1, "a name of at least one character")).default([]),
  /** Default: as each model does by itself. */
  thinking: thinking.optional(),
  /** Upper bound of one model answer, in tokens. */
  maxTokens: whole(1, 1_000_000, 8192),
  /** Tokens that a request and its answer may take together, for models that do not say otherwise. */
  contextWindow: whole(2000, 10_000_000, 128_000),
  /** A conversation that would take more than this part of it has its older part summarised. */
  compactAt: number(z.number().min(0.1).max(0.95)).default(0.8),
  temperature: number(z.number().min(0).max(2)).default(0.7),
  /** Model calls in one turn. */
  maxToolIterations: whole(1, 1000, 20),
  /** `safe`: tools only read. `ask`: risky calls need a yes. `auto`: nothing asks. */
  executionMode: z.enum(["safe", "ask", "auto"]).default("ask"),
  /** Texts that somebody sends one shortly after the other become one turn: how long the next one is waited for. */
  quietMs: whole(0, 10_000, 600),
  /** `unfinished`: only after a text that plainly goes on. `every`: after each text; every answer comes later then. */
  quietAfter: z.enum(["unfinished", "every"]).default("unfinished"),
  /** Also offer the skills in `~/.agents/skills`. */
  enableGlobalSkills: flag(true),
  /** The owner's, e.g. `Europe/Berlin`: for the clock that models see and for where days begin. Default: this machine's. */
  timezone: optionalText.refine((zone) => zone === undefined || isTimeZone(zone), "a time zone such as Europe/Berlin"),
});

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }) !== undefined;
  } catch {
    return false;
  }
}

/** One model API. Without `apiKey` and `apiBase` it counts as absent. */
const provider = z.strictObject({
  apiKey: optionalText,
  /** Address of the API, if it is not the provider's own. */
  apiBase: optionalAddress,
  /** The wire format. Default: `anthropic` for anthropic, `openai` for all others. */
  apiFormat: z.preprocess(
    (value) => (typeof value === "string" ? value.trim().toLowerCase() || undefined : value),
    z.enum(["openai", "anthropic"]).optional(),
  ),
  /** Sent with each request. */
  headers: z.record(z.string(), z.string()).default({}),
  /** In seconds: until the answer begins, between two pieces of it, and for the whole of it. */
  timeouts: z
    .strictObject({ firstByte: seconds.optional(), idle: seconds.optional(), total: seconds.optional() })
    .prefault({}),
  models: z
    .array(
      z.preprocess(
        (value) => (typeof value === "string" ? { id: value } : value),
        z.strictObject({
          /** As the provider's API names it. */
          id: z.string().trim().min(1, "a name of at least one character"),
          name: optionalText,
          /** Upper bound of one answer of this model; 0 means `agents.defaults.maxTokens`. */
          maxTokens: number(z.number().int().min(0)).optional(),
          /** 0 means `agents.defaults.contextWindow`. */
          contextWindow: number(z.number().int().min(0)).optional(),
          enabled: flag(true),
          supportsImageInput: z.preprocess(toFlag, z.boolean()).optional(),
          thinking: thinking.optional(),
        }),
      ),
    )
    .default([]),
});

const gateway = z.strictObject({
  /** The address to listen on. Any other than loopback makes the token necessary. */
  host: z.string().trim().min(1, "an address such as 127.0.0.1").default("127.0.0.1"),
  port: whole(0, 65535, 18890),
  /** Needed by everybody who does not come from this machine. `MAXCLAW_TOKEN` goes first. */
  token: z
    .union([z.string(), z.number()], "a text")
    .transform((value) => String(value).trim() || undefined)
    .optional(),
  /** Web origins besides the gateway's own that a browser may call from, e.g. `https://chat.example.org`. */
  allowedOrigins: z.array(z.string()).default([]),
  /** The path below which everything also is, for a proxy with other sites beside it, e.g. `/assistant`. */
  basePath,
  /** Proxies whose `X-Forwarded-…` and `Forwarded` are believed: addresses and networks, e.g. `10.0.0.0/8`. */
  trustedProxies: z.array(proxyAddress).default([]),
  /** How people reach the page from elsewhere, e.g. `https://chat.example.org/assistant/`: for links of invitations. */
  publicUrl: webAddress,
  /** After so many days without a visit a device is signed out. */
  sessionDays: whole(1, 400, 90),
});

const policyRule = z.strictObject({
  tool: z.string().min(1).optional(),
  /** A path, an address, a chat, a command, or a call's whole input as JSON. */
  argument: z.string().min(1).optional(),
  channel: z.string().min(1).optional(),
  /** `channel:sender`. */
  sender: z.string().min(1).optional(),
  role: z.enum(["owner", "guest"]).optional(),
  chat: z.enum(["dm", "group"]).optional(),
  verdict: z.enum(["allow", "ask", "deny"]),
});

const price = number(z.number().min(0));

const bound = number(z.number().min(0)).optional();
/** What may be used; without a number there is no limit. */
const budget = z.strictObject({ tokens: bound, usd: bound, turns: bound }).prefault({});

/** The whole config file. Everything has a default; what is absent here exists nowhere else. */
export const configSchema = z.strictObject({
  agents: z
    .strictObject({
      defaults: agentDefaults.prefault({}),
      /** Sub-agents: how many of one conversation work at once, and how deep they may start others (0: none at all). */
      spawn: z.strictObject({ atOnce: whole(1, 32, 4), depth: whole(0, 5, 2) }).prefault({}),
    })
    .prefault({}),
  providers: z.record(z.string(), provider).default({}),
  gateway: gateway.prefault({}),
  tools: tools.prefault({}),
  channels: z.strictObject(channelSections()).prefault({}),
  /** Who may command everything from a chat: `channel:sender`, e.g. `telegram:42`. */
  owners: z
    .array(
      z
        .string()
        .trim()
        .regex(/^[a-z0-9-]+:\S+$/, "channel:sender, e.g. telegram:42"),
    )
    .default([]),
  /** What a message without `@skill:name` brings along: `auto`, `all` or `none`. */
  skills: z.strictObject({ default: z.enum(["auto", "all", "none"]).default("auto") }).prefault({}),
  /** Where session documents are: `file`, `memory`, or a driver of unstorage with the options that it takes. */
  storage: z
    .strictObject({
      driver: z.string().trim().min(1, "the name of a driver, e.g. file or redis").default("file"),
      options: z.record(z.string(), jsonValue).default({}),
    })
    .prefault({}),
  /** Modules that add tools, channels, providers, a storage, machines or reactors. They run with the gateway's own rights. */
  extensions: z
    .array(
      z.strictObject({
        /** A file; a relative path starts at the home. */
        module: z.string().trim().min(1, "a file such as ./my-tool.mjs"),
        options: z.record(z.string(), jsonValue).default({}),
      }),
    )
    .default([]),
  engine: z.strictObject({ kind: z.enum(["embedded"]).default("embedded") }).prefault({}),
  /** Decorations, each of which can be left out. */
  reactors: z
    .strictObject({ typing: flag(true), metrics: flag(true), log: flag(true), answers: flag(true), live: flag(true) })
    .prefault({}),
  events: z
    .strictObject({
      /** Keep the events that only tell about progress. */
      persistDetail: flag(true),
      /** Keep the model's thinking in stored messages. */
      persistThoughts: flag(true),
      /** For how many days both are kept. Default: for ever. */
      detailDays: number(z.number().int().min(1).max(36_500)).optional(),
      /** How long the text of an ended stream can still be joined. */
      snapshotTtlSeconds: whole(0, 86_400, 300),
    })
    .prefault({}),
  /** By model, in USD for a million tokens. */
  prices: z
    .record(
      z.string(),
      z.strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() }),
    )
    .default({}),
  /** Upper bounds: of one turn, of one turn of a sub-agent, of a session until `/new`, and per day of each sender, scheduled job and of everything. */
  budgets: z
    .strictObject({
      turn: z.strictObject({ tokens: bound, usd: bound }).prefault({}),
      spawn: z.strictObject({ tokens: bound, usd: bound }).prefault({}),
      session: budget,
      sender: budget,
      job: budget,
      day: budget,
    })
    .prefault({}),
  /** The assistant looks by itself through memory/heartbeat.md, again and again. */
  heartbeat: z
    .strictObject({
      enabled: flag(false),
      everyMinutes: whole(1, 1440, 30),
      /** E.g. `08:00-22:00`, in `agents.defaults.timezone`; the end may be in the night. Default: always. */
      activeHours: optionalText.refine(
        (hours) => hours === undefined || /^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(hours),
        "hours such as 08:00-22:00",
      ),
      /** Where it speaks: `channel:chat`, e.g. `telegram:42`. Default: the chat in which an owner wrote last. */
      chat: optionalText.refine(
        (chat) => chat === undefined || /^[a-z0-9-]+:\S+$/.test(chat),
        "channel:chat, e.g. telegram:42",
      ),
      /** Upper bounds of a day, instead of `budgets.job`. */
      budget: z.partialRecord(z.enum(["tokens", "usd", "turns"]), number(z.number().min(0))).default({}),
    })
    .prefault({}),
  memory: z
    .strictObject({
      /** Who names a conversation after its first answer: the `model` (on the page and in the terminal), its `first` words, or nobody (`off`). */
      titles: z.enum(["model", "first", "off"]).default("model"),
      /** What is written into memory/HISTORY.md about each day: by the `model`, a plain `digest`, or nothing (`off`). */
      dailySummary: z.enum(["model", "digest", "off"]).default("model"),
    })
    .prefault({}),
  policy: z
    .strictObject({
      /** The last rule that matches a use of a tool decides. `*` stands for any text. */
      rules: z.array(policyRule).default([]),
      /** How long a question to a person waits in live chats, in seconds. */
      answerSeconds: whole(1, 86_400, 300),
      /** After so many seconds a question of the page or the terminal that nobody sees goes to an owner's chat as well. 0: never. */
      passOnSeconds: whole(0, 86_400, 60),
    })
    .prefault({}),
  inbound: z
    .strictObject({
      /** Messages that are taken in a minute: of one sender, in one chat. 0: no limit. Owners have none. */
      senderPerMinute: whole(0, 100_000, 30),
      chatPerMinute: whole(0, 100_000, 60),
      /** A file that is larger is refused. */
      maxFileMegabytes: whole(1, 500, 20),
    })
    .prefault({}),
  /** Writes down voice messages: an API with `/audio/transcriptions` as OpenAI has it. Without key and address: off. */
  transcription: z
    .strictObject({
      apiBase: optionalAddress,
      apiKey: optionalText,
      model: z.string().trim().min(1, "a name of at least one character").default("whisper-1"),
    })
    .prefault({}),
  /** Traces of turns, model calls and tools, by OTLP over HTTP. The variables of OpenTelemetry count too. */
  telemetry: z
    .strictObject({
      /** E.g. `http://localhost:4318`. Without one, nothing is sent. */
      otlpEndpoint: optionalAddress,
      headers: z.record(z.string(), z.string()).default({}),
      /** Also what people and tools said. */
      content: flag(false),
    })
    .prefault({}),
  log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error"]).default("info") }).prefault({}),
});

/** The config with every default filled in. */
type Parsed = z.output<typeof configSchema>;
type AgentDefaults = Parsed["agents"]["defaults"];
export type Config = Omit<Parsed, "agents"> & {
  readonly agents: Omit<Parsed["agents"], "defaults"> & {
    readonly defaults: Omit<AgentDefaults, "workspace"> & { readonly workspace: string };
  };
};
export type McpServerConfig = z.output<typeof mcpServer>;

/** Channels that the Go maxclaw or its relatives have and this one has not: accepted, and told when switched on. */
export const absentChannels: readonly string[] = [
  "dingtalk",
  "feishu",
  "line",
  "matrix",
  "mattermost",
  "mochat",
  "msteams",
  "qq",
  "signal",
  "slack",
  "wecom",
  "weixin",
  "whatsapp",
];

/** Keys that the Go maxclaw wrote into every file and that steer nothing here: dropped without a word. */
export const silentKeys: Readonly<Record<string, readonly string[]>> = {
  // Where an editor finds what may be here.
  "": ["$schema"],
  events: ["ringSize"],
  "tools.web.fetch": [
    "nodePath",
    "scriptPath",
    "waitUntil",
    "renderWaitMs",
    "smartWaitMs",
    "stableWaitMs",
    "waitForSelector",
    "waitForText",
    "waitForNoText",
    "chrome",
  ],
};
