import type { Mode } from "./judge/oracle.js";
import { type Outcome, randomGroup } from "./judge/report.js";
import { GatewayLost, Player } from "./player.js";
import { RandomProgram } from "./random-program.js";
import type { Scenario } from "./scenarios/scenario.js";
import { AttackWorld, type WorldOptions } from "./world/world.js";

const usual: WorldOptions = { mode: "ask", sandbox: "auto" };

/** One thing to be played, in a world of its own. */
export interface Job {
  readonly group: string;
  readonly name: string;
  readonly world: WorldOptions;
  play(player: Player): Promise<void>;
}

/** `scale` says how long races are run: 1 in the short form. */
export function jobOf(scenario: Scenario, scale: number): Job {
  const { group, name, world } = scenario;
  return { group, name, world: { ...usual, ...world }, play: (player) => scenario.play(player, scale) };
}

/** Programs of neighbouring seeds, in each mode; some have no sandbox. */
export function randomJobs(options: {
  readonly seed: number;
  readonly rounds: number;
  readonly steps: number;
  readonly mode?: Mode | undefined;
  readonly sandbox?: "auto" | "off" | undefined;
}): readonly Job[] {
  return Array.from({ length: options.rounds }, (_, n) => {
    const mode = options.mode ?? modes[n % modes.length] ?? "ask";
    const sandbox = options.sandbox ?? (n % 5 === 4 ? "off" : "auto");
    const seed = options.seed + n;
    const name = `programs in mode ${mode}${sandbox === "off" ? ", without a sandbox" : ""}`;
    return {
      group: randomGroup,
      name,
      world: { mode, sandbox },
      play: (player) => new RandomProgram(player, seed).run(options.steps),
    };
  });
}

const modes: readonly Mode[] = ["ask", "auto", "ask", "safe"];

/** Plays it up to its end, or to the first promise that cannot be looked past, and looks at everything once more. */
export async function run({ group, name, world: options, play }: Job, ignored?: RegExp): Promise<Outcome> {
  await using world = await AttackWorld.open({ ...options, ignored });
  const player = new Player(world);
  try {
    await play(player);
    await player.checkAlive();
    world.judge.inspect();
  } catch (error) {
    if (error instanceof GatewayLost) await askWhetherReady(world);
    else
      world.violations.add("alive", `it could not be played: ${error instanceof Error ? error.stack : String(error)}`);
  }
  const calls = new Map<string, number>();
  for (const call of world.calls.all) calls.set(call.name, (calls.get(call.name) ?? 0) + 1);
  return { group, name, violations: world.violations.found, program: world.violations.program, calls };
}

/** Anyone who looks after the gateway must see that it is not well. */
async function askWhetherReady(world: AttackWorld): Promise<void> {
  const isReady = await world.gateway.call("GET", "/ready", undefined, 3000).then(
    () => true,
    () => false,
  );
  if (isReady) world.violations.add("alive", "/ready says that all is well meanwhile");
}

/** Plays several side by side; `onEnd` hears about each as it ends, the result keeps their order. */
export async function runAll(
  jobs: readonly Job[],
  options: {
    readonly atOnce: number;
    readonly ignored?: RegExp | undefined;
    readonly onEnd: (job: Job, outcome: Outcome) => void;
  },
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...jobs.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, job] = next;
      const outcome = await run(job, options.ignored);
      outcomes[index] = outcome;
      options.onEnd(job, outcome);
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));
  return outcomes;
}
