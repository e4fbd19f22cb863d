import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { packageOptions } from "../src/util/packages/options.js";
import { projectFile } from "./support/project.js";
import {
  cyclesIn,
  fieldCountsIn,
  importsOf,
  isBarrel,
  loadedWith,
  packageOf,
  readSources,
  type SourceFile,
  targetOf,
  withoutComments,
} from "./support/rules/source-code.js";

/** `*` stands for a part of one name, `**` for the rest of a path. Files are named without `.ts`. */
type Pattern = string;

interface Row {
  /** The first row that fits a file counts. */
  readonly files: Pattern;
  /** What they may import besides their own folder: `**` rows own everything below, others the folder itself. */
  readonly may: readonly Pattern[];
  /** What they may import with `import type` only. */
  readonly types?: readonly Pattern[];
  /** May import packages whose names it only learns when it runs. */
  readonly computed?: true;
}

const base = ["errors", "log", "util/**"] as const;

/** Who may import what. Nothing that is not named here is allowed. */
const table: readonly Row[] = [
  { files: "errors", may: [] },
  { files: "log", may: [] },
  // What is added to a home is only known there.
  { files: "util/packages/*", may: ["errors", "log", "util/**"], computed: true },
  { files: "util/**", may: ["errors", "log"] },
  { files: "log/**", may: base },
  { files: "pino-log", may: [...base, "log/**"] },
  { files: "events/**", may: base },
  { files: "policy/**", may: base, types: ["events/**", "bus/messages"] },
  { files: "engine/**", may: [...base, "events/**"], types: ["bus/messages"] },
  { files: "bus/**", may: [...base, "events/**"], types: ["engine/engine"] },
  { files: "sessions/**", may: [...base, "events/**"], types: ["engine/engine"] },
  { files: "labels/**", may: [...base, "policy/locations/zones"] },
  { files: "memory/**", may: [...base, "events/**"], types: ["engine/engine"] },
  { files: "skills/**", may: [...base, "events/**"], types: ["engine/engine"] },
  { files: "channels/formatting/**", may: base },
  // What all channels need of their own side and of the wire.
  { files: "channels/intake/*", may: base, types: ["channels/channel"] },
  { files: "channels/wire/*", may: base, types: ["channels/channel"] },
  { files: "channels/set-up", may: base, types: ["channels/platform"] },
  // A channel's section of the config, and the one list of those that the config can name.
  { files: "channels/*/section", may: [...base, "config/values"] },
  {
    files: "channels/platforms",
    may: [...base, "channels/account", "channels/*/platform"],
    types: ["channels/platform", "bus/replies"],
  },
  {
    files: "channels/*/**",
    may: [
      ...base,
      "channels/channel",
      "channels/formatting/**",
      "channels/intake/*",
      "channels/set-up",
      "channels/wire/*",
    ],
    types: ["bus/messages", "channels/platform"],
  },
  { files: "channels/*", may: [...base, "events/**"], types: ["bus/*", "engine/engine"] },
  // Each wire API knows what all providers share, never another one.
  ...["catalogue", "wire", "request"].map((room) => ({
    files: `providers/${room}/**`,
    may: [...base, "providers/*", "providers/*/*", "events/content"],
    types: ["events/**"],
  })),
  {
    files: "providers/*/**",
    may: [...base, "providers/*", "providers/wire/*", "providers/request/*", "events/content"],
    types: ["events/**"],
  },
  { files: "providers/*", may: [...base, "providers/**", "events/content"], types: ["events/**"] },
  { files: "budgets/**", may: [...base, "events/**"], types: ["engine/engine"] },
  { files: "documents/**", may: base },
  { files: "push/**", may: base },
  { files: "tools/**", may: [...base, "policy/**", "documents/*"] },
  { files: "mcp/**", may: [...base, "log/mask", "policy/**", "tools/tool", "tools/nearest", "tools/keep-file"] },
  { files: "schedule/**", may: [...base, "events/**"], types: ["bus/messages", "engine/engine"] },
  { files: "reactors/**", may: [...base, "events/**"], types: ["bus/messages", "engine/engine"] },
  { files: "telemetry/**", may: [...base, "events/**"] },
  {
    files: "agent/**",
    may: [...base, "events/**", "bus/message-bus"],
    types: [
      "bus/*",
      "engine/engine",
      "policy/*",
      "policy/commands/commands",
      "providers/provider",
      "budgets/*",
      "tools/tool",
      "sessions/**",
      "memory/*",
      "schedule/*",
      "skills/*",
    ],
  },
  // A message on its way in: who may talk, its files, what it answers.
  {
    files: "inbound/**",
    may: [...base, "events/**"],
    types: ["bus/*", "engine/engine", "channels/channel", "policy/*", "sessions/*", "agent/questions/open-questions"],
  },
  // What works on the files of a gateway that does not run, and finds one that does.
  { files: "backup/**", may: base },
  // Installs into a home what is not part of the program.
  { files: "packages/**", may: base },
  {
    files: "migrate/**",
    may: [
      ...base,
      "channels/platforms",
      "config/*",
      "config/faults/account-name",
      "providers/catalogue/presets",
      "sessions/file-names",
      "templates/workspace",
    ],
    types: ["channels/platform"],
  },
  {
    files: "offline/**",
    may: [
      ...base,
      "events/**",
      "engine/log-damage",
      "engine/embedded/**",
      "engine/postgres/moving/*",
      "engine/postgres/load-packages",
      "sessions/**",
      "backup/**",
      "migrate/**",
      "policy/policy",
      "providers/catalogue/find-model",
    ],
    types: ["engine/engine", "engine/moving"],
  },
  { files: "api/skill-files", may: [...base, "api/skills-api", "skills/*", "policy/locations/*"] },
  {
    files: "api/**",
    may: [...base, "events/**", "engine/log-damage"],
    types: [
      "bus/*",
      "engine/engine",
      "engine/held-files",
      "channels/channel",
      "channels/platform",
      "policy/*",
      "policy/devices/*",
      "sessions/*",
      "sessions/document/export",
      "sessions/marks/*",
      "sessions/search/search",
      "budgets/*",
      "schedule/*",
      "inbound/*",
      "push/*",
      "agent/turn/running-turns",
      "agent/questions/open-questions",
      "agent/model/context-use",
      "agent/model/sent-requests",
      "config/settings/setting-view",
    ],
  },
  { files: "http/**", may: [...base, "api/**", "config/**", "events/content"], types: ["events/**"] },
  // The version that an update has chosen.
  { files: "cli/start/start", may: [...base, "config/home", "update/current", "cli/*"], computed: true },
  // The scripts of the bundle.
  { files: "cli/start/scripts", may: [...base, "cli/start/*"], computed: true },
  {
    files: "cli/**",
    may: [
      ...base,
      "api/**",
      "offline/**",
      "config/**",
      "events/catalogue",
      "events/session-key",
      "sessions/file-names",
      "log/**",
      "mcp/*",
      "mcp/auth/login",
      "mcp/auth/oauth",
      "packages/*",
      "pino-log",
      "providers/catalogue/find-model",
      "providers/catalogue/presets",
      "onboarding/*",
      "templates/**",
      "client/**",
      "gateway",
      "replay/*",
      "service/*",
      "update/*",
      "doctor/**",
    ],
    types: ["events/**", "engine/engine", "channels/platform"],
  },
  // Other versions of this program, beside the one that runs.
  { files: "update/**", may: base },
  // The system's own manager of services, which starts the gateway.
  { files: "service/**", may: base },
  // Looks at everything from outside, and changes nothing.
  {
    files: "doctor/**",
    may: [
      ...base,
      "log/mask",
      "config/*",
      "config/faults/fault",
      "offline/*",
      "service/*",
      "channels/platforms",
      "providers/catalogue/*",
      "tools/exec/sandbox/find",
      "tools/browser/find-chromium",
      "mcp/settings",
      "mcp/try-server",
    ],
  },
  // Tries what somebody is about to write into the config, and finds out who they are.
  {
    files: "onboarding/**",
    may: [...base, "config/*", "channels/platforms", "doctor/provider-answers"],
    types: ["channels/channel", "channels/platform"],
  },
  { files: "client/**", may: ["util/text/visible", "util/async/backoff"], types: ["events/**"] },
  {
    files: "web/**",
    may: [
      "client/**",
      "channels/formatting/bounded-lexer",
      "util/text/visible",
      "util/words/**",
      "events/inbox-events",
    ],
    types: ["events/**"],
  },
  { files: "templates/**", may: base },
  { files: "config/**", may: [...base, "channels/platforms"], types: ["channels/platform"] },
  // Puts the agent together with an engine of its own, and with a model and tools that only play.
  {
    files: "replay/**",
    may: [...base, "events/**", "engine/embedded/**", "bus/*", "sessions/**", "agent/**", "budgets/*"],
    types: ["engine/engine", "providers/provider", "tools/tool"],
  },
  // The composition root, in several files. Only one of them opens the engine of files.
  { files: "gateway", may: ["**"] },
  // The config names a module.
  { files: "wiring/extensions/load", may: ["**"], computed: true },
  { files: "wiring/**", may: ["**"] },
  // What programs build on: the composition root, behind a face of its own.
  {
    files: "library/**",
    may: [...base, "api/**", "config/**", "events/**", "wiring/runtime"],
    types: ["wiring/options", "providers/provider", "sessions/*"],
  },
  { files: "index", may: ["**"] },
];

