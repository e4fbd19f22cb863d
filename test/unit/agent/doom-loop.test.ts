import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { DoomLoop } from "../../../src/agent/calls/doom-loop.js";
import { draft } from "../../../src/events/event.js";

const signal = new AbortController().signal;
const call = { id: "call_1", name: "look", input: { at: "the oven" } };

/** Calls the same tool with the same result until it is refused. Gives the refusal and how long it took. */
async function untilRefused(
  result: { readonly text: string; readonly isPoll?: boolean; readonly isWaiting?: boolean },
  traits: { readonly isRead: boolean; readonly isServers: boolean; readonly isUnattended: boolean },
): Promise<{ readonly calls: number; readonly refusal: string; readonly minutes: number; readonly asked: number }> {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  try {
    let asked = 0;
    const { isUnattended, ...of } = traits;
    const doom = new DoomLoop(
      [],
      { draft: (type, payload) => draft(type, payload, { source: "agent" }) },
      {
        isUnattended,
        ask: async () => {
          asked += 1;
          return { outcome: isUnattended ? "nobody" : "answered", text: "", optionId: "deny", responderId: "" };
        },
      },
    );
    for (let calls = 1; calls < 100; calls++) {
      let checked: Awaited<ReturnType<DoomLoop["check"]>> | undefined;
      const checking = doom.check({ ...call, ...of }, signal).then((given) => {
        checked = given;
      });
      while (checked === undefined) {
        for (let n = 0; n < 5; n++) await Promise.resolve();
        mock.timers.tick(500);
      }
      await checking;
      if (typeof checked === "string") return { calls, refusal: checked, minutes: Date.now() / 60_000, asked };
      checked(result);
    }
    return { calls: 100, refusal: "", minutes: Date.now() / 60_000, asked };
  } finally {
    mock.timers.reset();
  }
}

test("a model that asks a server again and again for the same is slowed down, and stopped by name after 40 calls", async () => {
  for (const isUnattended of [true, false]) {
    const { calls, refusal, minutes, asked } = await untilRefused(
      { text: "not yet" },
      { isRead: true, isServers: true, isUnattended },
    );
    assert.equal(calls, 40);
    assert.equal(asked, 1, "a person where there is one decides whether it goes on");
    assert.match(refusal, /^look was called 40 times with the same input and was stopped for that/);
    assert.ok(minutes > 10 && minutes < 30, `${minutes}`);
  }
});

test("what waits for something by itself counts as waiting, and what may change something does not", async () => {
  const write = { isRead: false, isServers: false, isUnattended: true };
  assert.equal((await untilRefused({ text: "the same page", isPoll: true }, write)).calls, 40);
  assert.equal((await untilRefused({ text: "done" }, write)).calls, 3);
  assert.equal((await untilRefused({ text: "done" }, { ...write, isServers: true })).calls, 3);
});

test("a result that says that it waits is not a loop, however often it comes", async () => {
  const { calls, asked } = await untilRefused(
    { text: "still at work", isWaiting: true },
    { isRead: false, isServers: false, isUnattended: false },
  );
  assert.deepEqual([calls, asked], [100, 0]);
});

test("reading a file again and again asks a person at the third time, and is left to a job", async () => {
  const read = { isRead: true, isServers: false };
  assert.equal((await untilRefused({ text: "x" }, { ...read, isUnattended: false })).calls, 3);
  assert.equal((await untilRefused({ text: "x" }, { ...read, isUnattended: true })).calls, 40);
});
