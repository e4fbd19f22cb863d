import { setMaxListeners } from "node:events";
import { ChannelError } from "../../../errors.js";
import { createGate } from "../../../util/async/gate.js";
import { linked } from "../../../util/async/linked.js";
import { within } from "../../../util/async/within.js";
import { newId } from "../../../util/ids.js";
import { Position } from "../../intake/position.js";
import { bareOf, domainOf } from "../jid.js";
import { ns } from "../namespaces.js";
import { stanzaErrorIn } from "../xmpp-error.js";
import { type LoggedIn, type Login, logIn } from "./login.js";
import type { Wire } from "./wire.js";
import { type Xml, xml } from "./xml.js";

export interface SessionSpans {
  /** Between two questions whether the server is alive. Default 45,000. */
  readonly pingMs: number;
  /** Nothing was heard for so long: the connection only looks open. Default 100,000. */
  readonly silentMs: number;
  /** For an answer to an `iq`. Default 20,000. */
  readonly answerMs: number;
}

const unknownEnd = { retryable: true, outcome: "unknown" } as const;
const defaults: SessionSpans = { pingMs: 45_000, silentMs: 100_000, answerMs: 20_000 };

export interface SessionListener {
  /** A message is confirmed to the server once what this returns has resolved, and not where that is false. */
  readonly onMessage: (message: Xml) => Promise<unknown> | undefined;
  readonly onPresence: (presence: Xml) => void;
  /** Something was heard. */
  readonly onAlive: () => void;
}

/** What this end can do, for who asks (XEP-0030). */
const features = [ns.info, ns.ping, ns.receipts, ns.correct, ns.states, ns.reply, ns.markers, ns.invitation];

type Settle = (answer: Xml) => void;

interface Echo {
  /** Who was written to. */
  readonly to: string;
  readonly settle: Settle;
}

/** A connection that is logged in: stanzas out and in, and what the server says to each. */
export class Session {
  readonly jid: string;
  /** The account's address. */
  readonly account: string;
  readonly closed: Promise<ChannelError>;
  readonly #wire: Wire;
  readonly #isManaged: boolean;
  readonly #spans: SessionSpans;
  readonly #answers = new Map<string, Settle>();
  /** By the ids of messages of ours: what comes back of each. */
  readonly #echoes = new Map<string, Echo>();
  /** Aborts with its end. */
  readonly #ending = new AbortController();
  readonly #handled = new Position<number>();
  #received = 0;
  #sent = 0;
  #confirmed = 0;
  readonly #unconfirmed = new Set<{ readonly count: number; readonly done: () => void }>();
  #listener: SessionListener | undefined;
  #heardAt = Date.now();