/** What only these may import from `engine/embedded/`: for all others there is the contract alone, with any engine behind it. */
const ofEmbeddedEngine: readonly { readonly files: Pattern; readonly may: Pattern }[] = [
  { files: "engine/embedded/**", may: "**" },
  { files: "offline/**", may: "**" },
  { files: "replay/**", may: "**" },
  // Opens it, and hands what it has to do with files to who needs that.
  { files: "wiring/core/core", may: "engine/embedded/open-home" },
  { files: "wiring/options", may: "engine/embedded/open-home" },
  // A home is held in the same way, whatever keeps its messages.
  { files: "wiring/core/cluster-home", may: "engine/embedded/open-home" },
  { files: "wiring/core/cluster-home", may: "engine/embedded/locking/lock" },
];

/** Packages that only these may import, in any way. */
const packageHomes: Readonly<Record<string, readonly Pattern[]>> = {
  "@modelcontextprotocol/client": ["mcp/**"],
  "@modelcontextprotocol/server": ["mcp/**"],
  grammy: ["channels/telegram/**"],
  json5: ["migrate/openclaw/json5"],
  imapflow: ["channels/email/**"],
  mailparser: ["channels/email/**"],
  nodemailer: ["channels/email/**"],
  mailauth: ["channels/email/**"],
  "@discordjs/rest": ["channels/discord/**"],
  "@discordjs/ws": ["channels/discord/**"],
  openai: ["providers/openai/**"],
  "@anthropic-ai/sdk": ["providers/anthropic/**"],
  ws: ["http/**", "cli/**", "client/node", "channels/websocket/*", "channels/wire/*"],
  yaml: ["config/**"],
  "gray-matter": ["skills/**"],
  commander: ["cli/**"],
  yauzl: ["documents/archive", "skills/unzip"],
  "tar-stream": ["backup/**"],
  "iconv-lite": ["util/text/windows-charset"],
  htmlparser2: ["channels/email/**", "documents/office-xml", "tools/web/duckduckgo-page"],
  linkedom: ["tools/web/readable-worker"],
  "@mozilla/readability": ["tools/web/readable-worker"],
  turndown: ["tools/web/readable-worker"],
  pino: ["log", "log/**", "pino-log"],
  marked: ["channels/formatting/**", "web/**"],
  dompurify: ["web/**"],
  preact: ["web/panes/**"],
  idb: ["web/outbox/**", "web/offline/**"],
  uqr: ["web/parts/qr-code", "cli/text/qr"],
  katex: ["web/chat/markdown/maths"],
  "@shikijs/core": ["web/chat/markdown/colours", "web/chat/markdown/languages"],
  "@shikijs/engine-javascript": ["web/chat/markdown/colours"],
  "@shikijs/langs": ["web/chat/markdown/languages"],
  vite: ["web/vite.config"],
};

