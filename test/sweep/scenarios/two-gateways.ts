import { rmSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../support/engine/engine-kit.js";
import { type Contained, startContained } from "../../support/worlds/namespaces.js";
import { withoutSandbox } from "../../support/worlds/needs.js";
import { Crowd } from "./crowd.js";
import { slowAnswer } from "./crowd-model.js";
import { costOf, failIfBroken, moment, pick, type Scenario, upTo } from "./scenario.js";

const gateway = ["gateway", "-p", "0"];
const limitMs = 60_000;

/** Several pid namespaces, as containers have them, want one home. */
export const twoGateways: Scenario = {
  name: "two gateways",
  what: "a second gateway and commands that write, each in a container of its own, on a home at work; kills, and two starts at once",
  promise: "the second one is refused by name and changes nothing, and of two that start at once one runs",
  rounds: { test: 1, sweep: 8 },
  missing: withoutSandbox,
  async run({ rounds, random, nursery }) {
    await using crowd = await Crowd.open(nursery, { chats: 6, answer: slowAnswer(random, 150) });
    const { home } = crowd;
    const enter = (host: string): Contained => startContained(gateway, home, { host, hasNet: true });
    const broken: string[] = [];
    let first = enter("box-0");
    try {
      if ((await endOf(first)) !== "runs") throw new Error(`the first was not let in: ${first.stderr()}`);
      for (let round = 1; round <= rounds; round += 1) {
        for (let messages = upTo(10, random); messages > 0; messages -= 1)
          crowd.say(pick(crowd.chats, random), "plain");
        const command = pick(writing(home), random);
        const intruders = [
          { name: "a second gateway", run: enter(`late-${round}`) },
          { name: command.join(" "), run: startContained(command, home, { host: `without-net-${round}` }) },
        ];
        for (const { name, run } of intruders) {
          await using one = run;
          const end = await endOf(one);
          if (end === 0 || end === "runs" || !one.stderr().includes("is in use by"))
            broken.push(`round ${round}: ${name} was not refused: ${end} ${one.stderr()}`);
        }
        if (first.child.exitCode !== null) broken.push(`round ${round}: the first ended: ${first.stderr()}`);
        await moment(random() * 300);
        await first.kill();
        first = await oneOf([enter(`one-${round}`), enter(`two-${round}`)], broken);
      }
    } finally {
      await first.kill();
    }
    rmSync(join(home, "..", "never.tar.gz"), { force: true });
    await crowd.start();
    await crowd.quiet();
    const evidence = await crowd.evidence();
    broken.push(...(await crowd.findBroken()));
    await crowd.stop(2000);
    failIfBroken([...broken, ...(await crowd.verify())], crowd.log());
    return costOf(evidence, { kills: rounds + 1, stops: 1, note: `${2 * rounds} refused` });
  },
};

/** Without a network they cannot ask the gateway to do it. */
function writing(home: string): readonly (readonly string[])[] {
  return [
    gateway,
    ["journal", "repair"],
    ["backup", join(home, "..", "never.tar.gz")],
    ["sessions", "delete", "telegram:1", "--yes"],
  ];
}

/** Two that started at once: the one that runs. */
async function oneOf(runs: readonly [Contained, Contained], broken: string[]): Promise<Contained> {
  const ends = await Promise.all(runs.map(endOf));
  const [winner, loser] = ends[0] === "runs" ? runs : [runs[1], runs[0]];
  if (ends.filter((end) => end === "runs").length !== 1)
    broken.push(`of two that started at once: ${ends.join(", ")} ${runs.map((run) => run.stderr()).join("\n")}`);
  await loser.kill();
  return winner;
}

/** How a command ended; "runs" for a gateway that was let in. */
async function endOf(run: Pick<Contained, "exited" | "stdout">): Promise<number | string> {
  const isIn = until("it ends or runs", () => run.stdout().includes("READY:"), limitMs).then(() => "runs");
  isIn.catch(() => undefined);
  return await Promise.race([run.exited, isIn]);
}
