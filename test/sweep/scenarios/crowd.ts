import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { StoredEvent } from "../../../src/events/event.js";
import { verifyEvents } from "../../../src/offline/events.js";
import { until } from "../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { openAIConfig } from "../../support/worlds/gateway.js";
import type { AnswerScript, FakeModelServer } from "../../support/worlds/model-script.js";
import { acceptedIn, type ChatEvidence, type Evidence } from "../evidence.js";
import { checkFound } from "../found.js";
import { findBrokenMessages } from "../invariants.js";
import type { Kill } from "../protocol.js";
import type { Nursery, SweepChild } from "../world/child-process.js";
import { type CrowdKind, crowdAnswer, crowdText } from "./crowd-model.js";

export interface CrowdOptions {
  readonly chats: number;
  /** Laid over the config. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly answer?: AnswerScript;
  /** The model's address; else that of the scripted one. */
  readonly apiBase?: (scripted: string) => string;
  /** The home; else a new folder. */
  readonly home?: string;
  readonly sendRetryMs?: number;
  /** The first chat is a group in which several people talk to the bot. */
  readonly hasGroup?: boolean;
  /** What an engine holds as it opens is not held against the rules: replies may be there before their turn's end. */
  readonly asksBack?: boolean;
}

const limitMs = 60_000;
/** What a gateway says to people instead of taking their message. */
const notice = /^(I cannot (write to|read) my disk|I cannot open the log|Too many messages are waiting)/;
const engine = new URL("../embedded.js", import.meta.url).href;

/** Many chats on a platform that cannot tell repeats, and one gateway after the other on one home. */
export class Crowd implements AsyncDisposable {
  readonly root: string;
  readonly model: FakeModelServer;
  readonly telegram: FakeTelegram;
  /** What broke on the way. */
  readonly broken: string[] = [];
  /** Chats that no life can look into. */
  readonly unreadable = new Set<number>();
  readonly #nursery: Nursery;
  readonly #options: CrowdOptions;
  readonly #said: readonly string[][];
  readonly #updates = new Map<number, { readonly chat: number; readonly text: string }>();
  #child: SweepChild | undefined;
  #address = "";
  #life = 0;
  #inVain = 0;

  private constructor(
    root: string,
    nursery: Nursery,
    options: CrowdOptions,
    sides: { readonly model: FakeModelServer; readonly telegram: FakeTelegram },
  ) {
    this.root = root;
    this.#nursery = nursery;
    this.#options = options;
    this.#said = Array.from({ length: options.chats }, () => []);
    ({ model: this.model, telegram: this.telegram } = sides);
  }

  static async open(nursery: Nursery, options: CrowdOptions): Promise<Crowd> {
    const root = await mkdtemp(join(tmpdir(), "maxclaw-crowd-"));
    const sides = {
      model: await startFakeOpenAI({ answer: options.answer ?? crowdAnswer }),
      telegram: await startFakeTelegram({ token: "4242:crowd" }),
    };
    const crowd = new Crowd(root, nursery, options, sides);
    await mkdir(crowd.home);
    await crowd.#writeConfig();
    return crowd;
  }

  get home(): string {
    return this.#options.home ?? join(this.root, "home");
  }

