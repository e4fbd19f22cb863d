import { z } from "zod";
import { type ChannelSections, channelSections, isPlatformName } from "../channels/platforms.js";
import { agentDefaults } from "./sections/agents.js";
import { budgets } from "./sections/budgets.js";
import { engine } from "./sections/engine.js";
import { gateway } from "./sections/gateway.js";
import { provider } from "./sections/providers.js";
import { type mcpServer, tools } from "./tools-schema.js";
import { flag, jsonValue, number, optionalAddress, optionalText, whole } from "./values.js";

const policyRule = z.strictObject({
  tool: z.string().min(1).optional().describe("Which tools the rule is about. Without it: any."),
  argument: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A path, an address, a chat, a command, or the whole input. `*` is any text, `?` any character. Without it: any.",
    ),
  channel: z.string().min(1).optional().describe("On which channel. Without it: any."),
  sender: z.string().min(1).optional().describe("Who asks, as `channel:sender`. Without it: anybody."),
  role: z.enum(["owner", "guest"]).optional().describe("`owner` or `guest`. Without it: both."),
  chat: z.enum(["dm", "group"]).optional().describe("In a direct chat (`dm`) or in a `group`. Without it: both."),
  verdict: z
    .enum(["allow", "ask", "deny"])
    .describe("`allow`, `ask` or `deny`. Of the rules that match, the last one counts."),
});

const price = number(z.number().min(0));

/** `accounts`: names of further accounts on platforms, such as `slack-acme`, each with the section of its platform. */
function channelsWith(accounts: readonly string[]): z.ZodType<ChannelSections> {
  // Zod forgets the types of named keys beside those of free ones.
  return z.strictObject(channelSections(accounts)).prefault({}) as z.ZodType<ChannelSections>;
}

