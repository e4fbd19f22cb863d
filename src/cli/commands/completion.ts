import { Argument, type Command } from "commander";
import { print } from "../text/output.js";

export function addCompletionCommand(program: Command): void {
  const completion = program.command("completion").description("Let the shell complete commands, by Tab");
  for (const [shell, how] of [
    ["bash", "source <(maxclaw completion bash), in ~/.bashrc"],
    ["zsh", "source <(maxclaw completion zsh), in ~/.zshrc behind compinit"],
    ["fish", "maxclaw completion fish > ~/.config/fish/completions/maxclaw.fish"],
  ] as const)
    completion
      .command(shell)
      .description(`Print the script for ${shell}: ${how}`)
      .action(async () => {
        const [{ scriptFor }, { commandNodes }] = await Promise.all([
          import("../completion/scripts.js"),
          import("../completion/tree.js"),
        ]);
        process.stdout.write(scriptFor(shell, commandNodes(program)));
      });
  completion
    .command("values", { hidden: true })
    .description("List what may be typed at a place; the scripts ask for it")
    .addArgument(new Argument("<name>"))
    .action(async (name: string) => {
      const [{ listValues }, { valueNames }] = await Promise.all([
        import("../completion/values.js"),
        import("../completion/tree.js"),
      ]);
      const known = valueNames.find((one) => one === name);
      // A space or a line end would be two words to a shell.
      for (const value of known === undefined ? [] : await listValues(known)) if (/^\S+$/.test(value)) print(value);
    });
}
