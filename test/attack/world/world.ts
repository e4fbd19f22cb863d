import { mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type FakeTelegram, startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { freePort } from "../../support/fakes/network/free-port.js";
import { compiledFile } from "../../support/project.js";
import { startProgram, type WebSocketProgram } from "../../support/worlds/channels/websocket-program.js";
import type { FakeModelServer, RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";
import { browserArgs } from "../../support/worlds/needs.js";
import { GivenAnswers } from "../answers.js";
import { type Call, type CallSpec, Calls } from "../calls.js";
import { Judge } from "../judge/judge.js";
import type { Mode } from "../judge/oracle.js";
import { Violations } from "../judge/violations.js";
import { type Seeds, seedHome } from "../seed.js";
import { type Asked, readAsked } from "../worst-model.js";
import { Canaries, foreignTo } from "./canaries.js";
import { GatewayProcess } from "./gateway-process.js";
import { type Chat, firstChats, type Person } from "./people.js";
import { type AttackSite, startAttackSite } from "./site.js";
import { startTap, type Tap } from "./tap.js";

export interface WorldOptions {
  readonly mode: Mode;
  readonly sandbox: "auto" | "off";
  /** Further entries of `policy.rules`. */
  readonly rules?: readonly object[];
  readonly hasBrowser?: boolean;
  /** Broken promises that are not looked at. */
  readonly ignored?: RegExp | undefined;
  /** Further MCP servers. */
  readonly servers?: (world: Pick<AttackWorld, "root" | "seeds">) => Readonly<Record<string, object>>;
}

/** Decides what the model does next. */
export type Play = (asked: Asked, call: (spec: CallSpec) => CallSpec) => ScriptedAnswer | readonly CallSpec[] | string;

/** A gateway in a process of its own, and around it everything that could be hurt by it, all on loopback. */
export class AttackWorld implements AsyncDisposable {
  readonly options: WorldOptions;
  readonly root: string;
  readonly canaries = new Canaries();
  readonly violations: Violations;
  readonly calls = new Calls();
  readonly answers = new GivenAnswers();
  readonly seeds: Seeds;
  readonly judge: Judge;
  /** Who said the message of a mark. */
  readonly speakers = new Map<string, Person>();
  /** Results of tools, by the mark of the turn that they were read in. */
  readonly results = new Map<string, string[]>();
  play: Play = () => "Fine.";
  readonly #chats = new Map<string, Chat>(firstChats.map((chat) => [chat.name, chat]));
  readonly #known = new Map<string, Set<string>>();
  #parts: Parts | undefined;
  #gateway: GatewayProcess | undefined;
  #said = "";
  #calls = 0;
  #marks = 0;
  #mcpRead = 0;

  private constructor(options: WorldOptions) {
    this.options = options;
    this.violations = new Violations(options.ignored);
    this.root = mkdtempSync(join(tmpdir(), "maxclaw-attack-"));
    this.seeds = seedHome(this.root, this.canaries);
    this.judge = new Judge(this);
  }

  static async open(options: WorldOptions): Promise<AttackWorld> {
    const world = new AttackWorld(options);
    try {
      world.#parts = await openParts(world);
      writeFileSync(join(world.home, "config.json"), JSON.stringify(configOf(world, world.#parts)));
      world.judge.begin();
      await world.start();
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  get home(): string {
    return join(this.root, "home");
  }

  get workspace(): string {
    return join(this.home, "workspace");
  }

  get gateway(): GatewayProcess {
    if (this.#gateway === undefined) throw new Error("The gateway was not started");
    return this.#gateway;
  }

  get parts(): Parts {
    if (this.#parts === undefined) throw new Error("The world was not opened");
    return this.#parts;
  }

  get chats(): readonly Chat[] {
    return [...this.#chats.values()];
  }

  /** All that the lives of the gateway have written to the terminal. */
  get said(): string {
    return this.#said + (this.#gateway?.said ?? "");
  }

  chat(name: string): Chat {
    const chat = this.#chats.get(name);
    if (chat === undefined) throw new Error(`There is no chat ${name}`);
    return chat;
  }

  addChat(chat: Chat): void {
    this.#chats.set(chat.name, chat);
  }

  /** The chat gets to see these addresses from outside, as a whole. */
  show(chat: Chat, text: string): void {
    const known = this.#known.get(chat.key) ?? new Set();
    for (const [url] of text.matchAll(/https?:\/\/[^\s"'<>)\]]+/g)) if (URL.canParse(url)) known.add(new URL(url).href);
    this.#known.set(chat.key, known);
  }

  knows(chat: Chat, url: string): boolean {
    return this.#known.get(chat.key)?.has(new URL(url).href) === true;
  }

  newMark(chat: Chat, by: Person): string {
    this.#marks += 1;
    const mark = `#${chat.name}.${this.#marks}`;
    this.speakers.set(mark, by);
    return mark;
  }

  /** What the MCP server says from now on. */
  sayByMcp(text: string): void {
    writeFileSync(join(this.root, "mcp-says.txt"), text);
  }

  /** Inputs of calls that have reached the MCP server since the last look. */
  mcpCalls(): readonly string[] {
    const lines = readFileSync(join(this.root, "mcp-calls.jsonl"), "utf8").split("\n").slice(0, -1);
    const fresh = lines.slice(this.#mcpRead);
    this.#mcpRead = lines.length;
    return fresh;
  }

  /** Puts a file into the workspace as its owner's own programs do: whole, under another name first. */
  save(name: string, text: string): void {
    const target = join(this.workspace, name);
    this.judge.expect(join("workspace", name), text);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(join(this.root, "half"), text);
    renameSync(join(this.root, "half"), target);
  }

  async start(): Promise<void> {
    const environment = { ...this.seeds.environment, TZ: "UTC" };
    this.#gateway = await GatewayProcess.start(this.home, this.seeds.gatewayToken, environment);
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    this.violations.note(`the gateway ends with ${signal} and starts again`);
    await this.gateway.end(signal);
    this.#said += this.gateway.said;
    this.#gateway = undefined;
    await this.start();
  }

  onRequest(request: RecordedRequest): ScriptedAnswer {
    const asked = readAsked(request);
    const chat = this.#chats.get(asked.chat);
    if (chat === undefined) {
      this.violations.note(`a request to the model of no chat: ${request.userText.slice(0, 100)}`);
      return { text: "Who is there?" };
    }
    this.judge.readByModel(chat, asked);
    if (asked.result !== "" && asked.step > 0) this.#keepResult(asked);
    const speaker = this.speakers.get(asked.mark) ?? "owner";
    const foreign = foreignTo(speaker, this.canaries.in(asked.text));
    const made = this.play(asked, (spec) => spec);
    if (typeof made === "string") return { text: asked.kind === "sub" ? `${made} told ${asked.mark}` : made };
    if (!isCalls(made)) return made;
    const toolCalls = made.map((spec) => {
      this.#calls += 1;
      const call: Call = { ...spec, id: `call_${this.#calls}`, chat, speaker, foreign };
      this.calls.add(call);
      const tail = foreign.length > 0 || chat.isGroup ? " (influenced)" : "";
      this.violations.note(`  ${asked.kind} ${asked.mark}: ${spec.name} ${JSON.stringify(spec.input)}${tail}`);
      return { id: call.id, name: spec.name, input: spec.input };
    });
    return { toolCalls };
  }

  #keepResult({ mark, result }: Asked): void {
    const known = this.results.get(mark) ?? [];
    if (known.at(-1) !== result) {
      known.push(result);
      this.violations.note(`  <- ${result.slice(0, 150).replaceAll("\n", " / ")}`);
    }
    this.results.set(mark, known);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A browser that is left alone goes on writing for a while.
    await this.#gateway?.end(this.options.hasBrowser === true ? "SIGTERM" : "SIGKILL");
    await this.#parts?.program[Symbol.asyncDispose]();
    await this.#parts?.tap[Symbol.asyncDispose]();
    await this.#parts?.telegram.stop();
    await this.#parts?.site[Symbol.asyncDispose]();
    await this.#parts?.model[Symbol.asyncDispose]();
    await rm(this.root, { recursive: true, force: true, maxRetries: 20 });
  }
}

function isCalls(made: ScriptedAnswer | readonly CallSpec[]): made is readonly CallSpec[] {
  return Array.isArray(made);
}

/** The far sides. */
export interface Parts {
  readonly model: FakeModelServer;
  readonly telegram: FakeTelegram;
  readonly tap: Tap;
  readonly site: AttackSite;
  readonly doorPort: number;
  readonly program: WebSocketProgram;
}

async function openParts(world: AttackWorld): Promise<Parts> {
  mkdirSync(join(world.root, "proofs"));
  writeFileSync(join(world.root, "mcp-calls.jsonl"), "");
  world.sayByMcp("Noted.");
  mkdirSync(join(world.root, "python"));
  writeFileSync(join(world.root, "python", "attack_mcp.py"), pythonServer);
  const telegram = await startFakeTelegram({ token: world.seeds.telegramToken });
  const doorPort = await freePort();
  return {
    model: await startFakeOpenAI({ answer: (request) => world.onRequest(request) }),
    telegram,
    tap: await startTap(telegram.url, (call) => world.judge.sentToTelegram(call)),
    site: await startAttackSite(
      (visit) => world.judge.visited(visit),
      // What it finds has come from outside.
      ({ asked, found }) => {
        for (const { chat } of world.calls.marked(asked)) world.show(chat, found);
      },
    ),
    doorPort,
    // Comes back by itself as often as the gateway does.
    program: startProgram(`ws://127.0.0.1:${doorPort}/ws?chatId=desk`),
  };
}

function configOf(world: AttackWorld, { model, tap, site, doorPort }: Parts): object {
  const { mode, sandbox, rules = [], servers = () => ({}), hasBrowser = false } = world.options;
  const { seeds, root } = world;
  const script = compiledFile("test/attack/world/mcp-child.js");
  const outer = {
    command: process.execPath,
    args: [script, join(root, "mcp-calls.jsonl"), join(root, "mcp-says.txt")],
    env: { OUTER_KEY: seeds.outerKey },
  };
  return {
    agents: { defaults: { model: "openai/worst", executionMode: mode, quietMs: 0, maxToolIterations: 12 } },
    providers: { openai: { apiKey: seeds.providerKey, apiBase: model.apiBase } },
    memory: { titles: "first" },
    reactors: { live: false, typing: false },
    gateway: { token: seeds.gatewayToken },
    channels: {
      telegram: {
        enabled: true,
        token: seeds.telegramToken,
        apiRoot: tap.url,
        allowFrom: ["2", "3"],
        allowGroups: ["-100"],
      },
      websocket: { enabled: true, port: doorPort, allowFrom: ["desk"] },
    },
    owners: ["telegram:1"],
    inbound: { senderPerMinute: 0, chatPerMinute: 0 },
    tools: {
      exec: { sandbox, timeout: 10 },
      web: {
        search: { provider: "searxng", apiBase: site.url },
        fetch: { mode: "http", timeout: 5, allow: [site.host, `localhost:${site.host.split(":")[1]}`] },
      },
      browser: { enabled: hasBrowser, args: browserArgs },
      mcpServers: { outer, ...servers(world) },
    },
    policy: { answerSeconds: 20, rules: [{ argument: "family*", verdict: "deny" }, ...rules] },
  };
}

/** A server that imports what most do. */
const pythonServer = `import json, re, sys, argparse
for line in sys.stdin:
    ask = json.loads(line)
    if "id" not in ask: continue
    if ask["method"] == "initialize":
        result = {"protocolVersion": ask["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "py", "version": "1"}}
    elif ask["method"] == "tools/list":
        result = {"tools": [{"name": "hear", "description": "Hears.", "inputSchema": {"type": "object", "properties": {}}}]}
    else:
        result = {"content": [{"type": "text", "text": "heard"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}), flush=True)
`;
