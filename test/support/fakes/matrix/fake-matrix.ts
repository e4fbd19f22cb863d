import { FakeChats } from "../platform/fake-chats.js";
import { type FakeCall, type FakeReply, type FakeServer, startFakeServer } from "../platform/fake-server.js";
import { KeyServer } from "./key-server.js";
import { asRead, previewsIn, whyRefused } from "./rules.js";
import { MatrixStore, type StoredEvent } from "./store.js";
import { atOf, isWanted, syncAnswer } from "./sync.js";

/** Also edits go by it. */
export const sendCall = /^PUT \/_matrix\/client\/v3\/rooms\/[^/]+\/send\/m\.room\.message\//;
export const syncCall = /^GET \/_matrix\/client\/v3\/sync$/;

export const botId = "@max:example.org";

export interface FakeMatrixWrite {
  readonly room: string;
  readonly sender: string;
  readonly text?: string;
  readonly files?: readonly {
    readonly filename: string;
    readonly mimeType: string;
    readonly bytes: Buffer;
    readonly isVoice?: boolean;
  }[];
  readonly thread?: string;
  readonly answers?: string;
  readonly mentions?: readonly string[];
  readonly more?: Record<string, unknown>;
}

/** How a homeserver says no to a call. */
export function matrixRefusal(status: number): FakeReply {
  if (status === 429) return { status, body: { errcode: "M_LIMIT_EXCEEDED", error: "Too fast", retry_after_ms: 1000 } };
  if (status === 404 || status >= 500) return { status, body: Buffer.from("<html>upstream</html>") };
  const words: Readonly<Record<number, string>> = { 401: "M_UNKNOWN_TOKEN", 403: "M_FORBIDDEN" };
  return { status, body: { errcode: words[status] ?? "M_BAD_JSON", error: "No", soft_logout: status === 401 } };
}

/** Throw it for what the homeserver refuses. */
class Refused extends Error {
  readonly status: number;
  constructor(status: number, errcode: string) {
    super(errcode);
    this.status = status;
  }
}

type Route = (call: FakeCall, ...parts: string[]) => FakeReply | Promise<FakeReply>;

/** A homeserver's client-server API on loopback, for one bot. https://spec.matrix.org/latest/client-server-api/ */
export async function startFakeMatrix(): Promise<FakeMatrix> {
  const parts: { matrix?: FakeMatrix } = {};
  const server = await startFakeServer({ answer: (call) => parts.matrix?.answer(call) ?? { status: 503 } });
  parts.matrix = new FakeMatrix(server);
  return parts.matrix;
}

export class FakeMatrix implements AsyncDisposable {
  /** Valid access tokens, and the device of each. */
  readonly tokens = new Map([["syt_fake_secret", "DEVICE"]]);
  readonly password = "fake-password-secret";
  readonly server: FakeServer;
  readonly store = new MatrixStore();
  readonly keys = new KeyServer(this.store);
  readonly chats = new FakeChats();
  /** Texts of which clients would fetch the addresses. */
  readonly previewed: string[] = [];
  /** What was said beside the answers. */
  readonly notices: { readonly room: string; readonly text: string }[] = [];
  readonly receipts: { readonly room: string; readonly eventId: string; readonly thread: unknown }[] = [];
  readonly typing: string[] = [];
  /** Rooms that the bot has asked to be let into. */
  readonly joins: string[] = [];
  /** How long one of these may take at most to bring something new. */
  maxUpload = 50 * 1024 * 1024;
  /** Homeservers from before 2024 have no authenticated media. */
  isOld = false;
  /** The homeserver does not know tokens of `/sync` from before this. */
  forgotBefore = 0;
  accountData: Record<string, unknown> = {};
  /** What the bot's account has put aside, by type. */
  readonly secrets = new Map<string, object>();
  readonly #transactions = new Map<string, string>();
  readonly #shown = new Map<string, string>();
  readonly #media: { readonly bytes: Buffer; readonly mimeType: string }[] = [];
  readonly #routes: readonly (readonly [RegExp, Route])[];
  #rooms = 0;

