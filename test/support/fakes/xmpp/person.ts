import { ns } from "../../../../src/channels/xmpp/namespaces.js";
import { Session } from "../../../../src/channels/xmpp/stream/session.js";
import { type Xml, xml } from "../../../../src/channels/xmpp/stream/xml.js";
import { newId } from "../../../../src/util/ids.js";
import { type Prosody, xmppPassword } from "./prosody.js";

export interface SeenMessage {
  readonly id: string;
  readonly chatId: string;
  /** After the last correction. */
  text: string;
  readonly file?: { readonly filename: string; readonly bytes: Buffer };
}

/** Somebody with a program for XMPP: what they see of others, and what they write. */
export class Person implements AsyncDisposable {
  readonly jid: string;
  readonly session: Session;
  /** Messages of others with a text, oldest first. */
  readonly seen: SeenMessage[] = [];
  /** All stanzas that came. */
  readonly stanzas: Xml[] = [];
  #order = Promise.resolve();
  /** Files that are on their way. */
  #fetching = 0;

  private constructor(session: Session) {
    this.session = session;
    this.jid = session.account;
    session.attach({
      onMessage: (message) => this.#take(message),
      onPresence: (presence) => void this.stanzas.push(presence),
      onAlive: () => undefined,
    });
    session.send(xml("presence", ns.client));
  }

  static async open(server: Pick<Prosody, "port">, jid: string): Promise<Person> {
    const service = `xmpp://127.0.0.1:${server.port}`;
    const login = { jid, password: xmppPassword, service, resource: newId("phone") };
    return new Person(await Session.open(login, {}, new AbortController().signal));
  }

  /** Writes to somebody, or with `groupchat` into a room. Returns the id. */
  write(to: string, text: string, more: { readonly type?: string; readonly children?: readonly Xml[] } = {}): string {
    const id = newId("msg");
    const { type = "chat", children = [] } = more;
    this.session.send(xml("message", ns.client, { to, type, id }, xml("body", ns.client, {}, text), ...children));
    return id;
  }

  /** Resolves once all that the server had for them is here. */
  async caughtUp(): Promise<void> {
    await this.session.ask("get", undefined, xml("ping", ns.ping), new AbortController().signal).catch(() => undefined);
  }

  enter(room: string, nick: string): void {
    const wish = xml("x", ns.room, {}, xml("history", ns.room, { maxstanzas: "0" }));
    this.session.send(xml("presence", ns.client, { to: `${room}/${nick}` }, wish));
  }

  /** Puts a file where others can read it. Resolves with its address. */
  async upload(filename: string, mimeType: string, bytes: Buffer): Promise<string> {
    const { signal } = new AbortController();
    const wish = xml("request", ns.upload, { filename, size: String(bytes.length), "content-type": mimeType });
    const answer = await this.session.ask("get", this.jid.split("@")[1] ?? "", wish, signal);
    const slot = answer.child("slot", ns.upload);
    const put = slot?.child("put", ns.upload);
    const header = put?.child("header", ns.upload);
    const headers = { "content-type": mimeType, [header?.attribute("name") ?? "x-none"]: header?.text ?? "" };
    const sent = await fetch(put?.attribute("url") ?? "", { method: "PUT", headers, body: new Uint8Array(bytes) });
    if (!sent.ok) throw new Error(`the upload was refused (${sent.status})`);
    return slot?.child("get", ns.upload)?.attribute("url") ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.session.close();
  }

  #take(message: Xml): Promise<unknown> | undefined {
    this.stanzas.push(message);
    const text = message.textOf("body", ns.client);
    const from = message.attribute("from") ?? "";
    if (text === undefined || message.attribute("type") === "error") return undefined;
    const corrected = message.child("replace", ns.correct)?.attribute("id");
    const old = this.seen.find(({ id }) => id === corrected);
    if (old !== undefined) old.text = text;
    if (corrected !== undefined) return undefined;
    const about = { id: message.attribute("id") ?? "", chatId: from };
    const url = message.child("x", ns.link)?.textOf("url", ns.link);
    if (url !== undefined) this.#fetching += 1;
    else if (this.#fetching === 0) {
      this.seen.push({ ...about, text });
      return undefined;
    }
    // What came later is seen later, also than a file that is still being fetched.
    this.#order = this.#order.then(async () => {
      if (url === undefined) return void this.seen.push({ ...about, text });
      await this.#fetch(about, url);
      this.#fetching -= 1;
    });
    return this.#order;
  }

  async #fetch(about: { readonly id: string; readonly chatId: string }, url: string): Promise<void> {
    const response = await fetch(url);
    const filename = decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "");
    const bytes = Buffer.from(await response.arrayBuffer());
    this.seen.push({ ...about, text: "", file: { filename, bytes } });
  }
}
