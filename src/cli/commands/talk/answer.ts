import type { Command } from "commander";
import { CommandError } from "../../exit.js";

export function addAnswerCommand(program: Command): void {
  program
    .command("answer")
    .description("Answer a question of the assistant, or list those that wait")
    .argument("[id]", "as the list shows it")
    .argument("[answer]", "a number, a label or your own words; without it you are asked here")
    .addHelpText(
      "after",
      "\nSecrets are typed unseen, or come by a pipe on stdin; never write them behind the command.",
    )
    .action(async (id: string | undefined, answer: string | undefined) => {
      const [{ openContext }, { connectRunning }, { listQuestions, answerOne }] = await Promise.all([
        import("../../context.js"),
        import("../../gateway/connect.js"),
        import("../../chat/waiting-questions.js"),
      ]);
      const client = await connectRunning(await openContext());
      if (client === undefined) throw new CommandError("No gateway is running, so nothing waits for an answer.");
      if (id === undefined) await listQuestions(client);
      else await answerOne(client, id, answer);
    });
}
