import { XmppChannel, type XmppOptions } from "../../../../../src/channels/xmpp/xmpp.js";
import { silentLog } from "../../../../../src/log.js";
import { Person } from "../../../fakes/xmpp/person.js";
import { Prosody, type ProsodyOptions, roomDomain, xmppPassword } from "../../../fakes/xmpp/prosody.js";
import { openXmppProxy, type XmppProxy } from "../../../fakes/xmpp/xmpp-proxy.js";
import { testContext } from "../over-fake.js";

/** One server for all tests of a file; each has accounts of its own. */
export class XmppServers implements AsyncDisposable {
  readonly #options: ProsodyOptions;
  #server: Promise<Prosody> | undefined;
  #count = 0;

  constructor(options: ProsodyOptions = {}) {
    this.#options = options;
  }

  async world(): Promise<XmppWorld> {
    this.#server ??= Prosody.start(this.#options);
    this.#count += 1;
    return await XmppWorld.open(await this.#server, this.#count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#server)?.[Symbol.asyncDispose]();
  }
}

/** The assistant's account behind a proxy, and two people. */
export class XmppWorld implements AsyncDisposable {
  readonly server: Prosody;
  readonly proxy: XmppProxy;
  readonly bot: string;
  readonly ann: Person;
  readonly bob: Person;
  readonly room: string;

  private constructor(server: Prosody, proxy: XmppProxy, number: number, people: readonly [Person, Person]) {
    this.server = server;
    this.proxy = proxy;
    this.bot = server.addAccount(`max${number}`);
    [this.ann, this.bob] = people;
    this.room = `team${number}@${roomDomain}`;
  }

  static async open(server: Prosody, number: number): Promise<XmppWorld> {
    const proxy = await openXmppProxy(server.port, server.addAccount("sink"));
    const [ann, bob] = ["ann", "bob"].map((who) => server.addAccount(`${who}${number}`));
    const people = [await Person.open(server, ann ?? ""), await Person.open(server, bob ?? "")] as const;
    return new XmppWorld(server, proxy, number, people);
  }

  options(more: Partial<XmppOptions> = {}): XmppOptions {
    return { login: this.login(), rooms: [], nick: "max", allowFrom: [], busyRetryMs: 20, log: silentLog, ...more };
  }

  login(password = xmppPassword): XmppOptions["login"] {
    return { jid: this.bot, password, service: `xmpp://127.0.0.1:${this.proxy.port}` };
  }

  channel(more: Partial<XmppOptions> = {}, context = testContext()): XmppChannel {
    return new XmppChannel(this.options(more), context);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const person of [this.ann, this.bob]) await person[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }
}
