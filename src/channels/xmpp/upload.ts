import type { Attachment } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import { plainName } from "../../util/files/file-name.js";
import { readToSend } from "../../util/files/noted-file.js";
import { callPlatform, statusError } from "../wire/call.js";
import { domainOf } from "./jid.js";
import { ns } from "./namespaces.js";
import { servicesOf } from "./stream/disco.js";
import type { Session } from "./stream/session.js";
import { type Xml, xml } from "./stream/xml.js";
import { StanzaError, toChannelError } from "./xmpp-error.js";

const title = "the XMPP server";

interface Service {
  readonly jid: string;
  readonly maxBytes: number | undefined;
}

interface Slot {
  readonly put: string;
  readonly get: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Where the account may put files (XEP-0363). Found once for each session. */
export class Uploads {
  readonly #found = new WeakMap<Session, Promise<Service | undefined>>();
  /** Beginnings of addresses that the service has given out. */
  readonly #origins = new Set<string>();

  /** Of the account's own service: it is where its owner wants it to be. */
  get origins(): readonly string[] {
    return [...this.#origins];
  }

  isUpload(url: string): boolean {
    return URL.canParse(url) && this.#origins.has(new URL(url).origin);
  }

  /** Asks for a place to put nothing to, once, so that the service's addresses are known. Never rejects. */
  async learn(session: Session, signal: AbortSignal): Promise<void> {
    const service = await this.#service(session, signal).catch(() => undefined);
    if (service === undefined || this.#origins.size > 0) return;
    await this.#slot(session, service, { name: "look.txt", size: 1, type: "text/plain" }, signal).catch(
      () => undefined,
    );
  }

  /** Resolves with the address that others can read it from. Nobody has seen it then. @throws {ChannelError} */
  async put(session: Session, file: Attachment, ms: number, signal: AbortSignal): Promise<string> {
    const bytes = await readToSend(file);
    if (bytes.length === 0)
      throw new ChannelError(`The file ${file.filename} is empty, and XMPP servers take no empty files.`);
    try {
      const service = await this.#service(session, signal);
      if (service === undefined)
        throw new ChannelError(
          "The XMPP server has no service for files (HTTP File Upload), so that none can be sent.",
        );
      if (service.maxBytes !== undefined && bytes.length > service.maxBytes)
        throw new ChannelError(
          `The file ${file.filename} is larger than the ${service.maxBytes} bytes that the XMPP server takes.`,
        );
      const about = { name: plainName(file.filename), size: bytes.length, type: file.mimeType };
      const slot = await this.#slot(session, service, about, signal);
      const headers = { ...slot.headers, "content-type": file.mimeType };
      const body = new Uint8Array(bytes);
      const answer = await callPlatform({ title, url: slot.put, method: "PUT", headers, body, timeoutMs: ms }, signal);
      if (answer.status !== 200 && answer.status !== 201) throw statusError(title, answer);
      return slot.get;
    } catch (error) {
      throw unseen(error, file.filename);
    }
  }

  async #service(session: Session, signal: AbortSignal): Promise<Service | undefined> {
    const known = this.#found.get(session) ?? this.#look(session, signal);
    this.#found.set(session, known);
    known.catch(() => this.#found.delete(session));
    return await known;
  }

  async #look(session: Session, signal: AbortSignal): Promise<Service | undefined> {
    const domain = domainOf(session.account);
    for (const jid of [domain, ...(await servicesOf(session, domain, signal))]) {
      const answer = await session.ask("get", jid, xml("query", ns.info), signal).catch((error: unknown) => {
        if (error instanceof StanzaError) return undefined;
        throw error;
      });
      const info = answer?.child("query", ns.info);
      const isUpload = info?.all("feature", ns.info).some((feature) => feature.attribute("var") === ns.upload) === true;
      if (info !== undefined && isUpload) return { jid, maxBytes: largestOf(info) };
    }
    return undefined;
  }

  async #slot(
    session: Session,
    { jid }: Service,
    { name, size, type }: { readonly name: string; readonly size: number; readonly type: string },
    signal: AbortSignal,
  ): Promise<Slot> {
    const wish = xml("request", ns.upload, { filename: name, size: String(size), "content-type": type });
    const slot = (await session.ask("get", jid, wish, signal)).child("slot", ns.upload);
    const put = slot?.child("put", ns.upload);
    const url = put?.attribute("url") ?? "";
    const get = slot?.child("get", ns.upload)?.attribute("url") ?? "";
    if (put === undefined || !isAddress(url) || !isAddress(get))
      throw new ChannelError("The XMPP server gave no place for a file.", { retryable: true });
    this.#origins.add(new URL(get).origin);
    return { put: url, get, headers: headersOf(put) };
  }
}

function isAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** No others may be asked for. */
function headersOf(put: Xml): Readonly<Record<string, string>> {
  const found = put.all("header", ns.upload).flatMap((header) => {
    const name = header.attribute("name") ?? "";
    const value = header.text.replace(/[\r\n]/g, "");
    return /^(authorization|cookie|expires)$/i.test(name) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}

function largestOf(info: Xml): number | undefined {
  for (const form of info.all("x", ns.form)) {
    const field = form.all("field", ns.form).find((one) => one.attribute("var") === "max-file-size");
    const size = Number(field?.textOf("value", ns.form));
    if (Number.isInteger(size) && size > 0) return size;
  }
  return undefined;
}

/** What fails here has shown nothing, however it failed. */
function unseen(error: unknown, filename: string): unknown {
  if (error instanceof StanzaError) return toChannelError(error, `The file ${filename}`);
  if (!(error instanceof ChannelError) || error.outcome === "refused") return error;
  const { retryable, retryAfterMs } = error;
  return new ChannelError(error.message, { outcome: "refused", retryable, retryAfterMs });
}
