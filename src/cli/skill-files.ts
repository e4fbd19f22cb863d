import { z } from "zod";
import { validateAt } from "../api/skill-files.js";
import { openContext } from "./context.js";
import { CommandError } from "./exit.js";
import { connectRunning } from "./gateway/connect.js";
import { withClient } from "./gateway/with-client.js";
import { print } from "./text/output.js";

const status = z.object({ workspace: z.string() });
const list = z.object({ skills: z.array(z.object({ name: z.string(), path: z.string() })) });

/** The workspace of the gateway that runs, else that of the config. */
export async function findWorkspace(): Promise<string> {
  const context = await openContext();
  const client = await connectRunning(context);
  return client === undefined
    ? context.loaded.config.agents.defaults.workspace
    : status.parse(await client.get("/api/status")).workspace;
}

/** Says for each what is wrong. @throws {CommandError} when one is not there or does not work */
export async function validateSkills(version: string, names: readonly string[]): Promise<void> {
  const known = list.parse(await withClient(version, "look", (client) => client.get("/api/skills"))).skills;
  const wanted = names.length === 0 ? known.map(({ name }) => name) : names;
  let broken = 0;
  for (const name of wanted) {
    const path = known.find((skill) => skill.name.toLowerCase() === name.toLowerCase())?.path ?? name;
    const verdict = await validateAt(path);
    if (verdict === undefined) throw new CommandError(`There is no skill ${name}, and no file or folder with one.`);
    const { errors, warnings } = verdict;
    if (errors.length > 0) broken += 1;
    print(`${name}: ${errors.length > 0 ? "does not work" : warnings.length > 0 ? "works" : "fine"}`);
    for (const error of errors) print(`  error: ${error}`);
    for (const warning of warnings) print(`  warning: ${warning}`);
  }
  if (broken > 0) throw new CommandError(broken === 1 ? "One skill does not work." : `${broken} skills do not work.`);
}
