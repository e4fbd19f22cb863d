import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FakeTelegram, startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { openAIConfig } from "../../support/worlds/gateway.js";
import type { FakeModelServer, RecordedRequest } from "../../support/worlds/model-script.js";
import type { EngineUnderTest } from "../embedded.js";
import type { AskedInLife, ChatEvidence, Evidence } from "../evidence.js";
import type { Look, LookAtChat } from "../protocol.js";
import { answerTo, type Kind, markerOf, readAsked, textOf } from "../script.js";
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

/** The URL of a module like `embedded.ts`, and what it needs in the config. */
export type WorldEngine = Pick<EngineUnderTest, "sections"> & { readonly url: string };

/** A request to the model that is not over. */
export interface UnderWay {
  readonly life: number;
  readonly answer: number;
}

interface Sides {
  readonly root: string;
  readonly model: FakeModelServer;
  readonly telegram: FakeTelegram;
  readonly relay: RelayServer;
}

/** Starts the far side of everything. */
export async function openSides(): Promise<Sides> {
  const root = await mkdtemp(join(tmpdir(), "maxclaw-sweep-"));
  await mkdir(join(root, "home"));
  return {
    root,
    model: await startFakeOpenAI({ answer: answerTo }),
    telegram: await startFakeTelegram({ token: "4242:sweep" }),
    relay: await startRelay(),
  };
}

/**
 * Platforms, a model and people, which live on while processes that run gateways come and go. Keeps account of everything
 * that crosses the border.
 */
export class Outside {
  readonly root: string;
  readonly model: FakeModelServer;
  readonly telegram: FakeTelegram;
  readonly relay: RelayServer;
  readonly person = new HttpPerson(chats.w1.key);
  /** What broke on the way; the rest is found in the evidence at the end. */
  readonly broken: string[] = [];
  protected readonly engine: WorldEngine;
  /** The engine's instance id of each life, once it is known. */
  protected readonly lives: (string | undefined)[] = [];
  readonly #said = new Map<ChatName, string[]>(chatNames.map((name) => [name, []]));
  readonly #updates = new Map<number, { readonly key: string; readonly text: string }>();
  readonly #asked: AskedInLife[] = [];
  /** Answers that are under way, by chat. */
  readonly #underWay = new Map<string, UnderWay[]>();
  onAsked: (request: RecordedRequest, asked: AskedInLife) => void = () => {};
  /** The model answers once this has resolved. */
  hold: (asked: AskedInLife) => Promise<void> = async () => {};

  protected constructor(engine: WorldEngine, { root, model, telegram, relay }: Sides) {
    this.root = root;
    this.engine = engine;
    this.model = model;
    this.telegram = telegram;
    this.relay = relay;
    model.setAnswer(async (request) => {
      await this.hold(this.#onAsked(request));
      return answerTo(request);
    });
  }

  get life(): number {
    return this.lives.length;
  }

  get messages(): number {
    return [...this.#said.values()].reduce((sum, said) => sum + said.length, 0);
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

  /** How much was said that nobody has taken or answered yet. */
  get pending(): number {
    return this.telegram.pending + this.relay.pending + this.person.pending;
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

  /** What was said and is not taken, answered and shown, with what is missing: for who asks why all waits. */
  unanswered(): readonly string[] {
    const acknowledged = this.acknowledged();
    return chatNames.flatMap((name) => {
      const taken = acknowledged.get(chats[name].key) ?? [];
      const shown = this.#shownIn(name).join("\n");
      return (this.#said.get(name) ?? []).flatMap((text) => {
        const isAnswered = new RegExp(`${markerOf(text)}(?!\\d)`).test(shown);
        if (isAnswered && taken.includes(text)) return [];
        const missing = isAnswered ? "is answered, and was not acknowledged" : "has no answer";
        return [`"${text}" ${missing}${!isAnswered && !taken.includes(text) ? ", and was not acknowledged" : ""}`];
      });
    });
  }

  protected evidenceOf(look: Look, ledger: ReadonlyMap<string, string>): Evidence {
    return {
      chats: chatNames.map((name) => this.#chatEvidence(name, look)),
      lives: this.lives,
      asked: this.#asked,
      runs: this.runs(),
      ledger,
    };
  }

  /** What the person at the HTTP door was answered, in the order in which people see it. */
  protected answers(_said: readonly string[]): readonly string[] {
    return this.person.answers.map(({ answer }) => answer);
  }

  /** True when `open` and what is asked for now are two turns of one chat. */
  protected isSecond(open: UnderWay, asked: UnderWay): boolean {
    // Who shows the model an answer has it whole, even if its connection is still closing.
    return open.life === asked.life && open.answer >= asked.answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.person.leave();
    await this.telegram.stop();
    await this.relay[Symbol.asyncDispose]();
    await this.model[Symbol.asyncDispose]();
    await rm(this.root, { recursive: true, force: true, maxRetries: 3 });
  }

  protected get runsPath(): string {
    return join(this.root, "runs.jsonl");
  }

  protected runs(): readonly ToolRun[] {
    if (!existsSync(this.runsPath)) return [];
    const lines = readFileSync(this.runsPath, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as ToolRun);
  }

  #chatEvidence(name: ChatName, look: Look): ChatEvidence {
    const { key, platform } = chats[name];
    const said = this.#said.get(name) ?? [];
    return { look: lookAt(look, key), name, platform, said, shown: this.#shownIn(name) };
  }

  #shownIn(name: ChatName): readonly string[] {
    const { key, platform } = chats[name];
    const [channel, chatId] = key.split(":");
    const sent = channel === "telegram" ? this.telegram.sent : this.relay.shown;
    return platform === "client"
      ? this.answers(this.#said.get(name) ?? [])
      : sent.filter((message) => message.chatId === chatId).map(({ text }) => text.trim());
  }

  /** Each life has a key of its own, so that the model knows which one asks. */
  protected async writeConfig(life: number, home: string, more: object = {}): Promise<void> {
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
      ...this.engine.sections(this.root),
      ...more,
    });
    await writeFile(join(home, "config.json"), JSON.stringify(config));
  }

  #onAsked(request: RecordedRequest): AskedInLife {
    const life = Number(/sk-life-(\d+)/.exec(request.headers.authorization ?? "")?.[1]);
    const asked = readAsked(request);
    const underWay = this.#underWay.get(asked.chat) ?? [];
    this.#underWay.set(asked.chat, underWay);
    const now = { life, answer: asked.answer };
    const inLife = { ...asked, life, overlaps: underWay.some((open) => this.isSecond(open, now)) };
    this.#asked.push(inLife);
    underWay.push(now);
    void request.closedEarly.then(() => underWay.splice(underWay.indexOf(now), 1));
    this.onAsked(request, inLife);
    return inLife;
  }
}

function lookAt(look: Look, key: string): LookAtChat {
  const chat = look.chats.find((one) => one.key === key);
  if (chat === undefined) throw new Error(`${key} was not looked at`);
  return chat;
}
