import { basename, extname } from "node:path";
import { z } from "zod";
import { contentTypeOf } from "../../util/files/content-types.js";
import { cutText } from "../../util/text/cut-text.js";
import { maxTitleChars } from "../sessions/beginning.js";

const maxSequence = Number.MAX_SAFE_INTEGER;

/** Those of sub-agents are longer than what a client may begin. */
const sessionKey = z.string().min(1).max(2048);
/** What is longer is cut between characters. */
const title = z.string().transform((text) => cutText(text.trim(), maxTitleChars));

function whole(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}.`;
  const type = { error: (issue: { readonly input?: unknown }) => (issue.input === undefined ? undefined : error) };
  return z.number(type).int({ error }).min(min, { error }).max(max, { error });
}

/** A file that was uploaded before; the Go maxclaw's clients call its size `size`. */
const attachment = z
  .object({
    path: z.string().min(1).max(4096),
    filename: z.string().min(1).max(255).optional(),
    mimeType: z.string().max(200).optional(),
    sizeBytes: z.number().int().nonnegative().optional(),
    size: z.number().int().nonnegative().optional(),
  })
  .transform((file) => ({
    path: file.path,
    filename: file.filename ?? basename(file.path),
    mimeType: file.mimeType ?? contentTypeOf(extname(file.filename ?? file.path)),
    sizeBytes: file.sizeBytes ?? file.size ?? 0,
  }));

const session = z.object({ sessionKey });

/** Only those that have the mark, only those that do not, or all. */
const kept = z.enum(["true", "false", "all"]).optional();

/**
 * What each command takes that clients send over more than one transport, by its name on the wire. WebSocket, HTTP and
 * programs call the fields each in their own way, and leave it to these to say what is possible.
 */
export const commandParams = {
  message_send: session.extend({
    content: z.string(),
    channel: z.string().max(100).optional(),
    chatId: z.string().max(300).optional(),
    selectedSkills: z.array(z.string().max(200)).max(100).optional(),
    attachments: z.array(attachment).max(20).optional(),
    messageId: z.string().min(1).max(200).optional(),
    mode: z.enum(["next", "append", "cancel"]).optional(),
    alsoToChat: z.boolean().optional(),
  }),
  turn_cancel: session,
  session_open: z.object({
    sessionKey: sessionKey.optional(),
    title: title.optional(),
    model: z.string().max(200).optional(),
    cwd: z.string().max(4096).optional(),
  }),
  session_list: z.object({
    channel: z.string().optional(),
    chatId: z.string().optional(),
    archived: kept,
    pinned: kept,
    limit: whole(1, 1000).default(200),
    offset: whole(0, maxSequence).default(0),
  }),
  session_search: z.object({
    query: z.string().min(1).max(1000),
    limit: whole(1, 100).default(20),
    before: z.string().max(4096).optional(),
    channel: z.string().max(100).optional(),
    sessionKey: sessionKey.optional(),
  }),
  session_marks_set: session.extend({ pinned: z.boolean().optional(), archived: z.boolean().optional() }),
  session_read: session.extend({ seq: whole(0, maxSequence) }),
  session_delete: session,
  session_title_set: session.extend({
    title: title.refine((text) => text !== "", "A title needs at least one character"),
  }),
  session_status: session.extend({
    includeRecovery: z.boolean().default(false),
    fromSequence: whole(0, maxSequence).default(0),
  }),
  session_abort: session,
  session_complete: session,
  session_fork: session.extend({ at: z.number().int().optional() }),
  human_input_reply: session.extend({
    requestId: z.string().min(1).max(100),
    answer: z.string().max(10_000).optional(),
    /** A secret may be long, e.g. a private key. */
    values: z.record(z.string().max(100), z.string().max(100_000)).optional(),
  }),
};

/** What a client says that wants to follow a session. */
export const followParams = session.extend({
  fromSequence: whole(0, maxSequence).optional(),
  types: z.array(z.string().max(100)).max(100).optional(),
});

export type CommandName = keyof typeof commandParams;
export type CommandParams<T extends CommandName> = z.output<(typeof commandParams)[T]>;

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commandParams, name);
}
