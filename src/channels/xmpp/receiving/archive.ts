import { newId } from "../../../util/ids.js";
import { bareOf, resourceOf } from "../jid.js";
import { ns } from "../namespaces.js";
import type { Session } from "../stream/session.js";
import { type Xml, xml } from "../stream/xml.js";

/** One message of an archive. */
export interface Archived {
  readonly id: string;
  readonly message: Xml;
  /** Unix ms; undefined where the archive does not say. */
  readonly at: number | undefined;
}

export interface ArchivePage {
  readonly found: readonly Archived[];
  readonly isLast: boolean;
}

export interface ArchiveQuery {
  /** With this address alone. */
  readonly with?: string | undefined;
  /** Not older, Unix ms. */
  readonly start?: number | undefined;
  /** Behind the message of this id. */
  readonly after?: string | undefined;
  readonly max: number;
}

interface OpenQuery {
  readonly of: string;
  readonly max: number;
  readonly found: Archived[];
}

/** Asks archives (XEP-0313), and knows their answers by who sends them. */
export class Archives {
  readonly #session: Session;
  readonly #open = new Map<string, OpenQuery>();

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * A page of the archive of the account, or of a room.
   *
   * @throws {StanzaError} `item-not-found`: it does not know `after` any more @throws {ChannelError}
   */
  async read(of: string, query: ArchiveQuery, signal: AbortSignal): Promise<ArchivePage> {
    const queryid = newId("mam");
    const found: Archived[] = [];
    this.#open.set(queryid, { of, max: query.max, found });
    try {
      const page = xml("set", ns.pages, {}, xml("max", ns.pages, {}, String(query.max)), ...placeOf(query));
      const wish = xml("query", ns.archive, { queryid }, formOf(query), page);
      const to = of === this.#session.account ? undefined : of;
      const answer = await this.#session.ask("set", to, wish, signal);
      const fin = answer.child("fin", ns.archive);
      return { found, isLast: fin?.attribute("complete") === "true" || found.length === 0 };
    } finally {
      this.#open.delete(queryid);
    }
  }

  /** True: it was an answer of an archive, or pretends to be one. */
  take(message: Xml): boolean {
    const result = message.child("result", ns.archive);
    if (result === undefined) return false;
    const query = this.#open.get(result.attribute("queryid") ?? "");
    const from = message.attribute("from") ?? this.#session.account;
    // What comes from a nick of the room, or beyond what was asked for, is not the archive's.
    const isHis =
      query !== undefined &&
      bareOf(from) === query.of &&
      resourceOf(from) === undefined &&
      query.found.length < query.max;
    const forwarded = result.child("forwarded", ns.forward);
    const inner = forwarded?.child("message", ns.client);
    const id = result.attribute("id");
    if (isHis && inner !== undefined && id !== undefined)
      query.found.push({ id, message: inner, at: timeIn(forwarded?.child("delay", ns.delay)) });
    return true;
  }
}

export function timeIn(delay: Xml | undefined): number | undefined {
  const at = Date.parse(delay?.attribute("stamp") ?? "");
  return Number.isNaN(at) ? undefined : at;
}

function placeOf({ after }: ArchiveQuery): readonly Xml[] {
  return after === undefined || after === "" ? [] : [xml("after", ns.pages, {}, after)];
}

function formOf({ with: partner, start }: ArchiveQuery): Xml {
  const field = (name: string, value: string, type?: string): Xml =>
    xml("field", ns.form, { var: name, type }, xml("value", ns.form, {}, value));
  return xml(
    "x",
    ns.form,
    { type: "submit" },
    field("FORM_TYPE", ns.archive, "hidden"),
    ...(partner === undefined ? [] : [field("with", partner)]),
    ...(start === undefined ? [] : [field("start", new Date(start).toISOString())]),
  );
}
