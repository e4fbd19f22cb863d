import type { Command } from "commander";
import { CommandError, exitCodes } from "../exit.js";
import type { FirstChoice } from "../gateway/first-config.js";
import { print } from "../text/output.js";

interface OnboardFlags extends FirstChoice {
  readonly yes?: true;
  readonly force?: true;
}

export function addOnboardCommand(program: Command): void {
  program
    .command("onboard")
    .description("Write a first config and workspace")
    .option("-y, --yes", "ask nothing")
    .option("--force", "replace what is there; a copy of it is kept")
    .option("--provider <name>", "who runs the model, e.g. openrouter, anthropic, openai, ollama")
    .option(
      "--api-key <key>",
      "the provider's key; without it the environment is asked at each start, e.g. OPENAI_API_KEY",
    )
    .option("--api-base <url>", "the provider's address, if it is not its usual one")
    .option("--model <id>", "the model, as the provider names it")
    .action(async (flags: OnboardFlags) => {
      if (flags.provider === undefined && (flags.apiKey ?? flags.apiBase) !== undefined)
        throw new CommandError("Whose key or address is that? Name the provider with --provider.", exitCodes.usage);
      if (flags.provider !== undefined && !/^[a-z0-9][a-z0-9_-]*$/i.test(flags.provider))
        throw new CommandError("A provider's name has letters, digits, - and _ only.", exitCodes.usage);
      await onboard(flags, flags.yes !== true && process.stdin.isTTY && process.stderr.isTTY);
    });
}

async function onboard(flags: OnboardFlags, mayAsk: boolean): Promise<void> {
  const [{ openContext }, { changeTold }, { writeTemplates }, { confirm }, firstConfig] = await Promise.all([
    import("../context.js"),
    import("../gateway/tell-change.js"),
    import("../../templates/write.js"),
    import("../chat/question.js"),
    import("../gateway/first-config.js"),
  ]);
  const { existingConfig, needsAddress, writeFirstConfig } = firstConfig;
  const { home } = await openContext();
  const existing = existingConfig(home);
  const isReplacing =
    flags.force === true ||
    (existing !== undefined && mayAsk && (await confirm(`${existing} exists. Replace it? A copy is kept.`)));
  if (existing !== undefined && !isReplacing) {
    print(`Kept ${existing}: --force replaces it and keeps a copy`);
  } else {
    const choice = mayAsk && flags.provider === undefined ? { ...flags, ...(await askForProvider()) } : flags;
    if (choice.provider !== undefined && needsAddress(choice.provider) && choice.apiBase === undefined)
      throw new CommandError(
        `maxclaw does not know the address of the provider ${choice.provider}. Give it with --api-base.`,
        exitCodes.usage,
      );
    for (const path of await writeFirstConfig(home, choice)) print(`Wrote ${path}`);
    if (choice.provider !== undefined && choice.model === undefined)
      print(`No model is chosen yet: set agents.defaults.model, e.g. to "${choice.provider}/<model>"`);
  }
  // Read again, for the workspace of a config that was kept.
  const context = await openContext();
  const { loaded } = context;
  const { workspace } = loaded.config.agents.defaults;
  for (const name of await writeTemplates(workspace, { overwrite: flags.force === true }))
    print(`Wrote ${workspace}/${name}`);
  for (const problem of loaded.problems) print(`Problem: ${problem}`);
  if (existing !== undefined && !isReplacing && (flags.provider ?? flags.model) !== undefined)
    throw new CommandError("The provider and model were not written, because there is a config already.");
  const told = await changeTold(context, loaded.path ?? "").catch(() => undefined);
  if (told !== undefined) print(told);
  print(`Next: ${told === undefined ? "maxclaw gateway, or " : ""}maxclaw agent to talk right here`);
}

async function askForProvider(): Promise<FirstChoice> {
  const [{ askPerson }, { isLocal, keyVariable, needsAddress }] = await Promise.all([
    import("../chat/question.js"),
    import("../gateway/first-config.js"),
  ]);
  const provider = await askPerson(
    "Who runs the model? (openrouter, anthropic, openai, ollama …; empty for none yet) ",
  );
  if (provider === "") return {};
  const isUnknown = needsAddress(provider);
  const apiBase = isUnknown ? await askPerson("Its address? (e.g. http://127.0.0.1:8000/v1) ") : "";
  const withoutKey = isUnknown ? "empty for none" : `empty takes it from ${keyVariable(provider)} at each start`;
  const apiKey = isLocal(provider)
    ? ""
    : await askPerson(`Its API key? (not shown; ${withoutKey}) `, { isHidden: true });
  const model = await askPerson("Which model? (as the provider names it) ");
  return {
    provider,
    ...(apiBase === "" ? {} : { apiBase }),
    ...(apiKey === "" ? {} : { apiKey }),
    ...(model === "" ? {} : { model }),
  };
}
