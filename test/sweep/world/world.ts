import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { openAIConfig } from "../../support/worlds/gateway.js";
import type { FakeModelServer, RecordedRequest } from "../../support/worlds/model-script.js";
import type { AskedInLife, ChatEvidence, Evidence } from "../evidence.js";
import { checkFound } from "../found.js";
import type { Kill, Look, LookAtChat } from "../protocol.js";
import { answerTo, type Kind, readAsked, textOf } from "../script.js";
import type { Nursery, SweepChild } from "./child-process.js";
import { HttpPerson } from "./http-person.js";
import { type RelayServer, startRelay } from "./relay-server.js";
import type { ToolRun } from "./tools.js";

/** The chats of a world: two on a platform that cannot tell repeats, one on a platform that can, one client. */
export const chats = {
  t1: { key: "telegram:1", platform: "blind" },
  t2: { key: "telegram:2", platform: "blind" },
  r1: { key: "relay:r1", platform: "ids" },
  w1: { key: "webui:w1", platform: "client" },
} as const;
export type ChatName = keyof typeof chats;
export const chatNames = Object.keys(chats) as readonly ChatName[];

/** One chat for each way in. */
export const doors: readonly ChatName[] = ["t1", "r1", "w1"];

/** Generous: a world may share its machine. */
const limitMs = 30_000;
const isClient = (key: string): boolean => key.startsWith("webui:");

/**
 * The outside of a gateway: platforms, a model and people, which live on while processes that run the gateway on one
 * home come and go. Keeps account of everything that crosses the border.
 */
export class World implements AsyncDisposable {
  readonly root: string;
  readonly model: FakeModelServer;
  readonly telegram: FakeTelegram;
  readonly relay: RelayServer;
  readonly person = new HttpPerson(chats.w1.key);
  /** What broke on the way; the rest is found in the evidence at the end. */
  readonly broken: string[] = [];
  readonly #engine: string;
  readonly #said = new Map<ChatName, string[]>(chatNames.map((name) => [name, []]));
  readonly #updates = new Map<number, { readonly key: string; readonly text: string }>();
  readonly #asked: AskedInLife[] = [];
  readonly #lives: (string | undefined)[] = [];
  /** Answers that are under way, by life and chat. */
  readonly #underWay = new Map<string, number[]>();
  readonly #nursery: Nursery;
  #child: SweepChild | undefined;
  onAsked: (request: RecordedRequest) => void = () => {};
  /** The model answers once this has resolved. */
  hold: (asked: AskedInLife) => Promise<void> = async () => {};

  private constructor(
    root: string,
    engine: string,
    nursery: Nursery,
    sides: { readonly model: FakeModelServer; readonly telegram: FakeTelegram; readonly relay: RelayServer },
  ) {
    this.root = root;
    this.#engine = engine;
    this.#nursery = nursery;
    ({ model: this.model, telegram: this.telegram, relay: this.relay } = sides);
  }

