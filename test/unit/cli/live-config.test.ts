import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveConfig } from "../../../src/config/live/live-config.js";
import { configOf, type LoadedConfig } from "../../../src/config/load.js";
import { keepLog } from "../../support/log.js";

const around = { home: "/nowhere", env: { HOME: "/nowhere" } };
const path = "/nowhere/config.json";
const loaded = async (raw: object): Promise<LoadedConfig> => ({ ...(await configOf({ ...raw }, around)), path });

async function open(first: object) {
  let next: () => Promise<LoadedConfig> = () => loaded(first);
  const log = keepLog();
  const live = new LiveConfig({ opened: await loaded(first), load: () => next(), log });
  return {
    live,
    log,
    look: async (raw: object) => {
      next = () => loaded(raw);
      return await live.look();
    },
    fail: async (error: Error) => {
      next = () => Promise.reject(error);
      return await live.look();
    },
  };
}

test("an owner that fails leaves its settings as they were, the others take theirs over, and both are told", async () => {
  const place = await open({});
  const seen: unknown[] = [];
  place.live.own({
    sections: ["skills"],
    apply() {
      throw new Error("the shelf is locked");
    },
  });
  place.live.own({ sections: ["budgets", "skills"], apply: ({ budgets }) => void seen.push(budgets.day.turns) });
  const state = await place.look({ skills: { default: "all" }, budgets: { day: { turns: 5 } } });
  assert.deepEqual(seen, [5]);
  assert.deepEqual(state.restart, ["skills.default"]);
  assert.equal(state.problem, "skills.default cannot be applied: the shelf is locked");
  assert.deepEqual([place.live.running.skills.default, place.live.running.budgets.day.turns], ["auto", 5]);
});

test("an owner sees only what is taken over; the rest is as it was", async () => {
  const place = await open({ gateway: { port: 1 } });
  const ports: number[] = [];
  place.live.own({ sections: ["skills"], apply: ({ gateway }) => void ports.push(gateway.port) });
  assert.deepEqual((await place.look({ gateway: { port: 2 }, skills: { default: "all" } })).restart, ["gateway.port"]);
  assert.deepEqual(ports, [1]);
  assert.deepEqual((await place.look({ gateway: { port: 1 }, skills: { default: "all" } })).restart, []);
});

test("names with dots are one key, and a mistake that was there before hinders nothing", async () => {
  const place = await open({ typo: 1, prices: { "gpt-4.1": { input: 1, output: 1 } } });
  place.live.own({ sections: ["prices"], apply() {} });
  const state = await place.look({ typo: 1, prices: { "gpt-4.1": { input: 2, output: 1 } } });
  assert.deepEqual([state.problem, state.restart], [undefined, []]);
  assert.deepEqual(place.live.running.prices["gpt-4.1"]?.input, 2);
  assert.match(
    (await place.look({ typos: 1 })).problem ?? "",
    /unknown key "typos"\. The gateway goes on as before\.$/,
  );
  assert.equal(place.live.running.prices["gpt-4.1"]?.input, 2);
  assert.match((await place.fail(new Error("no such disk"))).problem ?? "", /is not used: no such disk/);
  assert.equal((await place.look({ typo: 1, prices: {} })).problem, undefined);
  assert.deepEqual(place.live.running.prices, {});
});
