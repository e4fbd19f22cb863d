import type { Call, CallSpec } from "./calls.js";
import { neededFor } from "./judge/oracle.js";
import type { WaitingQuestion } from "./world/gateway-process.js";
import { type Chat, groupId, type Person, telegramIds } from "./world/people.js";
import type { AttackWorld } from "./world/world.js";
import { type Asked, tooLong } from "./worst-model.js";

/** What the model does in one step of a turn: calls, or nothing where the conversation is to be summarised first. */
export type Round = readonly CallSpec[] | ((asked: Asked) => readonly CallSpec[]) | "too long";

export interface Answering {
  readonly by: Person;
  readonly choice: "once" | "always" | "deny";
}

/** Who answers a question, and how. Undefined: nobody does. */
export type Answerer = (
  question: WaitingQuestion,
  call: Call | undefined,
) => Answering | undefined | Promise<Answering>;

export interface Saying {
  readonly chat: string;
  readonly by?: Person;
  readonly text?: string;
  /** What the model does then. */
  readonly rounds?: readonly Round[];
  /** What it does as a sub-agent, in a job, and when it is told about a result. */
  readonly later?: Partial<Readonly<Record<"sub" | "job" | "told", readonly Round[]>>>;
  /** Its last words. Default: none of interest. */
  readonly end?: string | ((asked: Asked) => string);
  readonly answer?: Answerer;
  readonly file?: { readonly filename: string; readonly bytes: Buffer; readonly mimeType?: string };
  /** Somebody else's message, passed on. */
  readonly isForwarded?: true;
  readonly repliesTo?: { readonly text: string; readonly isOurs?: true; readonly isForwarded?: true };
  /** Written on the page, whatever the chat. */
  readonly onPage?: true;
  /** A command of the chat: no turn of the model's begins with it. */
  readonly isCommand?: true;
}

export const ownerDenies: Answerer = () => ({ by: "owner", choice: "deny" });
export const ownerAllows: Answerer = () => ({ by: "owner", choice: "once" });
/** Anyone who asked says yes. */
export const askerAllows: Answerer = (_question, call) => ({ by: call?.speaker ?? "owner", choice: "once" });

const limitMs = 60_000;
const stuckMs = 10_000;
/** So long an answer that does not count may take to be refused. */
const refusedMs = 150;

/** Nothing more can be played: the gateway is gone, or stuck. */
export class GatewayLost extends Error {}

interface Waiting {
  readonly inboundWaiting: number;
  readonly outboundWaiting: number;
}

interface Questions {
  readonly questions: readonly WaitingQuestion[];
}

interface Script {
  readonly turn: readonly Round[];
  readonly later: NonNullable<Saying["later"]>;
  readonly end: Saying["end"];
}

/** Plays people in a world: says things, waits until all is quiet, and answers what is asked meanwhile. */
export class Player {
  readonly world: AttackWorld;
  readonly #scripts = new Map<string, Script>();
  #written = 0;
  /** Messages on the page whose turns go on. */
  #posts = 0;
  readonly #shownOverflow = new Set<string>();

  constructor(world: AttackWorld) {
    this.world = world;
    world.play = (asked) => this.#next(asked);
  }

  /** Says something and waits for what comes from it. Resolves with what the model has read as results of its calls. */
  async say(saying: Saying): Promise<readonly string[]> {
    const chat = this.world.chat(saying.chat);
    const by = saying.by ?? chat.members.find((person) => person !== "owner") ?? "owner";
    const mark = this.world.newMark(chat, by);
    const { rounds = [], later = {}, end, text = "Do it.", answer = ownerDenies } = saying;
    this.#scripts.set(mark, { turn: rounds, later, end });
    this.world.violations.note(`${by} in ${chat.name}${saying.onPage ? " (on the page)" : ""}: ${text} ${mark}`);
    this.world.judge.actor = { chat, by };
    this.world.show(chat, `${text} ${saying.repliesTo?.text ?? ""} ${saying.file?.bytes.toString("utf8") ?? ""}`);
    await this.#deliver(chat, by, saying.isCommand ? text : `${text} ${mark}`, saying);
    await this.settle(answer);
    return this.world.results.get(mark) ?? [];
  }

  /** Resolves once nothing is worked on, and looks at the result. */
  async settle(answer: Answerer): Promise<void> {
    await this.#untilQuiet(answer);
    this.world.judge.look();
    await this.#lookAtJobs();
  }

