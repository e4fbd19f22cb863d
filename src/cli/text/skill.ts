import { z } from "zod";
import { harmless, print, printNote, printTable } from "./output.js";

const list = z.object({
  skills: z.array(z.object({ name: z.string(), description: z.string(), source: z.string(), enabled: z.boolean() })),
});
const skill = z.object({ name: z.string(), content: z.string(), enabled: z.boolean() });

export function printSkills(answer: unknown): void {
  const { skills } = list.parse(answer);
  if (skills.length === 0) {
    print("There are no skills. Put one into skills/ in the workspace.");
    return;
  }
  printTable(
    ["NAME", "FROM", "DESCRIPTION"],
    skills.map(({ name, source, enabled, description }) => [
      name,
      enabled ? source : `${source}, off`,
      description.length > 90 ? `${description.slice(0, 89)}…` : description,
    ]),
  );
}

export function printSkill(answer: unknown): void {
  const { name, content, enabled } = skill.parse(answer);
  if (!enabled) printNote(`${name} is off. To switch it on: maxclaw skills enable ${name}`);
  print(harmless(content).trimEnd());
}