/** The whole config file. Everything has a default; what is absent here exists nowhere else. */
export const configSchema = z.strictObject({
  agents: z
    .strictObject({
      defaults: agentDefaults.prefault({}),
      /** Sub-agents: how many of one conversation work at once, and how deep they may start others (0: none at all). */
      spawn: z
        .strictObject({
          atOnce: whole(1, 32, 4).describe(
            "How many helpers (sub-agents) of one conversation may work at the same time.",
          ),
          depth: whole(0, 5, 2).describe("How many levels deep helpers may start other helpers. 0: there are none."),
        })
        .prefault({}),
    })
    .prefault({}),
  providers: z.record(z.string(), provider).default({}).describe("Who runs the models: addresses and keys."),
  gateway: gateway.prefault({}),
  tools: tools.prefault({}),
  channels: channelsWith([]),
  owners: z
    .array(
      z
        .string()
        .trim()
        .regex(/^[a-z0-9-]+:\S+$/, "channel:sender, e.g. telegram:42"),
    )
    .default([])
    .describe("Who may do everything from a chat, as `channel:sender`, for example `telegram:42`."),
  /** What a message without `@skill:name` brings along: `auto`, `all` or `none`. */
  skills: z
    .strictObject({
      default: z
        .enum(["auto", "all", "none"])
        .default("auto")
        .describe("Which skills a message without `@skill:name` uses: those that fit (`auto`), `all` or `none`."),
    })
    .prefault({}),
  /** Where session documents are: `file`, `memory`, or a driver of unstorage with the options that it takes. */
  storage: z
    .strictObject({
      driver: z
        .string()
        .trim()
        .min(1, "the name of a driver, e.g. file or redis")
        .default("file")
        .describe(
          "Where the documents of conversations are kept: `file`, `memory`, or the name of a storage driver such as `redis`.",
        ),
      options: z.record(z.string(), jsonValue).default({}).describe("Options for that driver."),
    })
    .prefault({}),
  extensions: z
    .array(
      z.strictObject({
        module: z
          .string()
          .trim()
          .min(1, "a file such as ./my-tool.mjs")
          .describe("A file. A relative path starts at the home folder."),
        options: z.record(z.string(), jsonValue).default({}).describe("What the module is given."),
      }),
    )
    .default([])
    .describe(
      "Modules of your own that add tools, channels or providers. They run with all rights of the gateway, so they are named in the file only.",
    ),
  engine: engine.prefault({}),
  /** Decorations, each of which can be left out. */
  reactors: z
    .strictObject({
      typing: flag(true).describe("Show in chats that an answer is being written."),
      metrics: flag(true).describe("Offer numbers for monitoring at `/metrics`."),
      log: flag(true).describe("Write a log line for each thing that happens."),
      answers: flag(true).describe("Remove the buttons of a question once it is answered."),
      live: flag(true).describe("Show answers while they grow, in chats that can change a message."),
    })
    .prefault({}),
  events: z
    .strictObject({
      persistDetail: flag(true).describe("Keep the small steps of each answer, such as progress and tool output."),
      persistThoughts: flag(true).describe("Keep the model's thinking in stored messages."),
      detailDays: number(z.number().int().min(1).max(36_500))
        .optional()
        .meta({ description: "For how long both are kept. Without it: for ever.", unit: "days" }),
      snapshotTtlSeconds: whole(0, 86_400, 300).meta({
        description: "For how long somebody who comes late can still get the text of an answer that has just ended.",
        unit: "seconds",
      }),
    })
    .prefault({}),
  prices: z
    .record(
      z.string(),
      z.strictObject({
        input: price.meta({ description: "For what the model reads: US dollars for a million tokens.", unit: "usd" }),
        output: price.meta({ description: "For what it writes: US dollars for a million tokens.", unit: "usd" }),
        cacheRead: price.optional().meta({
          description: "For what it reads from the provider's cache: US dollars for a million tokens.",
          unit: "usd",
        }),
        cacheWrite: price
          .optional()
          .meta({ description: "For what is written to that cache: US dollars for a million tokens.", unit: "usd" }),
      }),
    )
    .default({})
    .describe(
      "What models cost, in US dollars for a million tokens, by model. Prices of known models are there already.",
    ),
  budgets,
  /** The assistant looks by itself through memory/heartbeat.md, again and again. */
  heartbeat: z
    .strictObject({
      enabled: flag(false).describe("The assistant looks through `memory/heartbeat.md` by itself, again and again."),
      everyMinutes: whole(1, 1440, 30).meta({ description: "How often it looks.", unit: "minutes" }),
      activeHours: optionalText
        .refine(
          (hours) => hours === undefined || /^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(hours),
          "hours such as 08:00-22:00",
        )
        .describe("The hours in which it looks, for example `08:00-22:00`. Without them: always."),
      chat: optionalText
        .refine((chat) => chat === undefined || /^[a-z0-9-]+:\S+$/.test(chat), "channel:chat, e.g. telegram:42")
        .describe(
          "Where it speaks: an owner's direct chat, for example `telegram:42`. Without one: where an owner wrote last.",
        ),
      budget: z
        .partialRecord(z.enum(["tokens", "usd", "turns"]), number(z.number().min(0)))
        .default({})
        .describe(
          "What it may use in a day: `tokens`, `usd`, `turns`. Without it, the budget of scheduled jobs counts.",
        ),
    })
    .prefault({}),
  memory: z
    .strictObject({
      titles: z
        .enum(["model", "first", "off"])
        .default("model")
        .describe(
          "Where the title of a conversation comes from: the `model` (on the page and in the terminal; elsewhere its first words), its `first` words, or there is none (`off`).",
        ),
      dailySummary: z
        .enum(["model", "digest", "off"])
        .default("model")
        .describe(
          "What `memory/HISTORY.md` gets about each of your days: a summary by the `model`, a plain `digest`, or nothing (`off`).",
        ),
    })
    .prefault({}),
  policy: z
    .strictObject({
      rules: z
        .array(policyRule)
        .default([])
        .describe("Rules about what tools may do. Of the rules that match, the last one counts."),
      passOnSeconds: whole(0, 86_400, 60).meta({
        description:
          "After so many seconds a question of the page or the terminal that nobody sees goes to an owner's chat as well. 0: never.",
        unit: "seconds",
      }),
      answerSeconds: whole(1, 86_400, 300).meta({
        description: "How long a question waits for a person in live chats.",
        unit: "seconds",
      }),
    })
    .prefault({}),
  inbound: z
    .strictObject({
      senderPerMinute: whole(0, 100_000, 30).meta({
        description: "How many messages of one person are accepted. 0: no limit. Owners have no limit.",
        unit: "messages a minute",
      }),
      chatPerMinute: whole(0, 100_000, 60).meta({
        description: "How many messages in one chat are accepted. 0: no limit.",
        unit: "messages a minute",
      }),
      maxFileMegabytes: whole(1, 500, 20).meta({
        description: "A larger file is refused, and its sender gets a message.",
        unit: "MB",
      }),
    })
    .prefault({}),
  /** Writes down voice messages: an API with `/audio/transcriptions` as OpenAI has it. Without key and address: off. */
  transcription: z
    .strictObject({
      apiBase: optionalAddress.describe(
        "The service that turns voice messages into text: a server with OpenAI's `/audio/transcriptions`. Without it: OpenAI.",
      ),
      apiKey: optionalText.describe("Your key there. Without key and address, voice messages are only kept as files."),
      model: z
        .string()
        .trim()
        .min(1, "a name of at least one character")
        .default("whisper-1")
        .describe("The model that listens."),
    })
    .prefault({}),
  /** Traces of turns, model calls and tools, by OTLP over HTTP. The variables of OpenTelemetry count too. */
  telemetry: z
    .strictObject({
      otlpEndpoint: optionalAddress.describe(
        "Where traces for monitoring go, for example `http://localhost:4318`. Without it, nothing is sent.",
      ),
      headers: z.record(z.string(), z.string()).default({}).describe("Sent along, for example a key of the collector."),
      content: flag(false).describe("Traces also hold what people and tools said."),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z
        .enum(["debug", "info", "warn", "error"])
        .default("info")
        .describe("How much is written to the log: `debug` is everything, `error` only what failed."),
    })
    .prefault({}),
});

/** The same for a file that has these further accounts. */
export function configSchemaWith(accounts: readonly string[]): typeof configSchema {
  return accounts.length === 0 ? configSchema : configSchema.extend({ channels: channelsWith(accounts) });
}

/** The config with every default filled in. */
type Parsed = z.output<typeof configSchema>;
type AgentDefaults = Parsed["agents"]["defaults"];
export type Config = Omit<Parsed, "agents"> & {
  readonly agents: Omit<Parsed["agents"], "defaults"> & {
    readonly defaults: Omit<AgentDefaults, "workspace"> & { readonly workspace: string };
  };
};
export type McpServerConfig = z.output<typeof mcpServer>;

/** Channels of the Go maxclaw or its relatives. Those that this one has not are accepted, and told when switched on. */
const relatedChannels = [
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
export const absentChannels: readonly string[] = relatedChannels.filter((name) => !isPlatformName(name));

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
