import { createHmac } from "node:crypto";
import { FakeChats, type FakeShown } from "../platform/fake-chats.js";
import { type FakeCall, type FakeReply, type FakeServer, startFakeServer } from "../platform/fake-server.js";
import { shownOf } from "./check-payload.js";
import { type Notification, WebhookLine } from "./webhook-line.js";

const accessToken = "EAAfakeTokenOfASystemUser0123456789";
const appSecret = "0123456789abcdef0123456789abcdef";
const version = "/v24.0";

/** Kinds that media may have: https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media */
const mediaTypes =
  /^(?:audio\/(?:aac|mp4|mpeg|amr|ogg)|text\/plain|application\/(?:pdf|msword|vnd\..+)|image\/(?:jpeg|png|webp)|video\/(?:mp4|3gpp))$/;

interface Written {
  readonly from: string;
  readonly text?: string | undefined;
  readonly files?:
    | undefined
    | readonly {
        readonly filename: string;
        readonly mimeType: string;
        readonly bytes: Buffer;
        readonly isVoice?: boolean;
      }[];
  /** Id of the message that it answers. */
  readonly answers?: string | undefined;
}

/** Refusals as Meta words them. */
export function graphRefusal(status: number, code: number, message = "Something", details?: string): FakeReply {
  const data = details === undefined ? {} : { error_data: { messaging_product: "whatsapp", details } };
  return {
    status,
    headers: status === 429 ? { "retry-after": "1" } : {},
    body: { error: { message: `(#${code}) ${message}`, type: "OAuthException", code, ...data, fbtrace_id: "Az8" } },
  };
}

/** Meta's interface for one business number, and people who write to it. */
export class FakeWhatsApp implements AsyncDisposable {
  readonly accessToken = accessToken;
  readonly appSecret = appSecret;
  readonly phoneNumberId: string;
  readonly chats = new FakeChats();
  /** Texts of which WhatsApp would show a preview. */
  readonly previewed: string[] = [];
  /** Messages that were marked as read, and whether with the sign that an answer comes. */
  readonly read: { readonly id: string; readonly isTyping: boolean }[] = [];
  readonly line = new WebhookLine(appSecret);
  /** Meta tells nothing of what becomes of messages. */
  isSilent = false;
  /** People who last wrote more than 24 hours ago. */
  readonly gone = new Set<string>();
  readonly templates: string[] = [];
  readonly #media = new Map<string, FakeShown["files"][number] & { readonly mimeType: string }>();
  #server: FakeServer | undefined;
  #count = 0;

  private constructor(phoneNumberId: string) {
    this.phoneNumberId = phoneNumberId;
  }