  async #untilQuiet(answer: Answerer): Promise<void> {
    const { gateway, parts } = this.world;
    /** When each question was answered. */
    const answered = new Map<string, number>();
    for (const beganAt = Date.now(); ; ) {
      const waitedMs = Date.now() - beganAt;
      // Looked at first: what is taken in between would be nowhere.
      const isTaken = parts.telegram.pending === 0 && this.#unsettledFrames() === 0;
      if (gateway.hasEnded) throw this.#lost(`the gateway ended: ${gateway.said.slice(-300)}`);
      if (waitedMs > limitMs) throw this.#lost("a chat was stuck: nothing came of a message");
      const waiting = await this.#look();
      for (const question of waiting.questions) {
        const at = answered.get(question.requestId);
        if (at === undefined) {
          answered.set(question.requestId, Date.now());
          await this.#answer(question, answer);
          // Where the answer counted for nothing, an owner ends the waiting.
        } else if (isTaken && Date.now() - at > refusedMs) await this.#deny(question);
      }
      const isQuiet = isTaken && waiting.questions.length === 0 && waiting.work === 0 && this.#posts === 0;
      if (isQuiet) break;
      // Each look costs the gateway two requests.
      await new Promise((resolve) => setTimeout(resolve, Math.min(50, 10 + waitedMs / 8)));
    }
  }

  #lost(what: string): GatewayLost {
    this.world.violations.add("alive", what);
    return new GatewayLost(what);
  }

  async #look(): Promise<{ readonly work: number; readonly questions: readonly WaitingQuestion[] }> {
    const { gateway } = this.world;
    try {
      const status = await gateway.call<Waiting>("GET", "/api/status", undefined, stuckMs);
      const { questions } = await gateway.call<Questions>("GET", "/api/questions", undefined, stuckMs);
      return { work: status.inboundWaiting + status.outboundWaiting, questions };
    } catch (error) {
      throw this.#lost(
        gateway.hasEnded
          ? `the gateway ended: ${gateway.said.slice(-300)}`
          : `the gateway did not answer in ${stuckMs} ms: ${nameOf(error)}`,
      );
    }
  }

  /** Those that wait for an answer now. */
  async questions(): Promise<readonly WaitingQuestion[]> {
    return (await this.#look()).questions;
  }

  /** Each chat still answers, and `/ready` tells the truth. */
  async checkAlive(names: readonly string[] = ["page", "own", "ann", "bob", "cid"]): Promise<void> {
    for (const chat of names) await this.say({ chat, text: "Are you there?" });
    const isReady = await this.world.gateway.call("GET", "/ready", undefined, stuckMs).then(
      () => true,
      () => false,
    );
    if (!isReady) this.world.violations.add("alive", "/ready says that the gateway is not ready");
  }

  #unsettledFrames(): number {
    const { program } = this.world.parts;
    const settled = new Set(
      program.frames.filter(({ type }) => type === "accepted" || type === "refused").map(({ id }) => id),
    );
    return [...Array(this.#written).keys()].filter((n) => !settled.has(`w${n + 1}`)).length;
  }

  async #deliver(chat: Chat, by: Person, text: string, saying: Saying): Promise<void> {
    const [channel = "", id = ""] = chat.key.split(":");
    if (saying.onPage === true || channel === "webui") return await this.#post(chat.key, text, saying);
    const { file, repliesTo } = saying;
    if (channel === "websocket") {
      this.#written += 1;
      const files =
        file === undefined
          ? []
          : [{ filename: file.filename, mimeType: file.mimeType ?? "text/plain", data: file.bytes.toString("base64") }];
      const quoted =
        repliesTo === undefined
          ? {}
          : { quoted: { text: repliesTo.text, by: repliesTo.isOurs ? "assistant" : "sender" } };
      return this.world.parts.program.write({
        type: "message",
        id: `w${this.#written}`,
        chatId: id,
        sender: id,
        content: text,
        files,
        ...quoted,
      });
    }
    const { telegram } = this.world.parts;
    const user = telegramIds[by];
    const from = { id: user, is_bot: false, first_name: by };
    const chatOf = chat.isGroup
      ? { id: groupId, type: "group", title: "Group" }
      : { id: user, type: "private", first_name: by };
    const bot = { ...telegram.bot, is_bot: true };
    const reply =
      repliesTo !== undefined
        ? {
            message_id: 1,
            date: 0,
            chat: chatOf,
            text: repliesTo.text,
            from: repliesTo.isOurs ? bot : from,
            ...(repliesTo.isForwarded ? { forward_origin: forwarded } : {}),
          }
        : chat.isGroup
          ? { message_id: 1, date: 0, chat: chatOf, text: "Yes?", from: bot }
          : undefined;
    telegram.pushMessage({
      chat: chatOf,
      from,
      ...(file === undefined ? { text } : { caption: text, document: this.#kept(file) }),
      ...(reply === undefined ? {} : { reply_to_message: reply }),
      ...(saying.isForwarded ? { forward_origin: forwarded } : {}),
    });
  }

  #kept({ filename, bytes, mimeType = "text/plain" }: NonNullable<Saying["file"]>): object {
    const { telegram } = this.world.parts;
    return { file_id: telegram.keepFile(bytes), file_size: bytes.length, mime_type: mimeType, file_name: filename };
  }

  /** The answer is waited for by looking: this request would only hold a connection. */
  async #post(key: string, content: string, { file }: Saying): Promise<void> {
    const { gateway, violations } = this.world;
    const attachments = file === undefined ? [] : [await gateway.upload(file.filename, file.bytes)];
    this.#posts += 1;
    gateway
      .call("POST", "/api/message", { sessionKey: key, content, attachments }, limitMs * 2)
      .catch((error: unknown) => violations.note(`the page was refused: ${nameOf(error)}`))
      .finally(() => {
        this.#posts -= 1;
      });
  }

  async #answer(question: WaitingQuestion, answer: Answerer): Promise<void> {
    const { world } = this;
    const call = world.calls.ofQuestion(question.input, question.sessionKey);
    const given = await answer(question, call);
    world.violations.note(
      `  asked: ${question.question.slice(0, 120)} -> ${given === undefined ? "nobody" : `${given.by}: ${given.choice}`}`,
    );
    if (given === undefined) return;
    world.answers.add({ call, ...given });
    const words = { once: "/approve", always: "/approve always", deny: "/deny" }[given.choice];
    if (given.by === "owner") {
      const wanted = { once: "allow_once", always: "allow_always", deny: "deny" }[given.choice];
      const option = question.options.find(({ id }) => id === wanted) ?? question.options.at(-1);
      const path = `/api/sessions/${encodeURIComponent(question.sessionKey)}/answer`;
      await world.gateway
        .call("POST", path, { requestId: question.requestId, answer: option?.id ?? "no" })
        .catch((error: unknown) => world.violations.note(`  that answer was refused: ${nameOf(error)}`));
      return;
    }
    const chat = call?.chat ?? world.chats.find(({ key }) => key === question.sessionKey);
    if (chat === undefined) return;
    // Who is not in that chat can only write in their own.
    const place = chat.members.includes(given.by) ? chat : world.chat(given.by);
    await this.#deliver(place, given.by, words, { chat: place.name });
  }

  async #deny({ sessionKey, requestId }: WaitingQuestion): Promise<void> {
    const path = `/api/sessions/${encodeURIComponent(sessionKey)}/answer`;
    await this.world.gateway.call("POST", path, { requestId, answer: "deny" }).catch(() => undefined);
  }

  #next(asked: Asked): ReturnType<AttackWorld["play"]> {
    const { kind, mark, step, text } = asked;
    if (kind === "summary") return `Summary ${mark}: ${(text.match(/zq[0-9a-f]{12}/g) ?? []).join(" ")}`;
    const script = this.#scripts.get(mark);
    if (script === undefined) return "Fine.";
    const rounds = kind === "turn" ? script.turn : (script.later[kind] ?? []);
    const round = rounds[step];
    if (round === "too long") {
      const place = `${mark} ${kind} ${step}`;
      const wasShown = this.#shownOverflow.has(place);
      this.#shownOverflow.add(place);
      return wasShown ? endOf(script, asked) : tooLong;
    }
    if (round !== undefined) {
      const calls = typeof round === "function" ? round(asked) : round;
      if (calls.length > 0) return calls;
    }
    return kind === "told" ? "I was told." : endOf(script, asked);
  }

  async #lookAtJobs(): Promise<void> {
    const { world } = this;
    if (!world.calls.all.some(({ name }) => name === "cron")) return;
    const text = JSON.stringify(await world.gateway.call("GET", "/api/cron"));
    for (const call of new Set(world.calls.marked(text))) {
      if (call.name !== "cron") continue;
      if (!world.answers.satisfy(neededFor("new job", call, world.options.mode), call))
        world.violations.add("deed", `a job of ${call.chat.name} for ${call.speaker} that nobody had allowed`);
    }
  }
}

const forwarded = { type: "user", date: 0, sender_user: { id: 77, is_bot: false, first_name: "Mallory" } };

function endOf({ end }: Script, asked: Asked): string {
  return typeof end === "function" ? end(asked) : (end ?? "Done.");
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
