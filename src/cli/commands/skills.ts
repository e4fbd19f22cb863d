import type { Command } from "commander";
import { segment } from "../gateway/api-client.js";
import { withClient } from "../gateway/with-client.js";
import { print, printJson, printNote } from "../text/output.js";

interface InstallFlags {
  readonly skill?: string;
  readonly force?: true;
  readonly json?: true;
}

export function addSkillsCommand(program: Command, version: string): void {
  const skills = program.command("skills").description("List, check, make, install and switch the assistant's skills");
  addList(skills, version);
  addShow(skills, version);
  addSwitch(skills, version, "enable", "Switch a skill on");
  addSwitch(skills, version, "disable", "Switch a skill off, and keep its file");
  addValidate(skills, version);
  addInstall(skills);
  addNew(skills);
}

function addList(skills: Command, version: string): void {
  skills
    .command("list")
    .description("List the skills")
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      const found = await withClient(version, "look", (client) => client.get("/api/skills"));
      if (json) return printJson(found);
      const { printSkills } = await import("../text/skill.js");
      printSkills(found);
    });
}

function addShow(skills: Command, version: string): void {
  skills
    .command("show")
    .description("Show the text of a skill")
    .argument("<name>")
    .option("--json", "as JSON")
    .action(async (name: string, { json }: { readonly json?: true }) => {
      const skill = await withClient(version, "look", (client) => client.get(`/api/skills/${segment(name)}`));
      if (json) return printJson(skill);
      const { printSkill } = await import("../text/skill.js");
      printSkill(skill);
    });
}

function addSwitch(skills: Command, version: string, action: "enable" | "disable", description: string): void {
  skills
    .command(action)
    .description(description)
    .argument("<name>")
    .action(async (name: string) => {
      await withClient(version, "begin", (client) => client.post(`/api/skills/${segment(name)}/${action}`, {}));
      print(`${name} is ${action === "enable" ? "on" : "off"} from the next message on`);
    });
}

function addValidate(skills: Command, version: string): void {
  skills
    .command("validate")
    .description("Check skills against the SKILL.md standard; exit code 1 when one does not work")
    .argument("[names...]", "names, files or folders; without one all that are listed")
    .action(async (names: readonly string[]) => {
      const { validateSkills } = await import("../skill-files.js");
      await validateSkills(version, names);
    });
}

function addInstall(skills: Command): void {
  skills
    .command("install")
    .description("Put skills into the workspace, from a folder, a zip, a .md file or a git address")
    .argument("<source>", "e.g. ./my-skill, skills.zip, https://github.com/owner/repo, owner/repo")
    .option("--skill <name>", "only this one of several")
    .option("--force", "replace skills that are there already")
    .option("--json", "as JSON")
    .action(async (source: string, { skill, force, json }: InstallFlags) => {
      const [{ openContext }, { findWorkspace }, { installInto }] = await Promise.all([
        import("../context.js"),
        import("../skill-files.js"),
        import("../../api/skill-files.js"),
      ]);
      const request = { source, only: skill, replace: force === true };
      const { loaded } = await openContext();
      const place = { workspace: await findWorkspace(), allow: loaded.config.tools.web.fetch.allow };
      const installed = await installInto(place, request, new AbortController().signal);
      if (json) return printJson({ skills: installed });
      for (const { name, path, warnings } of installed) {
        print(`Installed ${name} in ${path}`);
        for (const warning of warnings) printNote(`${name}: ${warning}`);
      }
      printNote("Read a skill of somebody else before you use it: the assistant does what it says.");
    });
}

function addNew(skills: Command): void {
  skills
    .command("new")
    .description("Write a skill to start from")
    .argument("<name>")
    .option("-d, --description <text>", "when it is to be used", "")
    .action(async (name: string, { description }: { readonly description: string }) => {
      const [{ findWorkspace }, { createIn }] = await Promise.all([
        import("../skill-files.js"),
        import("../../api/skill-files.js"),
      ]);
      const { path } = await createIn(await findWorkspace(), name, description);
      print(`Wrote ${path}/SKILL.md`);
    });
}
