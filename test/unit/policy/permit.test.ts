import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApprovalScope, createPermit } from "../../../src/agent/calls/approvals.js";

test("a yes within a call counts for the very thing that it was given for, and is not asked for again", async () => {
  const asked: string[] = [];
  // Of the scope only what a question needs.
  const scope = {
    policy: {
      decide: ({ access }: { readonly access: unknown }) => ({
        verdict: "ask",
        what: JSON.stringify(access),
        because: "it is a test",
        canGrant: false,
        approver: "asker",
      }),
      filesOf: async () => undefined,
    },
    message: { channel: "webui", senderId: "owner" },
    signal: new AbortController().signal,
    human: {
      ask: async ({ question }: { readonly question: string }) => {
        asked.push(question);
        return { outcome: "answered", text: "Allow once", optionId: "allow_once", responderId: "owner" };
      },
    },
    tool: { name: "write_file" },
    call: { id: "call_1", name: "write_file", input: {} },
    folder: "/ws/.sessions/a",
    outside: () => [],
    isPlanning: false,
  } as unknown as ApprovalScope;
  const { permit } = createPermit(scope);
  for (const path of ["/ws/a", "/ws/b", "/ws/a"]) assert.equal(await permit({ kind: "write", path }), undefined);
  assert.equal(asked.length, 2);
});
