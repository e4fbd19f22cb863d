import { z } from "zod";
import { visible } from "../../util/text/visible.js";
import { print, printTable } from "./output.js";

const grant = z.object({
  id: z.string(),
  tool: z.string(),
  argument: z.string(),
  for: z.string(),
  chat: z.string(),
  files: z.array(z.object({ path: z.string() })),
  grantedAt: z.string(),
  isOld: z.boolean(),
});

const policy = z.object({
  executionMode: z.string(),
  rules: z.array(z.record(z.string(), z.string())),
  grants: z.array(grant),
});

export function printPolicy(answer: unknown): void {
  const { executionMode, rules, grants } = policy.parse(answer);
  print(`Mode: ${executionMode}`);
  if (rules.length > 0) print("\nRules; of those that match, the last one counts:");
  for (const [index, { verdict = "", ...rest }] of rules.entries()) {
    const parts = Object.entries(rest).map(([name, value]) => `${name} ${visible(value)}`);
    print(`  ${index}. ${parts.join(", ") || "everything"}: ${verdict}`);
  }
  const current = grants.filter(({ isOld }) => !isOld);
  print(current.length === 0 ? "\nNothing is always allowed." : "\nAlways allowed:");
  if (current.length > 0) printTable(["ID", "TOOL", "FOR", "CHAT", "SINCE", "WHAT"], current.map(rowOf));
  const old = grants.filter(({ isOld }) => isOld);
  if (old.length === 0) return;
  print("\nAllowed by an earlier version, which bound it to less. It allows nothing any more; revoke it:");
  printTable(["ID", "TOOL", "FOR", "CHAT", "SINCE", "WHAT"], old.map(rowOf));
}

function rowOf({ id, tool, argument, for: whom, chat, files, grantedAt }: z.infer<typeof grant>): readonly string[] {
  const bound = files.length === 0 ? "" : ` (with ${files.map(({ path }) => path).join(", ")} as it was then)`;
  return [id, tool, whom, chat, grantedAt, `${argument || "(any input)"}${bound}`].map(visible);
}
