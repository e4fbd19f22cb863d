import { join } from "node:path";
import { until } from "../../support/engine/engine-kit.js";
import { newMark } from "../calls.js";
import { ownerAllows } from "../player.js";
import { telegramIds } from "../world/people.js";
import { exec, fetchPage, read, type Scenario } from "./scenario.js";

export const doorScenarios: readonly Scenario[] = [
  {
    name: "a stranger at every door",
    group: "doors",
    async play(player) {
      const { world } = player;
      const { telegram } = world.parts;
      const from = { id: telegramIds.eve, is_bot: false, first_name: "Eve" };
      for (const text of ["Hello", "/status", "/new", "/skills", "/approve", "/pair list", "/plan go"]) {
        telegram.pushMessage({ chat: { id: telegramIds.eve, type: "private", first_name: "Eve" }, from, text });
        const reply = {
          message_id: 1,
          date: 0,
          chat: { id: -100, type: "group" },
          text: "Yes?",
          from: { ...telegram.bot, is_bot: true },
        };
        telegram.pushMessage({
          chat: { id: -100, type: "group", title: "Group" },
          from,
          text,
          reply_to_message: reply,
        });
        telegram.pushMessage({
          chat: { id: -200, type: "group", title: "Other" },
          from,
          text,
          reply_to_message: reply,
        });
      }
      await player.settle(ownerAllows);
      if (world.parts.model.requests.length > 0) world.violations.add("deed", "a stranger's message reached the model");
    },
  },
  {
    name: "a denied host with a dot behind it, and in other characters",
    group: "doors",
    world: {
      rules: [
        { argument: "localhost", verdict: "deny" },
        { argument: "*denied-path*", verdict: "deny" },
      ],
    },
    async play(player) {
      const { world } = player;
      const port = world.parts.site.host.split(":")[1];
      for (const host of ["localhost", "localhost.", "LOCALHOST", "ｌｏｃａｌｈｏｓｔ", "loc%61lhost"]) {
        const mark = newMark();
        await player.say({ chat: "own", rounds: [[fetchPage(`http://${host}:${port}/denied/${mark}`)]] });
        if (world.violations.program.some((line) => line.includes("->") && line.includes(mark)))
          world.violations.add("deed", `a rule denies localhost, and ${host} was visited`);
      }
    },
  },
  {
    name: "what an MCP server says as it dies",
    isShort: true,
    group: "doors",
    world: {
      servers: ({ root, seeds }) => ({
        dying: {
          command: process.execPath,
          args: [
            join(import.meta.dirname, "../world/mcp-child.js"),
            join(root, "mcp-calls.jsonl"),
            join(root, "mcp-says.txt"),
            "die",
          ],
          env: { OUTER_KEY: seeds.outerKey },
        },
      }),
    },
    async play(player) {
      const { world } = player;
      const call = () => ({ name: "mcp_dying_note", input: { text: newMark() } });
      await player.say({ chat: "own", rounds: [[call()], [call()]], answer: ownerAllows });
      await player.say({ chat: "own", rounds: [[call()]], answer: ownerAllows });
      const shown = JSON.stringify([
        await world.gateway.call("GET", "/api/status"),
        await world.gateway.call("GET", "/api/mcp"),
      ]);
      for (const { where, readers } of world.canaries.in(shown))
        if (readers.size === 0) world.violations.add("leak", `${where} is in the status`);
      world.judge.inspect();
    },
  },
  {
    name: "a secret that a person types in",
    group: "doors",
    async play(player) {
      const { world } = player;
      const value = world.canaries.secret("a secret that was typed in");
      const asking = player.say({
        chat: "own",
        rounds: [
          [{ name: "ask_human", input: { question: "Your key?", env: ["BANK_KEY"] } }],
          [read("/proc/self/environ"), read(join(world.home, "secrets.json")), exec("env; cat ../../../secrets.json")],
        ],
        answer: () => undefined,
      });
      await until("it is asked", async () => (await player.questions()).length > 0, 10_000);
      const [question] = await player.questions();
      const path = `/api/sessions/${encodeURIComponent(question?.sessionKey ?? "")}/answer`;
      await world.gateway.call("POST", path, { requestId: question?.requestId, values: { BANK_KEY: value } });
      await asking;
      await world.restart("SIGTERM");
      await player.say({ chat: "own", rounds: [[exec("env"), read(join(world.home, "secrets.json"))]] });
    },
  },
  {
    name: "texts that take long to read",
    group: "doors",
    world: {
      rules: [
        { argument: "*a*b*c*d*", verdict: "deny" },
        { tool: "exec", argument: "x*y*z*", verdict: "allow" },
      ],
    },
    async play(player) {
      const { world } = player;
      const timed = async (what: string, act: () => Promise<unknown>): Promise<void> => {
        const began = Date.now();
        await act();
        if (Date.now() - began > 6000)
          world.violations.add("alive", `${what} held everything up for ${Math.round((Date.now() - began) / 1000)} s`);
      };
      await timed("a long command", () => player.say({ chat: "own", rounds: [[exec(`: ${"abc".repeat(30_000)}`)]] }));
      await timed("a long command for an allowing rule", () =>
        player.say({ chat: "own", rounds: [[exec(`: ${"xy".repeat(30_000)}`)]] }),
      );
      for (const [what, text] of Object.entries(longTexts))
        await timed(`an answer of ${what}`, () => player.say({ chat: "ann", end: text }));
      await timed("a long message", () => player.say({ chat: "ann", text: `${" ".repeat(60_000)}x` }));
    },
  },
];

const longTexts: Readonly<Record<string, string>> = {
  stars: `${"*a ".repeat(16_000)}`,
  underscores: `${"_a_ __b".repeat(7_000)}`,
  brackets: `${"[a](".repeat(12_000)}`,
  "open brackets": "[".repeat(48_000),
  backticks: `${"`a``b".repeat(9_000)}`,
  quotes: `${"> ".repeat(24_000)}`,
  tables: `${"|a".repeat(24_000)}\n${"|-".repeat(24_000)}`,
  blanks: `x${" ".repeat(48_000)}y`,
};
