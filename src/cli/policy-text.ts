import { z } from "zod";
import { print, printTable } from "./output.js";

const policy = z.object({
  executionMode: z.string(),
  rules: z.array(z.record(z.string(), z.string())),
  grants: z.array(
    z.object({ id: z.string(), tool: z.string(), argument: z.string(), for: z.string(), grantedAt: z.string() }),
  ),
});

export function printPolicy(answer: unknown): void {
  const { executionMode, rules, grants } = policy.parse(answer);
  print(`Mode: ${executionMode}`);
  if (rules.length > 0) print("\nRules; of those that match, the last one counts:");
  for (const [index, { verdict = "", ...rest }] of rules.entries()) {
    const parts = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
    print(`  ${index}. ${parts.join(", ") || "everything"}: ${verdict}`);
  }
  print(grants.length === 0 ? "\nNothing is allowed for always." : "\nAllowed for always:");
  if (grants.length === 0) return;
  const rows = grants.map((one) => [one.id, one.tool, one.for, one.grantedAt, one.argument || "(any input)"]);
  printTable(["ID", "TOOL", "FOR", "SINCE", "WHAT"], rows);
}