  private constructor({ wire, jid, isManaged }: LoggedIn, spans: Partial<SessionSpans>) {
    this.#wire = wire;
    this.#isManaged = isManaged;
    this.#spans = { ...defaults, ...spans };
    this.jid = jid;
    this.account = bareOf(jid);
    const watch = setInterval(() => this.#watch(), Math.min(this.#spans.pingMs, this.#spans.silentMs / 2));
    watch.unref();
    // Many wait below it, and let go when they are done.
    setMaxListeners(0, this.#ending.signal);
    this.closed = wire.closed.then((error) => {
      clearInterval(watch);
      this.#ending.abort(new ChannelError(error.message, unknownEnd));
      return error;
    });
    wire.listen((element) => this.#take(element));
  }

  /** @throws {ChannelError} */
  static async open(login: Login, spans: Partial<SessionSpans>, signal: AbortSignal): Promise<Session> {
    return new Session(await logIn(login, signal), spans);
  }

  /** From now on somebody hears what comes, until it is closed. */
  attach(listener: SessionListener): void {
    this.#listener = listener;
  }

  holdProcess(isHeld: boolean): void {
    this.#wire.holdProcess(isHeld);
  }

  /** @throws {ChannelError} `refused`: the connection is not open */
  send(stanza: Xml): void {
    if (!this.#wire.send(stanza))
      throw new ChannelError("There is no connection to the XMPP server now.", { retryable: true });
    if (this.#isManaged) this.#sent += 1;
  }

  /** Asks something. @throws {StanzaError} it is refused @throws {ChannelError} there is no answer */
  async ask(type: "get" | "set", to: string | undefined, child: Xml, signal: AbortSignal): Promise<Xml> {
    const id = newId("iq");
    const gate = createGate();
    let answer: Xml | undefined;
    this.#answers.set(`${id} ${to === undefined ? "" : bareOf(to)}`, (came) => {
      answer = came;
      gate.open();
    });
    try {
      this.send(xml("iq", ns.client, { type, to, id }, child));
      await this.#waitFor(gate.opened, this.#spans.answerMs, signal);
    } finally {
      this.#answers.delete(`${id} ${to === undefined ? "" : bareOf(to)}`);
    }
    if (answer === undefined) throw new ChannelError("The XMPP server gave no answer.", { retryable: true });
    if (answer.attribute("type") === "error") throw stanzaErrorIn(answer);
    return answer;
  }

  /**
   * Sends a message. `isEchoed`: a room sends it back once it has it. Else resolves once our own server has it.
   *
   * @throws {StanzaError} it was refused @throws {ChannelError} `unknown` where it may have arrived
   */
  async deliver(message: Xml, isEchoed: boolean, ms: number, signal: AbortSignal): Promise<void> {
    const id = message.attribute("id") ?? "";
    const gate = createGate();
    let refusal: Xml | undefined;
    const settle = (came: Xml): void => {
      if (came.attribute("type") === "error") refusal = came;
      gate.open();
    };
    this.#echoes.set(id, { to: bareOf(message.attribute("to") ?? ""), settle });
    try {
      this.send(message);
      await this.#waitFor(isEchoed ? gate.opened : Promise.race([gate.opened, this.#reached()]), ms, signal);
    } catch (error) {
      // A server that does not even count is not there any more.
      if (!isEchoed && !signal.aborted) this.cut("The XMPP server did not take a message in time.");
      throw error;
    } finally {
      this.#echoes.delete(id);
    }
    if (refusal !== undefined) throw stanzaErrorIn(refusal);
  }

  close(): void {
    this.#wire.close();
  }

  /** Cuts it as one that does not work. */
  cut(why: string): void {
    this.#wire.destroy(new ChannelError(why, { retryable: true }));
  }

  /** Resolves once the server has taken what was sent so far. */
  async #reached(): Promise<void> {
    if (!this.#isManaged) return await this.#ping();
    if (this.#confirmed >= this.#sent) return;
    const gate = createGate();
    const waiting = { count: this.#sent, done: gate.open };
    this.#unconfirmed.add(waiting);
    this.#wire.send(xml("r", ns.management));
    await gate.opened;
    this.#unconfirmed.delete(waiting);
  }

  /** Any answer, a refusal too, comes after what was sent before. */
  async #ping(): Promise<void> {
    const never = new AbortController().signal;
    await this.ask("get", domainOf(this.jid), xml("ping", ns.ping), never).catch(() => undefined);
  }

  async #waitFor(work: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
    using open = linked(this.#ending.signal);
    const late = (): Error => new ChannelError(`The XMPP server did not answer within ${ms} ms.`, unknownEnd);
    try {
      await within(within(work, { signal: open.signal }), { ms, signal, late });
    } catch (error) {
      if (error instanceof ChannelError) throw error;
      throw new ChannelError("It was given up before the XMPP server answered.", { ...unknownEnd, cause: error });
    }
  }

  #watch(): void {
    const silent = Date.now() - this.#heardAt;
    if (silent >= this.#spans.silentMs)
      this.cut(`Nothing was heard from the XMPP server for ${Math.round(silent / 1000)} s.`);
    else if (this.#isManaged) this.#wire.send(xml("r", ns.management));
    else void this.#ping();
  }

  #take(element: Xml): void {
    this.#heardAt = Date.now();
    this.#listener?.onAlive();
    if (element.ns === ns.management) this.#takeCount(element);
    if (element.ns !== ns.client) return;
    this.#received += 1;
    const settle = this.#handled.begin(this.#received);
    if (element.name !== "message") {
      settle();
      if (element.name === "iq") this.#takeIq(element);
      if (element.name === "presence") this.#listener?.onPresence(element);
      return;
    }
    this.#takeEcho(element);
    const work = this.#listener?.onMessage(element);
    if (work === undefined) settle();
    else void work.then((isTaken) => (isTaken === false ? undefined : settle()), settle);
  }

  /** Nobody else speaks for who was written to: only they, their server through ours, or our own. */
  #takeEcho(message: Xml): void {
    const echo = this.#echoes.get(echoedId(message));
    const from = bareOf(message.attribute("from") ?? this.account);
    if (echo !== undefined && [echo.to, domainOf(echo.to), this.account, domainOf(this.account)].includes(from))
      echo.settle(message);
  }

  #takeCount(element: Xml): void {
    if (element.name === "r") this.#wire.send(xml("a", ns.management, { h: String(this.#handled.value ?? 0) }));
    if (element.name !== "a") return;
    this.#confirmed = Math.max(this.#confirmed, Number(element.attribute("h")) || 0);
    for (const { count, done } of this.#unconfirmed) if (count <= this.#confirmed) done();
  }

  #takeIq(iq: Xml): void {
    const [type, id, from] = ["type", "id", "from"].map((name) => iq.attribute(name));
    if (type === "result" || type === "error") {
      const by = from === undefined || bareOf(from) === this.account ? "" : bareOf(from);
      // Nobody else answers for whom it was asked.
      const settle =
        this.#answers.get(`${id} ${by}`) ?? (by === "" ? this.#answers.get(`${id} ${this.account}`) : undefined);
      settle?.(iq);
      return;
    }
    if (type !== "get" && type !== "set") return;
    const [asked] = iq.elements();
    const about = { to: from, id };
    if (type === "get" && asked?.is("ping", ns.ping)) {
      this.#reply(xml("iq", ns.client, { ...about, type: "result" }));
    } else if (type === "get" && asked?.is("query", ns.info)) {
      const identity = xml("identity", ns.info, { category: "client", type: "bot", name: "maxclaw" });
      const all = features.map((name) => xml("feature", ns.info, { var: name }));
      const node = asked.attribute("node");
      this.#reply(
        xml("iq", ns.client, { ...about, type: "result" }, xml("query", ns.info, { node }, identity, ...all)),
      );
    } else {
      const refusal = xml("service-unavailable", ns.stanzas);
      this.#reply(
        xml("iq", ns.client, { ...about, type: "error" }, xml("error", ns.client, { type: "cancel" }, refusal)),
      );
    }
  }

  #reply(stanza: Xml): void {
    if (this.#wire.send(stanza) && this.#isManaged) this.#sent += 1;
  }
}

/** Of a message that is ours and comes back, or of an error about it. */
function echoedId(message: Xml): string {
  return message.attribute("id") ?? message.child("origin-id", ns.ids)?.attribute("id") ?? "";
}