  static async start(phoneNumberId = "106540352242922"): Promise<FakeWhatsApp> {
    const fake = new FakeWhatsApp(phoneNumberId);
    fake.#server = await startFakeServer({
      answer: (call) => fake.#answer(call),
      rename: (name, { status }) => (status === "read" ? `${name} read` : name),
    });
    return fake;
  }

  get server(): FakeServer {
    if (this.#server === undefined) throw new Error("It has not begun");
    return this.#server;
  }

  /** For the section `channels.whatsapp-business`. */
  get config() {
    const verifyToken = "we made this up";
    const { phoneNumberId } = this;
    return { phoneNumberId, accessToken, appSecret, verifyToken, apiRoot: `${this.server.url}${version}` };
  }

  get platform() {
    const receiveCall = /^GET \/v24\.0\/\d+$/;
    const codes: Readonly<Record<number, number>> = { 429: 130_429, 401: 190, 400: 131_009 };
    const refusal = (status: number): FakeReply => {
      const code = codes[status];
      return code === undefined ? { status } : graphRefusal(status, code);
    };
    return { server: this.server, chats: this.chats, sendCall: /^POST \/v24\.0\/\d+\/messages$/, receiveCall, refusal };
  }

  /** Returns the id of the last message: WhatsApp has one file in each. */
  write({ from, text, files = [], answers }: Written): string {
    const context = answers === undefined ? {} : { context: { from: "15550001111", id: answers } };
    if (files.length === 0) return this.bring({ from, type: "text", text: { body: text ?? "" }, ...context });
    const ids = files.map(({ filename, mimeType, bytes, isVoice }, at) => {
      const id = `media${this.#media.size + 1}`;
      this.#media.set(id, { filename, bytes, mimeType });
      const about = {
        id,
        mime_type: mimeType,
        sha256: "x",
        ...(at === 0 && text !== undefined ? { caption: text } : {}),
      };
      if (isVoice === true) return this.bring({ from, type: "audio", audio: { ...about, voice: true } });
      if (mimeType.startsWith("image/")) return this.bring({ from, type: "image", image: about, ...context });
      return this.bring({ from, type: "document", document: { ...about, filename }, ...context });
    });
    return ids.at(-1) ?? "";
  }

  press(from: string, value: string): string {
    const button = this.chats.newest(from)?.buttons.find((one) => one.value === value);
    const reply = { id: value, title: button?.label ?? "" };
    return this.bring({ from, type: "interactive", interactive: { type: "button_reply", button_reply: reply } });
  }

  /** Any message, as Meta writes it. */
  bring(message: Readonly<Record<string, unknown>> & { readonly from: string }): string {
    this.#count += 1;
    const id = `wamid.in${this.#count}`;
    const whole = { id, timestamp: String(Math.floor(Date.now() / 1000)), ...message };
    const contacts = [{ profile: { name: `Name of ${message.from}` }, wa_id: message.from }];
    this.line.bring(this.notification({ contacts, messages: [whole] }));
    return id;
  }

  notification(value: object, number = this.phoneNumberId): Notification {
    const metadata = { display_phone_number: "15550001111", phone_number_id: number };
    const change = { field: "messages", value: { messaging_product: "whatsapp", metadata, ...value } };
    return { object: "whatsapp_business_account", entry: [{ id: "102290129340398", changes: [change] }] };
  }

  /** What has become of one of ours. */
  tellStatus(id: string, status: string, more: object = {}): void {
    const about = { id, status, timestamp: String(Math.floor(Date.now() / 1000)), recipient_id: "1", ...more };
    this.line.bring(this.notification({ statuses: [about] }));
  }

  async #answer(call: FakeCall): Promise<FakeReply> {
    if (call.headers.authorization !== `Bearer ${accessToken}`)
      return graphRefusal(401, 190, `Malformed access token ${call.headers.authorization?.slice(7)}`);
    if (call.name.startsWith("GET /files/"))
      return { body: this.#media.get(call.name.slice(11))?.bytes ?? Buffer.from("") };
    const proof = createHmac("sha256", appSecret).update(accessToken).digest("hex");
    if (call.query.get("appsecret_proof") !== proof)
      return graphRefusal(400, 100, "Invalid appsecret_proof provided in the API argument");
    const [method, path = ""] = call.name.split(" ");
    if (method === "GET" && path === `${version}/${this.phoneNumberId}`)
      return { body: { display_phone_number: "+1 555-000-1111", verified_name: "Max", id: this.phoneNumberId } };
    if (method === "GET") return this.#aboutFile(path.slice(version.length + 1));
    if (path === `${version}/${this.phoneNumberId}/media`) return await this.#upload(call);
    if (path === `${version}/${this.phoneNumberId}/messages`) return this.#post(call);
    return graphRefusal(400, 100, "Unsupported post request");
  }

  #aboutFile(id: string): FakeReply {
    const file = this.#media.get(id);
    if (file === undefined) return graphRefusal(400, 100, "Object does not exist");
    return {
      body: { id, url: `${this.server.url}/files/${id}`, mime_type: file.mimeType, file_size: file.bytes.length },
    };
  }

  async #upload({ body, headers }: FakeCall): Promise<FakeReply> {
    const form = await new Response(new Uint8Array(body), {
      headers: { "content-type": headers["content-type"] ?? "" },
    }).formData();
    const file = form.get("file");
    if (form.get("messaging_product") !== "whatsapp" || !(file instanceof File))
      return graphRefusal(400, 100, "The parameter file is required.");
    if (!mediaTypes.test(file.type))
      return graphRefusal(400, 100, "Param file must be a file with one of the following types");
    const id = `media${this.#media.size + 1}`;
    this.#media.set(id, { filename: file.name, bytes: Buffer.from(await file.arrayBuffer()), mimeType: file.type });
    return { body: { id } };
  }

  #post({ json }: FakeCall): FakeReply {
    if (json.messaging_product !== "whatsapp") return graphRefusal(400, 100, "messaging_product is required");
    if (json.status === "read") {
      this.read.push({ id: String(json.message_id), isTyping: json.typing_indicator !== undefined });
      return { body: { success: true } };
    }
    try {
      const shown = shownOf(json, (id) => this.#media.get(id));
      if (json.type === "template") this.templates.push(shown.text);
      else if (this.gone.has(shown.chatId))
        return graphRefusal(400, 131_047, "Re-engagement message", "More than 24 hours have passed");
      if (Object(json.text).preview_url === true) this.previewed.push(shown.text);
      const id = `wamid.${this.chats.show(shown)}`;
      const trace = json.biz_opaque_callback_data;
      if (!this.isSilent && trace !== undefined)
        this.tellStatus(id, "sent", { recipient_id: shown.chatId, biz_opaque_callback_data: trace });
      return { body: { contacts: [{ input: shown.chatId, wa_id: shown.chatId }], messages: [{ id }] } };
    } catch (error) {
      return graphRefusal(400, 131_009, "Parameter value is not valid", String(error));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.line[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}
