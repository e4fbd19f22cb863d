import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { createToolRegistry } from "../../../src/tools/registry.js";
import { defineTool, type ToolAccess } from "../../../src/tools/tool.js";
import { readSources } from "../../support/rules/source-code.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

const sources = readSources("src");

function filesWith(code: RegExp): readonly string[] {
  return sources.filter((file) => code.test(file.code)).map(({ path }) => path);
}

/**
 * Whatever route a message comes by, its tools run in one place, behind one decision. A new route that runs a tool or
 * asks policy by itself has to be written down here.
 */
test("tools run in the registry only, the registry is called by the turn only, and policy is asked in one place", () => {
  assert.deepEqual(filesWith(/\btool\.run\(/), ["tools/registry.ts"]);
  assert.deepEqual(filesWith(/\btools\.run\(/), ["agent/calls/tool-calls.ts"]);
  assert.deepEqual(filesWith(/\bcreateToolRegistry\(/), [
    "tools/registry.ts",
    // How much of a request the tools take: it runs none.
    "wiring/operations/context-use.ts",
    "wiring/turns/agent-ports.ts",
  ]);
  assert.deepEqual(filesWith(/\bmayUseTool\(/), [
    "policy/policy.ts",
    // Passes on to the policy that is in force.
    "wiring/live/through.ts",
    // "What would happen?": it asks and does nothing.
    "wiring/operations/operations.ts",
    "wiring/turns/agent-ports.ts",
  ]);
  assert.deepEqual(filesWith(/\bcreatePermit\(/), ["agent/calls/approvals.ts", "agent/calls/tool-calls.ts"]);
  // The page's are the browser's: what may become a script there.
  const policies = filesWith(/\bcreatePolicy\(/).filter((path) => !path.startsWith("web/"));
  assert.deepEqual(policies, ["policy/policy.ts", "wiring/assistant/people.ts"]);
});

test("the registry asks before it runs: a tool that is not permitted is never begun, whatever it declares", async () => {
  using place = createToolPlace();
  for (const risk of ["none", "access", "call"] as const)
    for (const effect of ["read", "idempotent", "write"] as const) {
      let ran = 0;
      const tool = defineTool({
        name: "probe",
        description: "",
        input: z.object({ n: z.number() }),
        effect,
        risk,
        origin: "builtin",
        run: async () => {
          ran += 1;
          return { text: "ran", isError: false, summary: "" };
        },
      });
      const asked: ToolAccess[] = [];
      const context = place.context(tool);
      const permit = (answer: string | undefined) => async (access: ToolAccess) => {
        asked.push(access);
        return answer;
      };
      const registry = createToolRegistry([tool]);
      const denied = await registry.run("probe", { n: 1 }, { ...context, permit: permit("Not today.") });
      assert.deepEqual([denied.text, denied.isError, ran], ["Not today.", true, 0]);
      await registry.run("probe", { n: 2 }, { ...context, permit: permit(undefined) });
      assert.equal(ran, 1);
      assert.deepEqual(asked, [
        { kind: "call", input: { n: 1 } },
        { kind: "call", input: { n: 2 } },
      ]);
    }
});
