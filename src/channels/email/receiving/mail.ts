import type { FetchMessageObject, FetchQueryObject } from "imapflow";
import { ChannelError } from "../../../errors.js";
import { type MailHead, parseHead } from "../headers.js";
import { accountOf, type EmailOptions } from "../options.js";
import { shortLines } from "../sending/short-lines.js";
import { readContent } from "./content.js";
import { type ImapConnection, openImap } from "./imap.js";
import { filesOf, noParts, partsOf, smallMail } from "./large-mail.js";

/** The mailbox that is open. */
export interface Mailbox {
  readonly connection: ImapConnection;
  readonly options: EmailOptions;
  /** Mails keep their numbers as long as this stays. */
  readonly validity: string;
}

/** A mail as it is in the mailbox. */
export interface Mail {
  readonly uid: number;
  readonly head: MailHead;
  readonly arrivedAt: Date;
  readonly sizeBytes: number;
  /** The beginning of the mail, which is all of a small one. */
  readonly source: Buffer;
  readonly structure: FetchMessageObject["bodyStructure"];
}

/** Read of each mail at once; a larger one is fetched in parts. */
const firstBytes = 256 * 1024;
const textBytes = 256 * 1024;
/** A larger mail is not downloaded to check its signature. */
const largestSigned = 60 * 1024 * 1024;
const downloadMs = 10 * 60_000;

/** Undefined: it is gone, or its server cannot show it. */
export async function fetchMail(connection: ImapConnection, uid: number): Promise<Mail | undefined> {
  const bare = { uid: true, size: true, internalDate: true, source: { start: 0, maxLength: firstBytes } };
  const fetch = (query: FetchQueryObject) =>
    connection.command((client) => client.fetchOne(String(uid), query, { uid: true }));
  // What is said about parts that lie very deep in each other cannot be read, and takes all the rest with it.
  const fetched = (await fetch({ ...bare, bodyStructure: true })) || (await fetch(bare));
  if (!fetched || fetched.source === undefined) return undefined;
  const { source, size = source.length, internalDate, bodyStructure: structure } = fetched;
  const arrivedAt = internalDate === undefined ? new Date() : new Date(internalDate);
  return { uid, head: await parseHead(source), arrivedAt, sizeBytes: size, source, structure };
}

/** A large mail is never in memory as a whole. */
export async function fetchSource(connection: ImapConnection, { uid, sizeBytes, source }: Mail) {
  if (sizeBytes <= source.length || sizeBytes > largestSigned) return source;
  const { content } = await connection.command(
    (client) => client.download(String(uid), undefined, { uid: true, chunkSize: firstBytes }),
    downloadMs,
  );
  if (content === undefined) throw new ChannelError("A mail has vanished while it was read.", { retryable: true });
  return content.pipe(shortLines());
}

export async function contentOf({ connection, options, validity }: Mailbox, mail: Mail, signal: AbortSignal) {
  const { uid, sizeBytes, source, structure } = mail;
  if (sizeBytes <= source.length) return await readContent(source, signal);
  const { texts, files, mails, leftOut } = structure === undefined ? noParts : partsOf(structure);
  const shown = [...texts, ...mails];
  const wanted = shown.map(({ part }) => ({ key: part, start: 0, maxLength: textBytes }));
  const fetched =
    wanted.length === 0
      ? undefined
      : await connection.command((client) => client.fetchOne(String(uid), { bodyParts: wanted }, { uid: true }));
  const bytes = new Map(fetched ? fetched.bodyParts : []);
  // Of a mail that is built in another way than it says its server finds nothing.
  if (files.length === 0 && [...bytes.values()].every(({ length }) => length === 0))
    return { ...(await readContent(source, signal)), damage: { why: "only its beginning can be read", isGuess: true } };
  const small = smallMail(shown.map((text) => ({ ...text, bytes: bytes.get(text.part) ?? Buffer.alloc(0) })));
  const content = await readContent(small, signal);
  const others = content.files.filter(({ mimeType }) => mimeType !== "message/rfc822");
  const isCut = [...bytes.values()].some(({ length }) => length >= textBytes);
  const notes = [
    ...(isCut ? ["[The rest of this mail is left out, because it is very long.]"] : []),
    ...(leftOut > 0 ? [`[${leftOut} more parts of this mail are left out, because they are too many.]`] : []),
  ];
  return {
    ...content,
    text: [content.text, ...notes].join("\n\n"),
    files: [...others, ...filesOf(files, (part) => createPartReader(options, validity, uid, part))],
  };
}

/** Fetches a part over a connection of its own: the mailbox's may be gone by then. */
function createPartReader(options: EmailOptions, validity: string, uid: number, part: string) {
  return async (maxBytes: number, signal: AbortSignal): Promise<Uint8Array> => {
    using connection = await openImap(options, signal);
    const open = connection.command((client) => client.mailboxOpen(options.imap.mailbox, { readOnly: true }));
    if (String((await open).uidValidity) !== validity)
      throw new ChannelError(`The mailbox of ${accountOf(options.imap)} has renumbered its mails.`);
    return await connection.command(async (client) => {
      const { content } = await client.download(String(uid), part, { uid: true, maxBytes: maxBytes + 1 });
      if (content === undefined) throw new ChannelError("The mail is not in the mailbox any more.");
      const chunks: Buffer[] = [];
      for await (const chunk of content) chunks.push(chunk);
      return Buffer.concat(chunks);
    }, downloadMs);
  };
}

export async function markSeen({ connection, options }: Mailbox, { uid }: Mail): Promise<void> {
  try {
    await connection.command((client) => client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true }));
  } catch (error) {
    options.log.debug("a mail was not marked as seen", { uid, error });
  }
}
