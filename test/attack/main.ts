import { parseArgs } from "node:util";
import { runScenario } from "./run-scenarios.js";
import { scenarios } from "./scenarios/all.js";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    ignore: { type: "string", default: "^$" },
    verbose: { type: "boolean", default: false },
  },
});
for (const scenario of scenarios.filter(({ name }) => values.only === undefined || name.includes(values.only))) {
  const began = Date.now();
  const { violations: all, program, calls } = await runScenario(scenario);
  const violations = all.filter(({ text }) => !new RegExp(values.ignore).test(text));
  console.log(
    `${violations.length === 0 ? "held  " : "BROKEN"} ${scenario.group}: ${scenario.name} (${calls} calls, ${Date.now() - began} ms)`,
  );
  for (const { what, text } of violations) console.log(`         ${what}: ${text.slice(0, 300)}`);
  if (values.verbose) console.log(program.map((line) => `           ${line}`).join("\n"));
}
