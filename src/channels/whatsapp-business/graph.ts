import { createHmac } from "node:crypto";
import { z } from "zod";
import { ChannelError } from "../../errors.js";
import { withoutSlashes } from "../../util/text/trim-where.js";
import { type Call, callPlatform, jsonOf } from "../wire/call.js";
import { download } from "../wire/download.js";
import { GraphError, graphError, isAboutAccount, title } from "./graph-error.js";

export interface GraphOptions {
  readonly phoneNumberId: string;
  readonly accessToken: string;
  readonly appSecret: string;
  /** Default `https://graph.facebook.com/v24.0`. */
  readonly apiRoot?: string | undefined;
}

const number = z.looseObject({ display_phone_number: z.string(), verified_name: z.string().optional() });
const media = z.looseObject({ url: z.string(), mime_type: z.string().optional() });

export const callMs = 15_000;

/** Meta's interface for one business number. Nothing is tried again in here. */
export class Graph {
  readonly #options: GraphOptions;
  readonly #root: string;

  constructor(options: GraphOptions) {
    this.#options = options;
    const { apiRoot = "https://graph.facebook.com/v24.0" } = options;
    if (!/^https?:\/\//.test(apiRoot) || !URL.canParse(apiRoot))
      throw new ChannelError("channels.whatsapp-business.apiRoot is not a web address: it must begin with https://.");
    this.#root = withoutSlashes(apiRoot);
  }

  /** Asks for the number itself, which shows whether the token, the secret and the id belong together. @throws {ChannelError} */
  async look(signal: AbortSignal): Promise<string> {
    const { phoneNumberId } = this.#options;
    try {
      const path = `/${encodeURIComponent(phoneNumberId)}`;
      const said = await this.#ask(path, { query: { fields: "display_phone_number,verified_name" } }, callMs, signal);
      const { display_phone_number: shown, verified_name: name } = number.parse(said);
      return name === undefined ? shown : `${shown} (${name})`;
    } catch (error) {
      throw error instanceof GraphError ? loginError(error) : error;
    }
  }

  /** Sends or marks; resolves with the answer as it came. @throws {ChannelError} */
  async post(body: object, ms: number, signal: AbortSignal): Promise<unknown> {
    const text = JSON.stringify({ messaging_product: "whatsapp", ...body });
    return await this.#ask(this.#ofNumber("messages"), { body: text }, ms, signal);
  }

  /** Gives a file to WhatsApp. Resolves with the id that a message names it by. @throws {ChannelError} */
  async upload(form: FormData, ms: number, signal: AbortSignal): Promise<string> {
    form.set("messaging_product", "whatsapp");
    const said = await this.#ask(this.#ofNumber("media"), { body: form }, ms, signal);
    return z.looseObject({ id: z.string() }).parse(said).id;
  }

  /** Reads a file that somebody has sent. Stops behind `maxBytes`. @throws {ChannelError} */
  async download(mediaId: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
    const { phoneNumberId: phone_number_id } = this.#options;
    const path = `/${encodeURIComponent(mediaId)}`;
    const { url } = media.parse(await this.#ask(path, { query: { phone_number_id } }, callMs, signal));
    if (!this.#isOfMeta(url)) throw new ChannelError("WhatsApp named a place for a file that is not Meta's.");
    return await download("WhatsApp", url, maxBytes, { headers: this.#headers(), redirect: "manual", signal });
  }

  async #ask(
    path: string,
    { query = {}, body }: { readonly query?: Readonly<Record<string, string>>; readonly body?: string | FormData },
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { accessToken, appSecret } = this.#options;
    const proof = createHmac("sha256", appSecret).update(accessToken).digest("hex");
    const url = `${this.#root}${path}?${new URLSearchParams({ ...query, appsecret_proof: proof })}`;
    const json: Record<string, string> = typeof body === "string" ? { "content-type": "application/json" } : {};
    const headers = { ...this.#headers(), ...json };
    const call: Call = { title, url, headers, timeoutMs, ...(body === undefined ? {} : { body }) };
    const answer = await callPlatform(call, signal);
    if (answer.status < 200 || answer.status >= 300) throw graphError(answer, [accessToken, appSecret, proof]);
    return jsonOf(title, answer);
  }

  #headers(): { readonly authorization: string } {
    return { authorization: `Bearer ${this.#options.accessToken}` };
  }

  #ofNumber(edge: string): string {
    return `/${encodeURIComponent(this.#options.phoneNumberId)}/${edge}`;
  }

  /** The token goes along: nobody else may be asked for a file. */
  #isOfMeta(address: string): boolean {
    if (!URL.canParse(address)) return false;
    const { protocol, hostname, origin } = new URL(address);
    if (origin === new URL(this.#root).origin) return true;
    return protocol === "https:" && /(?:^|\.)(?:fbsbx\.com|facebook\.com|fbcdn\.net|whatsapp\.net)$/.test(hostname);
  }
}

/** Of a login: trying again does not help against what is wrong in the section. */
function loginError(error: GraphError): ChannelError {
  const { code, message } = error;
  const section = "channels.whatsapp-business";
  if (code === 100 && /appsecret_proof/.test(message))
    return new ChannelError(`The app secret is not that of the access token's app. Correct ${section}.appSecret.`);
  if (code === 100)
    return new ChannelError(
      `WhatsApp does not know this phone number id, or the access token may not use it. Correct ${section}.phoneNumberId.`,
    );
  return error.retryable && !isAboutAccount(code)
    ? error
    : new ChannelError(message, { retryAfterMs: error.retryAfterMs });
}
