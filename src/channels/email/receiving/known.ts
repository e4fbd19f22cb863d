import { createHash } from "node:crypto";
import { z } from "zod";
import type { ChannelRecords } from "../../channel.js";

const mailRecord = z.object({
  /** Its Message-ID, without brackets. */
  id: z.string(),
  chatId: z.string(),
  thread: z.string().optional(),
  subject: z.string(),
  references: z.array(z.string()),
  isOurs: z.boolean(),
  /** What it said, as {@link saidIn} makes it: quotes of it are known by that. */
  said: z.string().optional(),
  /** Unix ms. */
  at: z.number(),
});
export type KnownMail = z.infer<typeof mailRecord>;

const keptMs = 90 * 24 * 3600 * 1000;
const mostKept = 5000;
const mostReferences = 30;

/** The mails of the past months: what later ones are known by as parts of the same thread. */
export interface KnownMails {
  keep(mail: KnownMail): Promise<void>;
  find(id: string): KnownMail | undefined;
  /** The newest one that a person has written there. */
  latest(chatId: string, thread: string | undefined): KnownMail | undefined;
  forgetOld(): Promise<void>;
  /** All of one conversation. */
  forget(chatId: string, thread: string | undefined): Promise<void>;
}

export function createKnownMails(records: ChannelRecords, now: () => number): KnownMails {
  const read = (id: string): KnownMail | undefined => mailRecord.safeParse(records.get(id)).data;
  return {
    async keep(mail) {
      const { id, references, chatId, thread, isOurs } = mail;
      const first = references.slice(0, 1);
      const short =
        references.length > mostReferences ? [...first, ...references.slice(1 - mostReferences)] : references;
      const record = { ...mail, references: [...short] };
      await records.put(mailKey(id), record);
      if (!isOurs) await records.put(latestKey(chatId, thread), { ...record, said: undefined });
    },
    find: (id) => read(mailKey(id)),
    latest: (chatId, thread) => read(latestKey(chatId, thread)),
    async forget(chatId, thread) {
      for (const { id, value } of records.list()) {
        const mail = mailRecord.safeParse(value).data;
        if (mail?.chatId === chatId && mail.thread === thread) await records.delete(id);
      }
    },
    async forgetOld() {
      const all = records
        .list()
        .flatMap(({ id, value }) => {
          const at = mailRecord.safeParse(value).data?.at;
          return at === undefined ? [] : [{ id, at }];
        })
        .sort((a, b) => b.at - a.at);
      for (const [index, { id, at }] of all.entries())
        if (index >= mostKept || at < now() - keptMs) await records.delete(id);
    },
  };
}

function mailKey(id: string): string {
  return `mail:${digest(id)}`;
}

function latestKey(chatId: string, thread: string | undefined): string {
  return `latest:${digest(`${chatId}\n${thread ?? ""}`)}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

/** The name of the thread that begins with this mail. */
export function threadOf(rootId: string): string {
  return createHash("sha256").update(rootId).digest("hex").slice(0, 12);
}