/** Loaded only by those who switch on what needs them. */
const heavyPackages = [
  "tar-stream",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server",
  "grammy",
  "imapflow",
  "mailparser",
  "nodemailer",
  "mailauth",
  "@discordjs/rest",
  "@discordjs/ws",
  "openai",
  "@anthropic-ai/sdk",
  "yaml",
  "gray-matter",
  "yauzl",
  "htmlparser2",
  "linkedom",
  "@mozilla/readability",
  "turndown",
];

/** Code that is not allowed, and where it is all the same. */
const forbidden: readonly {
  readonly name: string;
  readonly code: RegExp;
  readonly except?: readonly Pattern[];
}[] = [
  { name: "AbortSignal.any, which leaks on a long-lived signal (use util/linked)", code: /\bAbortSignal\.any\b/ },
  {
    name: "timers/promises, which mock timers do not reach (use util/sleep)",
    code: /["'](?:node:)?timers\/promises["']/,
  },
  { name: "variables of a module, which are state that belongs to nobody", code: /^(?:export\s+)?(?:let|var)\s/m },
  {
    name: "process.env and process.argv outside of cli/, which passes them on",
    code: /\bprocess\.(?:env|argv)\b/,
    // mcp passes on a few harmless names, util all of them to git.
    except: ["cli/**", "mcp/transport/environment", "util/program-environment"],
  },
  {
    name: "process.exit outside of cli/",
    code: /\bprocess\.exit(?:Code)?\b/,
    // The default of `onFatal`: after a failed fsync nothing may go on.
    except: ["cli/**", "engine/embedded/**"],
  },
  {
    name: "mkdir with recursive, which goes round for ever where nothing can be made (use util/files/make-folder)",
    code: /\bmkdir(?:Sync)?\([^;]*\brecursive\b/,
    except: ["web/vite.config"],
  },
];

/** More fields than a part with one job has: documents of a wire or a disk, which are as they are, and two contracts. */
const wide: Readonly<Record<string, string>> = {
  "api/cron-api.ts CronJobView": "a document of HTTP",
  "api/gateway-status.ts GatewayStatus": "a document of HTTP",
  "bus/messages.ts InboundMessage": "a document of the journal",
  "cli/onboard/flags.ts OnboardFlags": "the flags of a command, as commander gives them",
  "events/event.ts EventOf": "a document of wire and disk",
  "http/answer-projection.ts AnswerFrame": "a document of HTTP",
  "sessions/session.ts SessionMetadata": "a document of the disk, as the Go maxclaw wrote it",
  "channels/channel.ts Channel":
    "the contract of those who write channels: four things to write, and each of the others by choice",
  "engine/engine.ts Engine": "a contract of methods, which each engine writes as a whole",
  "engine/engine.ts Delivery": "a contract of methods: an attempt, and what its handler may do with it",
};

/** The bridge to WhatsApp: a program of its own, which shares only what belongs to nobody. */
const bridgeTable: readonly Row[] = [
  {
    files: "bridges/whatsapp/src/link/**",
    may: ["bridges/whatsapp/src/whatsapp", ...base.map((one) => `src/${one}`)],
    types: ["src/channels/whatsapp/frames"],
  },
  {
    files: "bridges/whatsapp/src/keep/home",
    may: [...base.map((one) => `src/${one}`), "src/engine/embedded/locking/lock"],
  },
  {
    files: "bridges/whatsapp/src/**",
    may: [...base.map((one) => `src/${one}`), "src/channels/whatsapp/frames"],
  },
];

const sources = readSources("src");
const bridgeSources = readSources("bridges/whatsapp/src").map((file) => ({
  ...file,
  path: `bridges/whatsapp/src/${file.path}`,
}));

function fits(path: string, pattern: Pattern): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("**", "\0")
    .replaceAll("*", "[^/]*")
    .replaceAll("\0", ".*");
  return new RegExp(`^${source}(?:\\.tsx?)?$`).test(path);
}

const fitsAny = (path: string, patterns: readonly Pattern[]): boolean =>
  patterns.some((pattern) => fits(path, pattern));

/** The folder that a row's files may use freely: the part that its `**` leaves fixed, or the file's own folder. */
function ownFolder(path: string, { files }: Row): string {
  const depth = files.endsWith("/**") ? files.split("/").length - 1 : path.split("/").length - 1;
  return depth === 0 ? path : `${path.split("/").slice(0, depth).join("/")}/**`;
}

/** What a file knows about the embedded engine though the contract should be enough for it, each as `file → target`. */
function leaksOfEngine({ path, imports }: Pick<SourceFile, "path" | "imports">): readonly string[] {
  const allowed = ofEmbeddedEngine.filter(({ files }) => fits(path, files)).map(({ may }) => may);
  return imports.flatMap(({ specifier }) => {
    const target = targetOf(path, specifier);
    if (target === undefined || !fits(target, "engine/embedded/**") || fitsAny(target, allowed)) return [];
    return [`${path} → ${target}`];
  });
}

/** What a file imports against the table, each as `file → target`. */
function breaches(file: Pick<SourceFile, "path" | "imports">, rows: readonly Row[]): readonly string[] {
  const row = rows.find(({ files }) => fits(file.path, files));
  if (row === undefined) return [`${file.path} has no row in the table`];
  return file.imports.flatMap(({ kind, specifier }) => {
    if (specifier === "?") return row.computed ? [] : [`${file.path} → import() of something computed`];
    const target = targetOf(file.path, specifier);
    if (target === undefined) return [];
    const allowed = [ownFolder(file.path, row), ...row.may, ...(kind === "type" ? (row.types ?? []) : [])];
    return fitsAny(target, allowed) ? [] : [`${file.path} → ${target}${kind === "type" ? " (type)" : ""}`];
  });
}

describe("the source code", () => {
  test("imports only what the table allows", () => {
    assert.deepEqual(
      sources.flatMap((file) => breaches(file, table)),
      [],
    );
  });

  test("of the bridge to WhatsApp shares what belongs to nobody, and knows baileys in one room", () => {
    assert.deepEqual(
      bridgeSources.flatMap((file) => breaches(file, bridgeTable)),
      [],
    );
    const users = bridgeSources.filter(({ imports }) => imports.some(({ specifier }) => specifier === "baileys"));
    assert.ok(users.length > 0 && users.every(({ path }) => path.startsWith("bridges/whatsapp/src/link/")));
    assert.deepEqual(cyclesIn(bridgeSources), []);
  });

  test("keeps the paths, locks and files of the embedded engine to itself", () => {
    assert.deepEqual(
      sources.flatMap((file) => leaksOfEngine(file)),
      [],
    );
  });

  test("has no import cycles", () => {
    assert.deepEqual(cyclesIn(sources), []);
  });

  test("keeps each package in its own room", () => {
    const strays = sources.flatMap(({ path, imports }) =>
      imports.flatMap(({ specifier }) => {
        const name = packageOf(specifier);
        const homes = name === undefined ? undefined : packageHomes[name];
        return homes === undefined || fitsAny(path, homes) ? [] : [`${path} → ${specifier}`];
      }),
    );
    assert.deepEqual(strays, []);
  });

  test("names each platform in one list, and each family of tools in another one", () => {
    const importers = (isPart: RegExp): readonly string[] =>
      sources.flatMap(({ path, imports }) => {
        const room = path.split("/").slice(0, 2).join("/");
        const isFar = imports.some(({ kind, specifier }) => {
          const target = targetOf(path, specifier);
          return kind !== "type" && target !== undefined && isPart.test(target) && !target.startsWith(`${room}/`);
        });
        return isFar ? [path] : [];
      });
    assert.deepEqual(importers(/^channels\/(?!(?:formatting|intake|wire)\/)[^/]+\//), ["channels/platforms.ts"]);
    assert.deepEqual(
      importers(/^tools\/[^/]+\//).filter((path) => !path.startsWith("tools/")),
      // The doctor only tries what two of them need of the machine.
      ["doctor/tool-programs.ts", "wiring/runtime.ts", "wiring/tools/tools.ts"],
    );
  });

  test("names no platform outside of its folder", () => {
    // The Go maxclaw's blank config, what the terminal guesses about mail servers, examples for people, and what channels say.
    const may = [
      "channels/*/**",
      "channels/platforms",
      "config/blank",
      "config/schema",
      "web/failures/channels",
      "cli/onboard/*",
      "cli/commands/onboard",
    ];
    // Rules that name the role of a chat are tried with somebody unknown.
    const words = ["mcp/asking/form", "http/**", "api/policy/tools-operations"];
    const name =
      /(?:["'`]|channels[.?]+)(?:telegram|discord|email|websocket|slack|qq|whatsapp(?:-business)?|xmpp)(?:["'`]|\b(?=[.?]))/;
    const found = sources.filter(
      ({ path, code }) => !fitsAny(path.replace(/\.tsx?$/, ""), [...may, ...words]) && name.test(withoutComments(code)),
    );
    assert.deepEqual(
      found.map(({ path }) => path),
      [],
    );
  });

  test("gives the system bus to those who put the parts together, and views of it to everybody else", () => {
    const makers = (target: string): readonly string[] =>
      sources.flatMap(({ path, imports }) => {
        const isMaker = imports.some(({ kind, specifier }) => kind !== "type" && targetOf(path, specifier) === target);
        return isMaker ? [path] : [];
      });
    assert.deepEqual(makers("events/bus/system-bus.ts"), ["replay/replay-turn.ts", "wiring/core/core.ts"]);
    assert.deepEqual(makers("events/bus/agent-bus.ts"), ["agent/agent.ts"]);
    const holders = sources.filter(({ path, code }) => !path.startsWith("events/bus/") && /\bSystemBus\b/.test(code));
    assert.deepEqual(
      holders.map(({ path }) => path),
      [],
    );
  });

  test("imports only packages that come along with the program", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(projectFile("package.json"), "utf8"));
    const added = Object.values(packageOptions).flatMap(({ packages }) => packages);
    // What is imported goes into the bundle; what is added to a home is never imported by its name.
    const bundled = Object.keys(devDependencies).filter((name) => !added.includes(name));
    const packages = new Set([...Object.keys(dependencies), ...bundled]);
    const strays = sources.flatMap(({ path, imports }) => {
      // The page is built with what it needs.
      if (path.startsWith("web/")) return [];
      const names = imports
        .filter(({ kind }) => kind !== "type")
        .flatMap(({ specifier }) => packageOf(specifier) ?? []);
      return names.filter((name) => name !== "?" && !packages.has(name)).map((name) => `${path} → ${name}`);
    });
    assert.deepEqual(strays, []);
  });

  test("loads heavy packages only where what needs them is switched on", () => {
    for (const entry of ["cli/main.ts", "gateway.ts", "index.ts"]) {
      const loaded = loadedWith(entry, sources);
      for (const name of heavyPackages) assert.equal(loaded.get(name), undefined, `${entry} loads ${name}`);
    }
  });

  test("needs nothing but a browser in client/ and web/, except for the client's entry for Node", () => {
    const strays = sources.flatMap(({ path, imports }) => {
      if (!/^(client|web)\//.test(path) || ["web/vite.config.ts", "client/node.ts"].includes(path)) return [];
      const allowed = path.startsWith("web/")
        ? ["marked", "dompurify", "idb", "katex", "preact", "@shikijs", "uqr"]
        : [];
      return imports
        .filter(({ specifier }) => !specifier.startsWith(".") && !allowed.includes(specifier.split("/")[0] ?? ""))
        .map(({ specifier }) => `${path} → ${specifier}`);
    });
    assert.deepEqual(strays, []);
    assert.deepEqual([...loadedWith("client/client.ts", sources).keys()], []);
    assert.deepEqual([...loadedWith("client/node.ts", sources).keys()], ["ws"]);
  });

  for (const { name, code, except = [] } of forbidden) {
    test(`has no ${name}`, () => {
      const places = sources
        .filter((file) => !fitsAny(file.path, except) && code.test(file.code))
        .map((file) => file.path);
      assert.deepEqual(places, []);
    });
  }

  test("has no file over 400 lines", () => {
    const long = sources.filter((file) => file.lines > 400);
    assert.deepEqual(
      long.map((file) => `${file.path}: ${file.lines}`),
      [],
    );
  });

  test("has no bag of more than 12 fields", () => {
    const found = sources.flatMap(({ path, code }) =>
      fieldCountsIn(code)
        .filter(({ fields }) => fields > 12)
        .map(({ name, fields }) => ({ place: `${path} ${name}`, fields })),
    );
    const places = found.map(({ place }) => place);
    assert.deepEqual(
      found.filter(({ place }) => !(place in wide)).map(({ place, fields }) => `${place}: ${fields}`),
      [],
    );
    assert.deepEqual(
      Object.keys(wide).filter((place) => !places.includes(place)),
      [],
      "an exception that nobody needs",
    );
  });

  test("has no folder with more files than one sees at a glance", () => {
    const counts = new Map<string, number>();
    for (const { path } of [
      ...sources,
      ...readSources(projectFile("test")).map(({ path }) => ({ path: `test/${path}` })),
    ]) {
      const folder = path.slice(0, path.lastIndexOf("/"));
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    const crowded = [...counts].filter(([, count]) => count > 16).map(([folder, count]) => `${folder}: ${count} files`);
    assert.deepEqual(crowded, []);
  });

  test("has no barrels", () => {
    const barrels = sources.filter((file) => file.path !== "index.ts" && isBarrel(file.code));
    assert.deepEqual(
      barrels.map((file) => file.path),
      [],
    );
  });
});

describe("each random test", () => {
  test("names its seed, so that a failing run can be repeated", () => {
    const count = (code: string, pattern: RegExp): number => code.match(pattern)?.length ?? 0;
    const unnamed = readSources(projectFile("test")).filter(
      ({ code }) =>
        /\bMath\.random\(/.test(code) || count(code, /\bfc\.assert\(/g) > count(code, /\bfuzzOptions\(|\bseed\b[,:]/g),
    );
    assert.deepEqual(
      unnamed.map(({ path }) => path),
      [],
    );
  });
});

describe("the check itself", () => {
  test("sees static, type-only and dynamic imports, over several lines, and none in comments and strings", () => {
    const code = withoutComments(
      [
        '// import { a } from "./comment.js";',
        '/* import "./block.js"; import("./block.js") */',
        'import { a, type B } from "./static.js";',
        'import type {\n  C,\n} from "./types.js";',
        'import * as all from "node:fs";',
        'import "./effect.js";',
        'export type { D } from "./passed-on.js";',
        'const url = "https://x.test/"; // import("./tail.js")',
        "const quoted = /[\"'`]/;",
        'const lazy = () => import("grammy");',
        "const computed = () => import(name);",
        'export const text = "import";',
      ].join("\n"),
    );
    assert.deepEqual(
      importsOf(code).map(({ kind, specifier }) => `${kind} ${specifier}`),
      [
        "static ./static.js",
        "type ./types.js",
        "static node:fs",
        "static ./effect.js",
        "type ./passed-on.js",
        "dynamic grammy",
        "dynamic ?",
      ],
    );
    assert.ok(code.includes("https://x.test/"));
  });

  test("reports what the table does not allow: other folders, values where only types are, computed imports", () => {
    const wrong = (path: string, code: string): readonly string[] =>
      breaches({ path, imports: importsOf(code) }, table);
    assert.deepEqual(wrong("channels/telegram/a.ts", 'import { b } from "../discord/b.js";'), [
      "channels/telegram/a.ts → channels/discord/b.ts",
    ]);
    assert.deepEqual(wrong("channels/telegram/a.ts", 'import { b } from "../../bus/messages.js";').length, 1);
    assert.deepEqual(wrong("channels/telegram/a.ts", 'import type { b } from "../../bus/messages.js";'), []);
    assert.deepEqual(wrong("channels/telegram/a.ts", 'import { b } from "./deep/b.js";'), []);
    assert.equal(wrong("channels/telegram/a.ts", 'const x = import("../../engine/engine.js");').length, 1);
    assert.equal(wrong("agent/a.ts", 'import { x } from "../engine/embedded/open.js";').length, 1);
    assert.equal(wrong("events/a.ts", "const x = import(name);").length, 1);
    assert.deepEqual(wrong("nowhere/a.ts", ""), ["nowhere/a.ts has no row in the table"]);
    assert.deepEqual(wrong("gateway.ts", 'import { x } from "./engine/embedded/open.js";'), []);
    const leaks = (path: string, code: string): number => leaksOfEngine({ path, imports: importsOf(code) }).length;
    assert.equal(leaks("gateway.ts", 'import { x } from "./engine/embedded/open.js";'), 1);
    assert.equal(leaks("wiring/core/core.ts", 'import { x } from "../../engine/embedded/locking/lock.js";'), 1);
    assert.equal(leaks("wiring/core/core.ts", 'import { x } from "../../engine/embedded/open-home.js";'), 0);
    assert.equal(leaks("sessions/a.ts", 'import type { x } from "../engine/embedded/options.js";'), 1);
    assert.equal(leaks("sessions/a.ts", 'import type { x } from "../engine/engine.js";'), 0);
  });

  test("recognises each piece of code that is not allowed, and nothing that looks like it", () => {
    const found = (code: string): number => forbidden.findIndex((one) => one.code.test(code));
    assert.equal(found("const s = AbortSignal.any([a, b]);"), 0);
    assert.equal(found('import { setTimeout } from "node:timers/promises";'), 1);
    assert.equal(found("const a = 1;\nexport let count = 0;"), 2);
    assert.equal(found("const home = process.env.HOME;"), 3);
    assert.equal(found("process.exitCode = 1;"), 4);
    assert.equal(found("await mkdir(join(a, b), { recursive: true });"), 5);
    assert.equal(found("function f() {\n  let a = 1;\n}\nconst letter = process.environment;"), -1);
  });

  test("counts the fields of interfaces and of the objects in types, and nothing else", () => {
    const count = (code: string): readonly string[] =>
      fieldCountsIn(code).map(({ name, fields }) => `${name} ${fields}`);
    assert.deepEqual(
      count("interface A {\n  readonly a: string;\n  /** b; c; */\n  go(x: { y: 1; z: 2 }): void;\n}\n"),
      ["A 2", "A 2"],
    );
    assert.deepEqual(count('export type B = Omit<A, "{;"> & {\n  readonly a: 1;\n  readonly b: 2;\n};\n'), ["B 2"]);
    assert.deepEqual(count("type C =\n  | { readonly a: 1 }\n  | { readonly a: 2; b: 3 };\nconst d = { a: 1 };\n"), [
      "C 1",
      "C 2",
    ]);
    assert.deepEqual(count("interface E {}\nclass F {\n  a = 1;\n}\n"), ["E 0"]);
  });

  test("finds cycles, barrels, and what is loaded with an entry", () => {
    const file = (path: string, code: string): SourceFile => ({ path, code, lines: 1, imports: importsOf(code) });
    const files = [
      file("a.ts", 'import { b } from "./b.js";'),
      file("b.ts", 'import type { c } from "./x/c.js";\nimport { Bot } from "grammy";'),
      file("x/c.ts", 'import { a } from "../a.js";\nconst lazy = import("openai/resources");'),
      file("d.ts", 'const a = import("./a.js");'),
    ];
    assert.deepEqual(cyclesIn(files), ["a.ts → b.ts → x/c.ts → a.ts"]);
    assert.deepEqual([...loadedWith("a.ts", files)], [["grammy", "b.ts"]]);
    assert.deepEqual([...loadedWith("d.ts", files)], []);
    assert.ok(isBarrel('export * from "./a.js";\nexport { b } from "./b.js";\n'));
    assert.ok(!isBarrel('export { b } from "./b.js";\nexport const c = 1;\n'));
    assert.ok(!isBarrel(""));
    assert.equal(packageOf("@anthropic-ai/sdk/core/streaming"), "@anthropic-ai/sdk");
  });
});