  constructor(server: FakeServer) {
    this.server = server;
    const room = (rest: string): RegExp => new RegExp(`^/client/v3/rooms/([^/]+)/${rest}$`);
    this.#routes = [
      [
        /^\/client\/v3\/account\/whoami$/,
        ({ headers }) => ({ body: { user_id: botId, device_id: this.#device(headers) } }),
      ],
      [/^\/client\/v3\/profile\/[^/]+$/, () => ({ body: { displayname: "Max" } })],
      [/^\/client\/v3\/sync$/, (call) => this.#sync(call)],
      [/^\/client\/v3\/join\/([^/]+)$/, (_call, id = "") => this.#join(id)],
      [/^\/client\/v3\/createRoom$/, ({ json }) => this.#create(json)],
      [/^\/client\/v3\/logout$/, ({ headers }) => this.#logout(headers)],
      [/^\/client\/v3\/user\/[^/]+\/account_data\/m\.direct$/, (call) => this.#direct(call)],
      [/^\/client\/v3\/user\/[^/]+\/account_data\/(m\..+)$/, (_call, type = "") => this.#putAside(type)],
      [room("state/(m\\.room\\.(?:encryption|create))/?"), (_call, id = "", type = "") => this.#stateOf(id, type)],
      [room("leave"), (_call, id = "") => this.#leave(id)],
      [/^\/client\/v3\/keys\/(.+)$/, (call, what = "") => this.#keyCall(call, what)],
      [
        /^\/client\/v3\/sendToDevice\/([^/]+)\/([^/]+)$/,
        ({ json }, type = "", id = "") => ({ body: this.keys.sendToDevice(botId, type, id, json) }),
      ],
      [room("members"), (_call, id = "") => this.#members(id)],
      [room("messages"), (call, id = "") => this.#messages(call, id)],
      [room("event/([^/]+)"), (_call, id = "", event = "") => this.#event(id, event)],
      [room("send/([^/]+)/([^/]+)"), (call, ...parts) => this.#send(call, ...parts)],
      [room("redact/([^/]+)/([^/]+)"), (call, id = "", event = "") => this.#redact(call, id, event)],
      [
        room("receipt/m\\.read/([^/]+)"),
        ({ json }, id = "", eventId = "") => {
          this.receipts.push({ room: id, eventId, thread: json.thread_id });
          return {};
        },
      ],
      [room("typing/([^/]+)"), (_call, id = "") => ({ body: { count: this.typing.push(id) } })],
      [/^\/client\/v1\/media\/config$/, () => ({ body: { "m.upload.size": this.maxUpload } })],
      [/^\/client\/v1\/media\/download\/([^/]+)\/([^/]+)$/, (_call, _server, id = "") => this.#download(id)],
      [/^\/media\/v3\/download\/([^/]+)\/([^/]+)$/, (_call, _server, id = "") => this.#download(id)],
      [/^\/media\/v3\/upload$/, (call) => this.#upload(call)],
    ];
  }

  get url(): string {
    return this.server.url;
  }

  get token(): string {
    return [...this.tokens.keys()][0] ?? "";
  }

  async answer(call: FakeCall): Promise<FakeReply> {
    const path = call.name.replace(/^\w+ \/_matrix/, "");
    try {
      if (path === "/client/v3/login") return this.#login(call);
      if (this.#device(call.headers) === undefined) throw new Refused(401, "M_UNKNOWN_TOKEN");
      if (this.isOld && path.startsWith("/client/v1/media")) throw new Refused(404, "M_UNRECOGNIZED");
      for (const [pattern, route] of this.#routes) {
        const found = pattern.exec(path);
        if (found !== null) return await route(call, ...found.slice(1).map(decodeURIComponent));
      }
      throw new Refused(404, "M_UNRECOGNIZED");
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { status: error.status, body: { errcode: error.message, error: "No" } };
    }
  }

  /** A room with these people; the bot is in it too. */
  room(people: readonly string[], membership: "join" | "invite" = "join", replaces?: string): string {
    this.#rooms += 1;
    const id = `!room${this.#rooms}:example.org`;
    this.store.create(id);
    const [creator = ""] = people;
    const content = replaces === undefined ? {} : { predecessor: { room_id: replaces } };
    this.store.add(id, { type: "m.room.create", sender: creator, state_key: "", content });
    for (const person of people) this.member(id, person, "join");
    this.member(id, botId, membership, creator);
    return id;
  }

  member(room: string, who: string, membership: string, by = who): void {
    const displayname = `Name of ${who.slice(1).split(":")[0]}`;
    this.store.add(room, { type: "m.room.member", sender: by, state_key: who, content: { membership, displayname } });
  }

  /** A person writes. Returns the id of the last event. */
  write({ room, sender, text, files = [], thread, answers, mentions, more = {} }: FakeMatrixWrite): string {
    const relates = {
      ...(thread === undefined
        ? {}
        : { rel_type: "m.thread", event_id: thread, is_falling_back: answers === undefined }),
      ...(answers === undefined && thread === undefined ? {} : { "m.in_reply_to": { event_id: answers ?? thread } }),
    };
    const about = {
      ...(Object.keys(relates).length === 0 ? {} : { "m.relates_to": relates }),
      ...(mentions === undefined ? {} : { "m.mentions": { user_ids: mentions } }),
    };
    const contents = [
      ...files.map((file, index) => ({
        ...this.#toContent(file),
        ...(index === 0 && text !== undefined ? { body: text } : {}),
      })),
      ...(files.length === 0 ? [{ msgtype: "m.text", body: text ?? "" }] : []),
    ];
    const ids = contents.map(
      (content) =>
        this.store.add(room, { type: "m.room.message", sender, content: { ...content, ...about, ...more } }).event_id,
    );
    return ids.at(-1) ?? "";
  }

  /** A person puts another text into a message. */
  edit(room: string, sender: string, eventId: string, text: string): string {
    const next = { msgtype: "m.text", body: text };
    const content = {
      ...next,
      body: `* ${text}`,
      "m.new_content": next,
      "m.relates_to": { rel_type: "m.replace", event_id: eventId },
    };
    return this.store.add(room, { type: "m.room.message", sender, content }).event_id;
  }

  /** A person takes a message back. */
  remove(room: string, sender: string, eventId: string): void {
    const event = this.store.find(room, eventId);
    if (event !== undefined) event.content = {};
    this.store.add(room, { type: "m.room.redaction", sender, redacts: eventId, content: { redacts: eventId } });
  }

  /** A person puts a sign below a message. */
  react(room: string, sender: string, eventId: string, key: string): void {
    const content = { "m.relates_to": { rel_type: "m.annotation", event_id: eventId, key } };
    this.store.add(room, { type: "m.reaction", sender, content });
  }

  /** A person puts the sign of this choice below the newest message. */
  press(room: string, sender: string, value: string): void {
    const shown = this.chats.newest(room);
    const eventId = [...this.#shown].find(([, id]) => id === shown?.id)?.[0] ?? "";
    this.react(room, sender, eventId, value);
  }

  /** What the bot's newest message in a room is, as an event. */
  newestOf(room: string): StoredEvent | undefined {
    return this.store
      .room(room)
      ?.events.findLast(({ event }) => event.sender === botId && event.type === "m.room.message")?.event;
  }

  async #sync({ query, signal, headers }: FakeCall): Promise<FakeReply> {
    const token = query.get("since");
    const since = token === null ? undefined : atOf(token);
    if (token !== null && (since === undefined || since < this.forgotBefore)) throw new Refused(400, "M_UNKNOWN");
    const filter = JSON.parse(query.get("filter") ?? "{}");
    const until = Date.now() + Number(query.get("timeout") ?? "0");
    for (;;) {
      const device = this.#device(headers) ?? "";
      const body = syncAnswer(this.store, botId, since, filter);
      const news = this.keys.news(botId, device, since);
      if (body !== undefined || news !== undefined)
        return { body: { next_batch: `s${this.store.count}`, ...this.keys.counts(botId, device), ...news, ...body } };
      const left = until - Date.now();
      if (left <= 0 || signal.aborted)
        return { body: { next_batch: `s${this.store.count}`, ...this.keys.counts(botId, device) } };
      await this.store.change(left, signal);
    }
  }

  /** Keeps a file as somebody has uploaded it. */
  keep(bytes: Buffer): string {
    return `mxc://example.org/${this.#media.push({ bytes, mimeType: "application/octet-stream" }) - 1}`;
  }

  /** A file as the homeserver has it. */
  kept(url: string): Buffer | undefined {
    return this.#media[Number(url.split("/").at(-1))]?.bytes;
  }

  #putAside(type: string): FakeReply {
    const found = this.secrets.get(type);
    if (found === undefined) throw new Refused(404, "M_NOT_FOUND");
    return { body: found };
  }

  #stateOf(room: string, type: string): FakeReply {
    this.#mayBeIn(room);
    const found = this.store.room(room)?.events.findLast(({ event }) => event.type === type && event.state_key === "");
    if (found === undefined) throw new Refused(404, "M_NOT_FOUND");
    return { body: found.event.content };
  }

  #leave(room: string): FakeReply {
    this.member(room, botId, "leave");
    return { body: {} };
  }

  #keyCall({ json, headers }: FakeCall, what: string): FakeReply {
    const { keys } = this;
    const device = this.#device(headers) ?? "";
    switch (what) {
      case "upload":
        return { body: keys.upload(botId, device, json) };
      case "query":
        return { body: keys.query(json) };
      case "claim":
        return { body: keys.claim(json) };
      case "signatures/upload":
        return { body: keys.sign(botId, json) };
      case "device_signing/upload": {
        const { auth } = json as { auth?: { session?: string; password?: string } };
        const isProven = auth?.session === "s1" && auth.password === this.password;
        if (keys.asksForPassword && !isProven)
          return { status: 401, body: { flows: [{ stages: ["m.login.password"] }], params: {}, session: "s1" } };
        keys.uploadSigning(botId, json);
        return { body: {} };
      }
      default:
        throw new Refused(404, "M_UNRECOGNIZED");
    }
  }

  #login({ json }: FakeCall): FakeReply {
    const { user } = json.identifier as { readonly user: string };
    if (user !== botId || json.password !== this.password) throw new Refused(403, "M_FORBIDDEN");
    const device = typeof json.device_id === "string" ? json.device_id : `DEVICE${this.tokens.size}`;
    const token = `syt_login_secret_${this.tokens.size}`;
    this.tokens.set(token, device);
    return { body: { user_id: botId, access_token: token, device_id: device } };
  }

  #device({ authorization = "" }: FakeCall["headers"]): string | undefined {
    return this.tokens.get(authorization.replace("Bearer ", ""));
  }

  #logout({ authorization = "" }: FakeCall["headers"]): FakeReply {
    this.tokens.delete(authorization.replace("Bearer ", ""));
    return {};
  }

  #join(room: string): FakeReply {
    this.joins.push(room);
    if (this.store.room(room) === undefined) throw new Refused(404, "M_NOT_FOUND");
    if (this.store.membership(room, botId) !== "join") this.member(room, botId, "join");
    return { body: { room_id: room } };
  }

  #create(json: FakeCall["json"]): FakeReply {
    const [person = ""] = json.invite as readonly string[];
    const room = this.room([person]);
    for (const state of (json.initial_state ?? []) as readonly { type: string; content: Record<string, unknown> }[])
      this.store.add(room, { ...state, sender: botId, state_key: "" });
    return { body: { room_id: room } };
  }

  #direct({ name, json }: FakeCall): FakeReply {
    if (name.startsWith("PUT")) this.accountData = json;
    else if (Object.keys(this.accountData).length === 0) throw new Refused(404, "M_NOT_FOUND");
    return { body: this.accountData };
  }

  #mayBeIn(room: string): void {
    if (this.store.membership(room, botId) !== "join") throw new Refused(403, "M_FORBIDDEN");
  }

  #members(room: string): FakeReply {
    this.#mayBeIn(room);
    const chunk = [...(this.store.room(room)?.members ?? [])].map(([who, content]) => ({
      type: "m.room.member",
      event_id: `$member-${who}`,
      sender: who,
      state_key: who,
      content,
    }));
    return { body: { chunk: chunk.filter(({ content }) => content.membership !== "leave") } };
  }

  #messages({ query }: FakeCall, room: string): FakeReply {
    this.#mayBeIn(room);
    const from = atOf(query.get("from") ?? "");
    const to = query.get("to") === null ? 0 : atOf(query.get("to") ?? "");
    if (from === undefined || to === undefined || query.get("dir") !== "b") throw new Refused(400, "M_INVALID_PARAM");
    const { types } = JSON.parse(query.get("filter") ?? "{}") as { readonly types?: readonly string[] };
    const all = (this.store.room(room)?.events ?? []).filter(
      ({ at, event }) => at <= from && at > to && isWanted(event, types),
    );
    const limit = Math.min(Number(query.get("limit") ?? "10"), 100);
    const page = all.slice(-limit).reverse();
    const more = page.length < all.length ? { end: `s${(page.at(-1)?.at ?? 1) - 1}` } : {};
    return { body: { chunk: page.map(({ event }) => event), start: query.get("from"), ...more } };
  }

  #event(room: string, eventId: string): FakeReply {
    this.#mayBeIn(room);
    const event = this.store.find(room, eventId);
    if (event === undefined) throw new Refused(404, "M_NOT_FOUND");
    const edit = this.store.room(room)?.events.findLast(({ event: { content, sender } }) => {
      const about = content["m.relates_to"] as { rel_type?: string; event_id?: string } | undefined;
      return about?.rel_type === "m.replace" && about.event_id === eventId && sender === event.sender;
    })?.event;
    return { body: edit === undefined ? event : { ...event, unsigned: { "m.relations": { "m.replace": edit } } } };
  }

  #send({ json, headers }: FakeCall, room = "", type = "", transaction = ""): FakeReply {
    // The same device is known by any of its tokens.
    const key = `${this.#device(headers)} ${type} ${transaction}`;
    const known = this.#transactions.get(key);
    if (known !== undefined) return { body: { event_id: known } };
    this.#mayBeIn(room);
    const content = { ...json };
    if (type === "m.room.message") {
      const why = whyRefused(content);
      if (why !== undefined)
        throw new Refused(
          why.endsWith("bytes") ? 413 : 400,
          why.endsWith("bytes") ? "M_TOO_LARGE" : `M_BAD_JSON ${why}`,
        );
      for (const _address of previewsIn(content)) this.previewed.push(String(content.body));
    }
    const event = this.store.add(room, { type, sender: botId, content });
    this.#transactions.set(key, event.event_id);
    if (type === "m.room.message") this.#show(room, event);
    if (type === "m.reaction") this.#sign(event);
    return { body: { event_id: event.event_id } };
  }

  /** What people see of it. */
  #show(room: string, { event_id: id, content }: StoredEvent): void {
    const about = content["m.relates_to"] as { readonly rel_type?: string; readonly event_id?: string } | undefined;
    if (about?.rel_type === "m.replace") {
      const { formatted_body: html = "" } = content["m.new_content"] as { readonly formatted_body?: string };
      const shown = this.chats.all.find((one) => one.id === this.#shown.get(about.event_id ?? ""));
      // The signs below a message stay until they are taken away.
      if (shown !== undefined) shown.text = asRead(html);
      return;
    }
    const { body = "", formatted_body: html, msgtype, url } = content as Readonly<Record<string, string | undefined>>;
    const text = html === undefined ? body : asRead(html);
    if (msgtype === "m.notice") this.notices.push({ room, text });
    const thread = about?.rel_type === "m.thread" ? about.event_id : undefined;
    const file = url === undefined ? undefined : this.#media[Number(url.split("/").at(-1))];
    const files = file === undefined ? [] : [{ filename: body, bytes: file.bytes }];
    const shown = { chatId: room, text: file === undefined ? text : "", files };
    this.#shown.set(id, this.chats.show(thread === undefined ? shown : { ...shown, thread }));
  }

  /** A sign of the bot's below its question: its line in the text is what it stands for. */
  #sign({ content }: StoredEvent): void {
    const { event_id: id = "", key = "" } = content["m.relates_to"] as { event_id?: string; key?: string };
    const shown = this.chats.all.find((one) => one.id === this.#shown.get(id));
    if (shown === undefined) throw new Error(`There is no message ${id}`);
    const line = shown.text.split("\n").find((one) => one.startsWith(`${key} `));
    const label = line === undefined ? key : line.slice(key.length + 1);
    shown.buttons = [...shown.buttons, { label, value: key }];
  }

  #redact({ headers }: FakeCall, room: string, eventId: string): FakeReply {
    if (this.#device(headers) === undefined) throw new Refused(401, "M_UNKNOWN_TOKEN");
    const event = this.store.find(room, eventId);
    if (event === undefined) throw new Refused(404, "M_NOT_FOUND");
    const { event_id: about = "", key } = (event.content["m.relates_to"] ?? {}) as { event_id?: string; key?: string };
    const shown = this.chats.all.find((one) => one.id === this.#shown.get(about));
    if (shown !== undefined) shown.buttons = shown.buttons.filter(({ value }) => value !== key);
    this.remove(room, botId, eventId);
    return { body: { event_id: "$redaction" } };
  }

  #toContent({ filename, mimeType, bytes, isVoice }: NonNullable<FakeMatrixWrite["files"]>[number]): object {
    const id = this.#media.push({ bytes, mimeType }) - 1;
    const [kind = ""] = mimeType.split("/");
    return {
      msgtype: ["image", "audio", "video"].includes(kind) ? `m.${kind}` : "m.file",
      body: filename,
      filename,
      url: `mxc://example.org/${id}`,
      info: { mimetype: mimeType, size: bytes.length },
      ...(isVoice === true ? { "org.matrix.msc3245.voice": {} } : {}),
    };
  }

  #upload({ body, headers }: FakeCall): FakeReply {
    if (body.length > this.maxUpload) throw new Refused(413, "M_TOO_LARGE");
    const id = this.#media.push({ bytes: body, mimeType: headers["content-type"] ?? "" }) - 1;
    return { body: { content_uri: `mxc://example.org/${id}` } };
  }

  #download(id: string): FakeReply {
    const file = this.#media[Number(id)];
    if (file === undefined) throw new Refused(404, "M_NOT_FOUND");
    return { headers: { "content-type": file.mimeType }, body: file.bytes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}
