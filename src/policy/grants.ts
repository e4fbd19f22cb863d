import { createHash } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "../util/canonical-json.js";
import { visible } from "../util/text/visible.js";
import { argumentOf, type BoundFile, isOpenCommand, type ToolUse } from "./access.js";
import { followsFolder } from "./commands/command-programs.js";
import { parseWords } from "./commands/shell-words.js";
import type { PairingRecords } from "./pairing.js";

const common = {
  tool: z.string(),
  kind: z.string(),
  /** The exact path, address, chat or command; of a call its whole input, as JSON with sorted names. */
  argument: z.string(),
  /** `channel:sender` of who asked. */
  for: z.string(),
  grantedBy: z.string(),
  /** ISO 8601. */
  grantedAt: z.string(),
};
const grantRecord = z.object({
  ...common,
  /** As a session key. */
  chat: z.string(),
  /** What the command runs of the workspace, by what it held. */
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
});
/** What versions before this one have written, for all owners in all chats; an empty argument meant any input. */
const oldRecord = z.object(common).transform((old) => ({ ...old, chat: "", files: [] }));

/** Something that a person has allowed for always. */
export interface Grant extends z.infer<typeof grantRecord> {
  readonly id: string;
  /** Of an earlier version, which bound it to less: it allows nothing any more. */
  readonly isOld: boolean;
}

/** What was answered with "always allow". Durable; revoked by id. */
export interface Grants {
  list(): readonly Grant[];
  covers(use: ToolUse): boolean;
  /** Allowing the same thing twice gives the same grant. Undefined for what cannot be bound, see {@link scopeOf}. */
  add(use: ToolUse, grantedBy: string): Promise<Grant | undefined>;
  /** Undefined when there is none of this id. */
  revoke(id: string): Promise<Grant | undefined>;
  /** All that were given in a chat that is deleted: they hold words of it. */
  forget(chat: string): Promise<void>;
  /** What the gateway's own log says about it: never the words of a chat, which may be deleted. */
  nameOf(grant: Grant): string;
}

export function createGrants(records: PairingRecords, options: { readonly now: () => number }): Grants {
  const read = (id: string, value: unknown): Grant | undefined => {
    const current = grantRecord.safeParse(value);
    if (current.success) return { id, ...current.data, isOld: false };
    const old = oldRecord.safeParse(value);
    return old.success ? { id, ...old.data, isOld: true } : undefined;
  };
  const list = () => records.list().flatMap(({ id, value }) => read(id, value) ?? []);
  return {
    list,
    covers(use) {
      const scope = scopeOf(use);
      if (scope === undefined) return false;
      const found = read("", records.get(idOf(scope)));
      return found !== undefined && !found.isOld && textOf(found) === textOf(scope);
    },
    async add(use, grantedBy) {
      const scope = scopeOf(use);
      if (scope === undefined) return undefined;
      const id = idOf(scope);
      const grant = { ...scope, files: [...scope.files], grantedBy, grantedAt: new Date(options.now()).toISOString() };
      const stored = await records.update(id, (value) => {
        const same = read(id, value);
        return same !== undefined && !same.isOld && textOf(same) === textOf(scope) ? value : grant;
      });
      return read(id, stored);
    },
    async revoke(id) {
      let grant: Grant | undefined;
      await records.update(id, (value) => {
        grant = read(id, value);
        return grant === undefined ? value : undefined;
      });
      return grant;
    },
    nameOf: ({ tool, id }) => visible(`${tool} (${id})`),
    async forget(chat) {
      for (const grant of list()) if (grant.chat === chat) await records.delete(grant.id);
    },
  };
}

type Scope = Readonly<Pick<Grant, "tool" | "kind" | "argument" | "chat" | "for">> & {
  readonly files: readonly BoundFile[];
};

/**
 * What saying "always" to this use would allow: the same thing, for the same person, in the same chat. Undefined for what
 * cannot be told again: where the chat is not known, for a command whose files are not known, and without a sandbox for
 * one that is not made of plain words or whose program looks into the folder for what to run.
 */
export function scopeOf({ tool, access, speaker, chat, files }: ToolUse): Scope | undefined {
  if (chat === undefined) return undefined;
  const common = { tool: tool.name, chat, for: `${speaker.channel}:${speaker.senderId}` };
  if (access.kind === "call") return { ...common, kind: "call", argument: canonicalJson(access.input), files: [] };
  if (access.kind !== "command") return { ...common, kind: access.kind, argument: argumentOf(access), files: [] };
  if (files === undefined) return undefined;
  const [program] = parseWords(access.command) ?? [];
  if (!access.isSandboxed && (program === undefined || followsFolder(program))) return undefined;
  // Such a yes says nothing about the same command without a sandbox.
  const kind = access.isSandboxed && isOpenCommand(access) ? "command with network" : "command";
  return { ...common, kind, argument: access.command, files };
}

// Short enough to be typed; what it stands for is compared as well.
function idOf(scope: Scope): string {
  return `allow_${createHash("sha256").update(textOf(scope)).digest("hex").slice(0, 8)}`;
}

function textOf({ tool, kind, argument, files, chat, for: whom }: Scope): string {
  return JSON.stringify([tool, kind, argument, files.map(({ path, sha256 }) => [path, sha256]), chat, whom]);
}
