import { z } from "zod";
import { createGate } from "../../util/async/gate.js";
import { settledWithin } from "../../util/async/within.js";
import { defineTool, done, failed, type Tool } from "../tool.js";
import { findTypedSights, groundOf } from "./bare-sights.js";
import type { Run } from "./run.js";
import type { Terminals } from "./terminals.js";

const input = z.object({
  action: z.enum(["list", "read", "write", "kill"]),
  id: z.string().optional(),
  text: z.string().optional(),
  wait: z.int().max(60).optional(),
});

export function processTool(terminals: Terminals): Tool {
  return defineTool({
    name: "process",
    description: "exec's background commands. read waits up to `wait` s for news.",
    input,
    effect: "write",
    risk: "access",
    asksNothing: (given) => input.safeParse(given).data?.action !== "write",
    origin: "builtin",

    async run({ action, id = "", text = "", wait = 0 }, context) {
      const all = terminals.find(context.sessionKey)?.background() ?? [];
      if (action === "list")
        return {
          ...done(all.map(([one, run]) => `${one}: ${lineOf(run)}`).join("\n") || "Nothing runs."),
          isWaiting: all.some(([, { end }]) => end === undefined),
        };
      const run = all.find(([one]) => one === id)?.[1];
      if (run === undefined)
        return failed(
          `There is no background command "${id}". There are: ${all.map(([one]) => one).join(", ") || "none"}.`,
        );
      switch (action) {
        case "read": {
          if (!run.output.hasNews() && run.end === undefined) await news(run, wait * 1000, context.signal);
          await run.look();
          const fresh = run.output.news().trimEnd();
          return {
            ...done([fresh, `[${lineOf(run)}]`].filter(Boolean).join("\n")),
            isWaiting: fresh === "" && run.end === undefined,
            ...(run.outside === undefined ? {} : { outside: run.outside }),
          };
        }
        case "write": {
          // What is typed into a shell is a command as well.
          const command = `${text} (typed into: ${run.command})`;
          const { isSandboxed, hasNetwork } = run;
          const access = { kind: "command", command, isSandboxed, hasNetwork: isSandboxed && hasNetwork } as const;
          const refusal = await context.permit(access);
          if (refusal !== undefined) return failed(refusal);
          // Others have a say in what is typed, and so in all that comes from it.
          const isSeen = isSandboxed || context.allowedByPerson(access);
          const sights = isSeen ? [] : await findTypedSights(text, await groundOf(context, terminals.zones));
          await run.heard([...sights, ...context.outside()]);
          return run.write(text) ? done(`Written to ${id}.`) : failed(`${id} has ended.`);
        }
        case "kill":
          run.kill();
          await run.ended;
          return done(`${id} ${stateOf(run)}.`);
        default:
          return action satisfies never;
      }
    },
  });
}

async function news(run: Run, ms: number, signal: AbortSignal): Promise<void> {
  const heard = createGate();
  const forget = run.onOutput(heard.open);
  await settledWithin(heard.opened, { ms, signal });
  forget();
}

function stateOf({ end, startedAt, fault }: Run): string {
  if (end === undefined) return `runs for ${Math.round((Date.now() - startedAt) / 1000)} s`;
  if (fault !== undefined) return `was stopped: ${fault}`;
  return end.code === undefined ? "was killed" : `ended with exit ${end.code}`;
}

function lineOf(run: Run): string {
  const [line = ""] = run.command.split("\n");
  return `${stateOf(run)}: ${line.slice(0, 100)}`;
}
