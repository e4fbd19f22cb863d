import type { Command } from "commander";
import { segment } from "../api-client.js";
import { print, printJson } from "../output.js";
import { withClient } from "../with-client.js";

export function addSkillsCommand(program: Command, version: string): void {
  const skills = program.command("skills").description("List and show the skills the assistant can use");
  skills
    .command("list")
    .description("List the skills")
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      const found = await withClient(version, (client) => client.get("/api/skills"));
      if (json) return printJson(found);
      const { printSkills } = await import("../skill-text.js");
      printSkills(found);
    });
  skills
    .command("show")
    .description("Show the text of a skill")
    .argument("<name>")
    .option("--json", "as JSON")
    .action(async (name: string, { json }: { readonly json?: true }) => {
      const skill = await withClient(version, (client) => client.get(`/api/skills/${segment(name)}`));
      if (json) return printJson(skill);
      const { textOfSkill } = await import("../skill-text.js");
      print(textOfSkill(skill));
    });
}
