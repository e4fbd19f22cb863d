import { createHash } from "node:crypto";

const maxLength = 64;

/** A tool of a server, by the names that the config and the server gave. */
export interface NamedTool {
  readonly server: string;
  readonly tool: string;
}

/**
 * `mcp_<server>_<tool>` in `[a-z0-9_]{1,64}` for each of them. A name that is too long, has odd characters, or could mean
 * two tools ends in six digits of a hash of both names, so that it never depends on the order in which servers answer.
 */
export function toolNames(tools: readonly NamedTool[]): readonly string[] {
  const plain = tools.map(plainName);
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return tools.map((tool, index) => {
    const name = plain[index] ?? "";
    const isClear = counts.get(name) === 1 && name.length <= maxLength && isFaithful(tool);
    return isClear ? name : `${name.slice(0, maxLength - 7)}_${hashOf(tool)}`;
  });
}

function plainName({ server, tool }: NamedTool): string {
  return `mcp_${slug(server)}_${slug(tool)}`;
}

function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "_");
}

/** `get-sum` may become `get_sum`; other characters would be lost. */
function isFaithful({ server, tool }: NamedTool): boolean {
  return /^[A-Za-z0-9_.-]+$/.test(server) && /^[A-Za-z0-9_./-]+$/.test(tool);
}

function hashOf({ server, tool }: NamedTool): string {
  return createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, 6);
}
