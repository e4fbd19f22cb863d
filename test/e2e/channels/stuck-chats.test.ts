import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { group, startWorld } from "../../support/worlds/channels/chat-world.js";
import { runMaxclaw } from "../../support/worlds/daemon.js";

const asks = { toolCalls: [{ id: "ask", name: "ask_human", input: { question: "Which one?" } }] };
const hangs = { text: ["half an answer"], hang: "middle" } as const;

for (const [what, answer, reason] of [
  ["an open question", asks, "has a question open that nobody has answered"],
  ["a turn that runs", hangs, "has a turn running since"],
] as const)
  test(`status, its command and /ready tell about a chat in which many wait behind ${what}`, async () => {
    await using w = await startWorld((request) => (request.index === 0 ? answer : { text: "fine" }));
    const { api, address } = w.gateway.gateway;
    const ready = async (): Promise<unknown> => await (await fetch(`http://${address}/ready`)).json();
    w.sayInGroup(42, "Ann", "begin");
    if (answer === asks) await w.shown("Which one?");
    else await w.gateway.waitForEvent((event) => event.type === "text_delta", group);
    assert.deepEqual([(await api.status()).stuckChats, await ready()], [[], { ready: true }]);
    for (let n = 0; n < 24; n += 1) w.sayInGroup(43, "Bob", `more ${n}`);
    await until("they wait", async () => (await api.status()).inboundWaiting >= 25);
    const [stuck, ...others] = (await api.status()).stuckChats;
    assert.deepEqual([stuck?.sessionKey, stuck?.waiting, others], [group, 25, []]);
    assert.ok(stuck?.reason.startsWith(reason), stuck?.reason);
    assert.deepEqual(await ready(), { ready: true, stuckChats: 1 });
    const { stdout } = await runMaxclaw(["status"], w.gateway.home);
    assert.match(stdout, new RegExp(`^Stuck: {5}${group} ${reason}.*; 25 wait, since `, "m"));
  });
