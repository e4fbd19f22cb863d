import { z } from "zod";
import { harmless, print, printTable } from "./output.js";

const list = z.object({
  skills: z.array(z.object({ name: z.string(), description: z.string(), source: z.string(), enabled: z.boolean() })),
});
const skill = z.object({ content: z.string() });

export function printSkills(answer: unknown): void {
  const { skills } = list.parse(answer);
  if (skills.length === 0) {
    print("There is no skill. Put one into skills/ in the workspace.");
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

export function textOfSkill(answer: unknown): string {
  return harmless(skill.parse(answer).content).trimEnd();
}
