import { createHash } from "node:crypto";
import { z } from "zod";
import { argumentOf, isOpenCommand, type ToolUse } from "./access.js";
import type { PairingRecords } from "./pairing.js";

const grantRecord = z.object({
  tool: z.string(),
  kind: z.string(),
  /** The exact path, address, chat or command; empty: whatever the input. */
  argument: z.string(),
  /** `owner` stands for every owner, else `channel:sender`. */
  for: z.string(),
  grantedBy: z.string(),
  /** ISO 8601. */
  grantedAt: z.string(),
});

/** Something that a person has allowed for always. */
export interface Grant extends z.infer<typeof grantRecord> {
  readonly id: string;
}

/** What was answered with "always allow". Durable; revoked by id. */
export interface Grants {
  list(): readonly Grant[];
  covers(use: ToolUse): boolean;
  /** Allowing the same thing twice gives the same grant. */
  add(use: ToolUse, grantedBy: string): Promise<Grant>;
  /** Undefined when there is none of this id. */
  revoke(id: string): Promise<Grant | undefined>;
}

export function createGrants(records: PairingRecords, options: { readonly now: () => number }): Grants {
  const read = (id: string, value: unknown): Grant | undefined => {
    const parsed = grantRecord.safeParse(value);
    return parsed.success ? { id, ...parsed.data } : undefined;
  };
  return {
    list: () => records.list().flatMap(({ id, value }) => read(id, value) ?? []),
    covers(use) {
      const scope = scopeOf(use);
      const found = read("", records.get(idOf(scope)));
      return found !== undefined && sameScope(found, scope);
    },
    async add(use, grantedBy) {
      const scope = scopeOf(use);
      const id = idOf(scope);
      const grant = { ...scope, grantedBy, grantedAt: new Date(options.now()).toISOString() };
      await records.put(id, grant);
      return { id, ...grant };
    },
    async revoke(id) {
      const grant = read(id, records.get(id));
      if (grant !== undefined) await records.delete(id);
      return grant;
    },
  };
}

/** One line for people: `write_file /srv/notes.txt`. */
export function grantText({ tool, argument }: Pick<Grant, "tool" | "argument">): string {
  return argument === "" ? `${tool}, whatever its input` : `${tool} ${argument}`;
}

type Scope = Pick<Grant, "tool" | "kind" | "argument" | "for">;

/** What saying "always" to this use would allow. A call has as many inputs as there are moments: it counts as such. */
export function scopeOf({ tool, access, speaker }: ToolUse): Scope {
  return {
    tool: tool.name,
    kind: isOpenInSandbox(access) ? "command with network" : access.kind,
    argument: access.kind === "call" ? "" : argumentOf(access),
    for: speaker.role === "owner" ? "owner" : `${speaker.channel}:${speaker.senderId}`,
  };
}

/** Such a yes says nothing about the same command without a sandbox. */
function isOpenInSandbox(access: ToolUse["access"]): boolean {
  return access.kind === "command" && access.isSandboxed && isOpenCommand(access);
}

// Short enough to be typed; what it stands for is compared as well.
function idOf(scope: Scope): string {
  return `allow_${createHash("sha256").update(textOf(scope)).digest("hex").slice(0, 8)}`;
}

function sameScope(a: Scope, b: Scope): boolean {
  return textOf(a) === textOf(b);
}

function textOf(scope: Scope): string {
  return JSON.stringify([scope.tool, scope.kind, scope.argument, scope.for]);
}
