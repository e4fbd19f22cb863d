import { parseArgs } from "node:util";
import { runRandomly, runScenario } from "./run-scenarios.js";
import { scenarios } from "./scenarios/all.js";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    rounds: { type: "string", default: "12" },
    steps: { type: "string", default: "25" },
    mode: { type: "string" },
    only: { type: "string" },
    ignore: { type: "string", default: "^$" },
    verbose: { type: "boolean", default: false },
  },
});
for (const scenario of scenarios.filter(({ name }) => values.only === undefined || name.includes(values.only))) {
  if (values.seed !== undefined) break;
  const began = Date.now();
  const { violations: all, program, calls } = await runScenario(scenario, 3, new RegExp(values.ignore));
  const violations = all.filter(({ text }) => !new RegExp(values.ignore).test(text));
  console.log(
    `${violations.length === 0 ? "held  " : "BROKEN"} ${scenario.group}: ${scenario.name} (${calls} calls, ${Date.now() - began} ms)`,
  );
  for (const { what, text } of violations) console.log(`         ${what}: ${text.slice(0, 300)}`);
  if (values.verbose) console.log(program.map((line) => `           ${line}`).join("\n"));
}
if (values.seed !== undefined)
  for (let n = 0; n < Number(values.rounds); n++) {
    const began = Date.now();
    const mode = (values.mode ?? ["ask", "auto", "safe"][n % 3]) as "ask";
    const { violations, program, calls } = await runRandomly(Number(values.seed) + n, Number(values.steps), {
      mode,
      sandbox: "auto",
      ignored: new RegExp(values.ignore),
    });
    console.log(
      `${violations.length === 0 ? "held  " : "BROKEN"} seed ${Number(values.seed) + n} (${calls} calls, ${Date.now() - began} ms)`,
    );
    for (const { what, text } of violations) console.log(`         ${what}: ${text.slice(0, 300)}`);
    if (values.verbose) console.log(program.map((line) => `           ${line}`).join("\n"));
  }