  /** `engine` is the URL of a module like `embedded.ts`. */
  static async open(engine: string, nursery: Nursery): Promise<World> {
    const root = await mkdtemp(join(tmpdir(), "maxclaw-sweep-"));
    await mkdir(join(root, "home"));
    const sides = {
      model: await startFakeOpenAI({ answer: answerTo }),
      telegram: await startFakeTelegram({ token: "4242:sweep" }),
      relay: await startRelay(),
    };
    const world = new World(root, engine, nursery, sides);
    sides.model.setAnswer(async (request) => {
      await world.hold(world.#onAsked(request));
      return answerTo(request);
    });
    return world;
  }

  get home(): string {
    return join(this.root, "home");
  }

  get child(): SweepChild {
    if (this.#child === undefined) throw new Error("No life has begun");
    return this.#child;
  }

  get life(): number {
    return this.#lives.length;
  }

  say(name: ChatName, kind: Kind): string {
    const said = this.#said.get(name) ?? [];
    const text = textOf(kind, name, said.length + 1);
    said.push(text);
    const { key } = chats[name];
    const [, chatId = ""] = key.split(":");
    if (key.startsWith("telegram:")) {
      const { updateId } = this.telegram.pushText({ chatId, userId: chatId, text });
      this.#updates.set(updateId, { key, text });
    } else if (key.startsWith("relay:")) this.relay.write(chatId, text);
    else this.person.say(text);
    return text;
  }

  /** Begins a life. False when it died while opening, as `kill` may want. */
  async start(kill?: Kill): Promise<boolean> {
    const child = this.#nursery.take();
    this.#child = child;
    this.#lives.push(undefined);
    const { life } = this;
    await this.#writeConfig(life);
    this.relay.repeatLast();
    const opened = await child.open(
      {
        home: this.home,
        engine: this.#engine,
        relayUrl: this.relay.url,
        keys: Object.values(chats).map(({ key }) => key),
        runsPath: this.#runsPath,
        life,
        kill,
      },
      (look, instanceId) => {
        this.#lives[life - 1] = instanceId;
        this.broken.push(...checkFound(look, this.acknowledged(), isClient));
      },
    );
    this.person.moveTo(opened?.address);
    return opened !== undefined;
  }

  /** Resolves once everything that was said is answered and shown, or the child has died: then false. */
  async quiet(): Promise<boolean> {
    await until(
      "everything is answered and shown",
      async () => {
        if (this.child.hasEnded) return true;
        const isOutsideQuiet = this.telegram.pending + this.relay.pending + this.person.pending === 0;
        return isOutsideQuiet && (await this.child.work()) === 0;
      },
      limitMs,
    );
    if (this.child.hasEnded) await this.died();
    return !this.child.hasEnded;
  }

  /** Resolves with what ended the child. */
  async died(): Promise<string> {
    const how = await this.child.ended;
    await this.person.cut();
    return how;
  }

  /** Texts that their platforms were told about as arrived, by session. */
  acknowledged(): ReadonlyMap<string, readonly string[]> {
    const telegram = [...this.#updates].filter(([updateId]) => updateId < this.telegram.confirmedOffset);
    const byKey = new Map<string, readonly string[]>();
    for (const name of ["t1", "t2"] as const) {
      const { key } = chats[name];
      byKey.set(
        key,
        telegram.filter(([, update]) => update.key === key).map(([, { text }]) => text),
      );
    }
    byKey.set(chats.r1.key, (this.#said.get("r1") ?? []).slice(0, this.relay.confirmed));
    byKey.set(chats.w1.key, this.person.acknowledged);
    return byKey;
  }

  /** Everything that is known by now; to be asked for when all is quiet. */
  async evidence(): Promise<Evidence> {
    const look = await this.child.look();
    const ledger = await this.child.ledger();
    if (look === undefined || ledger === undefined) throw new Error("The child died while it was asked");
    return {
      chats: chatNames.map((name) => this.#chatEvidence(name, look)),
      lives: this.#lives,
      asked: this.#asked,
      runs: this.#runs(),
      ledger: new Map(ledger.map(({ messageId, end }) => [messageId, end])),
    };
  }

  /** What the children have logged as warnings and errors. */
  log(): string {
    const path = join(this.home, "child.log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.person.leave();
    await this.#child?.kill();
    await this.telegram.stop();
    await this.relay[Symbol.asyncDispose]();
    await this.model[Symbol.asyncDispose]();
    await rm(this.root, { recursive: true, force: true });
  }

  get #runsPath(): string {
    return join(this.root, "runs.jsonl");
  }

  /** The tool that ends the process has run in the present life. */
  get hasRunDie(): boolean {
    return this.#runs().some(({ callId, life }) => callId.endsWith("-die") && life === this.life);
  }

  #runs(): readonly ToolRun[] {
    if (!existsSync(this.#runsPath)) return [];
    const lines = readFileSync(this.#runsPath, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as ToolRun);
  }

  #chatEvidence(name: ChatName, look: Look): ChatEvidence {
    const { key, platform } = chats[name];
    const [channel, chatId] = key.split(":");
    const sent = channel === "telegram" ? this.telegram.sent : this.relay.shown;
    const shown =
      platform === "client"
        ? this.person.answers.map(({ answer }) => answer)
        : sent.filter((message) => message.chatId === chatId).map(({ text }) => text.trim());
    return { look: lookAt(look, key), name, platform, said: this.#said.get(name) ?? [], shown };
  }

  /** Each life has a key of its own, so that the model knows which one asks. */
  async #writeConfig(life: number): Promise<void> {
    const { token, url: apiRoot } = this.telegram;
    const config = openAIConfig(this.model.apiBase, {
      // Its trial would only cost time in each of the many processes.
      tools: { exec: { sandbox: "off" } },
      providers: { openai: { apiKey: `sk-life-${life}`, apiBase: this.model.apiBase } },
      channels: { telegram: { enabled: true, token, apiRoot, allowFrom: ["*"] } },
      inbound: { senderPerMinute: 0, chatPerMinute: 0 },
      // A preview that a kill leaves standing is not a reply: what replies do is looked at here.
      reactors: { live: false },
      owners: ["relay:r1"],
    });
    await writeFile(join(this.home, "config.json"), JSON.stringify(config));
  }

  #onAsked(request: RecordedRequest): AskedInLife {
    const life = Number(/sk-life-(\d+)/.exec(request.headers.authorization ?? "")?.[1]);
    const asked = readAsked(request);
    const place = `${life} ${asked.chat}`;
    const underWay = this.#underWay.get(place) ?? [];
    this.#underWay.set(place, underWay);
    // Who shows the model an answer has it whole, even if its connection is still closing.
    const inLife = { ...asked, life, overlaps: underWay.some((answer) => answer >= asked.answer) };
    this.#asked.push(inLife);
    underWay.push(asked.answer);
    void request.closedEarly.then(() => underWay.splice(underWay.indexOf(asked.answer), 1));
    this.onAsked(request);
    return inLife;
  }
}

function lookAt(look: Look, key: string): LookAtChat {
  const chat = look.chats.find((one) => one.key === key);
  if (chat === undefined) throw new Error(`${key} was not looked at`);
  return chat;
}