  /** Not in the home, whose disk may be full. */
  get #logPath(): string {
    return join(this.root, "child.log");
  }

  get workspace(): string {
    return join(this.home, "workspace");
  }

  get sessions(): string {
    return join(this.workspace, ".sessions");
  }

  get child(): SweepChild {
    if (this.#child === undefined) throw new Error("No life has begun");
    return this.#child;
  }

  get chats(): readonly number[] {
    return this.#said.map((_, index) => index + 1);
  }

  /** How many messages people wrote. */
  get messages(): number {
    return this.#said.reduce((sum, { length }) => sum + length, 0);
  }

  /** `userId` is who writes; else the chat's own person. */
  say(chat: number, kind: CrowdKind, userId: number = chat): string {
    const said = this.#saidIn(chat);
    const text = crowdText(kind, chat, said.length + 1);
    said.push(text);
    const group = { chatType: "group", replyTo: { messageId: 1, fromBot: true } } as const;
    const chatId = this.#chatIdOf(chat);
    const { updateId } = this.telegram.pushText({ chatId, userId, text, ...(chatId.startsWith("-") ? group : {}) });
    this.#updates.set(updateId, { chat, text });
    return text;
  }

  /** Says what may be left out with a word to the person, or be taken once there is room. */
  sayInVain(chat: number): void {
    this.#inVain += 1;
    const text = crowdText("vain", chat, 100_000 + this.#inVain);
    this.telegram.pushText({ chatId: this.#chatIdOf(chat), userId: chat, text });
  }

  /** Begins a life. False when it died while opening. @throws what the gateway refuses to open with */
  async start(kill?: Kill): Promise<boolean> {
    const { sendRetryMs } = this.#options;
    const child = this.#nursery.take();
    this.#child = child;
    this.#life += 1;
    const opened = await child.open(
      { home: this.home, engine, keys: this.#keys, life: this.#life, logPath: this.#logPath, sendRetryMs, kill },
      (look) => {
        if (this.#options.asksBack !== true) this.broken.push(...checkFound(look, this.#acknowledged(), () => false));
      },
    );
    this.#address = opened?.address ?? "";
    return opened !== undefined;
  }

  /** Ends it at once and waits until it is gone. */
  kill(): Promise<void> {
    return this.child.kill();
  }

  /** Stops it in order, as SIGTERM does. */
  async stop(graceMs: number): Promise<void> {
    await this.child.stop(graceMs);
    await this.child.kill();
  }

  /** Resolves once everything that was said is answered and shown. */
  async quiet(): Promise<void> {
    await this.until("everything is answered and shown", async () => {
      if (this.child.hasEnded) throw new Error(`It ended by itself: ${await this.child.ended}`);
      return this.telegram.pending === 0 && (await this.child.work()) === 0;
    });
  }

  /** Resolves with how long it took until the answer that names this text was shown. */
  async answered(text: string): Promise<number> {
    const began = Date.now();
    const marker = markerOf(text);
    await this.until(`${text} is answered`, () => this.shownIn(chatOf(text)).some((one) => hasMarker(one, marker)));
    return Date.now() - began;
  }

  shownIn(chat: number): readonly string[] {
    const id = this.#chatIdOf(chat);
    return this.telegram.sent.filter(({ chatId }) => chatId === id).map(({ text }) => text.trim());
  }

  keyOf(chat: number): string {
    return `telegram:${this.#chatIdOf(chat)}`;
  }

  /** Resolves once a message that holds this text is shown. */
  async shows(chat: number, text: string): Promise<void> {
    await this.until(`${this.keyOf(chat)} is shown "${text}"`, () =>
      this.shownIn(chat).some((one) => one.includes(text)),
    );
  }

  /** The owner answers the newest question of a chat, over HTTP. */
  async answerQuestion(chat: number, answer: string): Promise<void> {
    const events = (await this.child.look())?.chats.find(({ key }) => key === this.keyOf(chat))?.events ?? [];
    const asked = events.findLast((event) => event.type === "human_input_asked");
    if (asked?.type !== "human_input_asked") throw new Error(`${this.keyOf(chat)} has asked nothing`);
    const path = `/api/sessions/${encodeURIComponent(this.keyOf(chat))}/answer`;
    const body = JSON.stringify({ requestId: asked.payload.request_id, answer });
    const headers = { "content-type": "application/json" };
    const taken = await fetch(`http://${this.#address}${path}`, { method: "POST", headers, body });
    if (!taken.ok) throw new Error(`The answer was refused: ${await taken.text()}`);
  }

  /** Status of the gateway that runs, over HTTP. */
  async status(): Promise<CrowdStatus> {
    const answer = await fetch(`http://${this.#address}/api/status`);
    // The page and the terminal read it with schemas of their own; here only what is looked at.
    return (await answer.json()) as CrowdStatus;
  }

  /** Everything that is known by now; to be asked for when all is quiet. */
  async evidence(): Promise<Evidence> {
    const look = await this.child.look();
    const ledger = await this.child.ledger();
    if (look === undefined || ledger === undefined) throw new Error("The child died while it was asked");
    const chats = look.chats.map((one): ChatEvidence => {
      const chat = this.chats.find((each) => this.keyOf(each) === one.key) ?? 0;
      const shown = this.shownIn(chat).filter((text) => !notice.test(text));
      return { look: one, name: `c${chat}`, platform: "blind", said: withVain(this.#saidIn(chat), one.events), shown };
    });
    return {
      chats,
      lives: [],
      asked: [],
      runs: [],
      ledger: new Map(ledger.map(({ messageId, end }) => [messageId, end])),
    };
  }

  /** What breaks a promise to people in this moment, in which all is quiet; except for one chat. */
  async findBroken(except?: number): Promise<readonly string[]> {
    const evidence = await this.evidence();
    const chats = evidence.chats.filter(({ name }) => name !== `c${except}`);
    return [...this.broken, ...findBrokenMessages({ ...evidence, chats })];
  }

  /** What `events verify` finds in the files; nobody may hold them. */
  async verify(): Promise<readonly string[]> {
    const files = { home: this.home, workspace: this.workspace };
    const { problems } = await verifyEvents(files, undefined, { signal: AbortSignal.timeout(limitMs) });
    return problems.map(({ message, file = "" }) => `events verify: ${file}: ${message}`);
  }

  /** @throws with the end of the log, when it does not come to pass */
  async until(what: string, holds: () => boolean | Promise<boolean>, mostMs = limitMs): Promise<void> {
    await until(what, holds, mostMs).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${lastLines(this.log())}`, { cause: error });
    });
  }

  /** What the children have logged as warnings and errors. */
  log(): string {
    return existsSync(this.#logPath) ? readFileSync(this.#logPath, "utf8") : "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child?.kill();
    await this.telegram.stop();
    await this.model[Symbol.asyncDispose]();
    await rm(this.home, { recursive: true, force: true });
    await rm(this.root, { recursive: true, force: true });
  }

  get #keys(): readonly string[] {
    return this.chats.filter((chat) => !this.unreadable.has(chat)).map((chat) => this.keyOf(chat));
  }

  #chatIdOf(chat: number): string {
    return chat === 1 && this.#options.hasGroup === true ? "-1" : String(chat);
  }

  #saidIn(chat: number): string[] {
    const said = this.#said[chat - 1];
    if (said === undefined) throw new Error(`There is no chat ${chat}`);
    return said;
  }

  /** Texts that the platform was told about as arrived. */
  #acknowledged(): ReadonlyMap<string, readonly string[]> {
    const arrived = [...this.#updates].filter(([updateId]) => updateId < this.telegram.confirmedOffset);
    const textsOf = (chat: number): readonly string[] =>
      arrived.flatMap(([, update]) => (update.chat === chat ? [update.text] : []));
    return new Map(this.chats.map((chat) => [this.keyOf(chat), textsOf(chat)]));
  }

  async #writeConfig(): Promise<void> {
    const { token, url: apiRoot } = this.telegram;
    const { apiBase = (scripted) => scripted, config = {} } = this.#options;
    const channels = { telegram: { enabled: true, token, apiRoot, allowFrom: ["*"] } };
    const whole = openAIConfig(apiBase(this.model.apiBase), {
      tools: { exec: { sandbox: "off" } },
      channels,
      inbound: { senderPerMinute: 0, chatPerMinute: 0 },
      owners: ["telegram:1"],
      ...config,
    });
    await writeFile(join(this.home, "config.json"), JSON.stringify(whole));
  }
}

/** What was said, with what was said in vain where that was taken after all. */
function withVain(said: readonly string[], events: readonly StoredEvent[]): readonly string[] {
  const accepted = acceptedIn(events).flatMap(({ text, isResult }) => (isResult ? [] : [text]));
  const known = accepted.filter((text) => !text.startsWith("vain "));
  return isDeepStrictEqual(known, said) ? accepted : said;
}

/** Of a gateway's status what is looked at here. */
export interface CrowdStatus {
  readonly deadLetters: number;
  readonly problems: readonly string[];
  readonly stuckChats: readonly { readonly sessionKey: string; readonly waiting: number; readonly reason: string }[];
  readonly channels: readonly { readonly name: string; readonly state: string; readonly reason?: string }[];
}

export function lastLines(log: string): string {
  return log.trimEnd().split("\n").slice(-20).join("\n");
}

/** `#c3.1` is in a text, and not only as the beginning of `#c3.12`. */
export function hasMarker(text: string, marker: string): boolean {
  return text.split(/\s+/).includes(marker);
}

export function markerOf(text: string): string {
  return /#c\d+\.\d+/.exec(text)?.[0] ?? text;
}

function chatOf(text: string): number {
  return Number(/#c(\d+)\./.exec(text)?.[1]);
}
