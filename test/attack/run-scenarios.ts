import { GatewayLost, Player } from "./player.js";
import { RandomProgram } from "./random-program.js";
import type { Scenario } from "./scenarios/scenario.js";
import type { Violation } from "./violations.js";
import { AttackWorld, type WorldOptions } from "./world.js";

/** What became of one attack. */
export interface Outcome {
  readonly scenario: Scenario;
  readonly violations: readonly Violation[];
  /** Every step of it, for whoever looks into it. */
  readonly program: readonly string[];
  readonly calls: number;
}

const usual: WorldOptions = { mode: "ask", sandbox: "auto" };

/** Plays one attack in a world of its own. */
export async function runScenario(scenario: Scenario, scale: number, ignored?: RegExp): Promise<Outcome> {
  const options = { ...usual, ...scenario.world, ignored };
  return { scenario, ...(await played(options, (player) => scenario.play(player, scale))) };
}

async function played(
  options: WorldOptions,
  play: (player: Player) => Promise<void>,
): Promise<Omit<Outcome, "scenario">> {
  await using world = await AttackWorld.open(options);
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
  const { found, program } = world.violations;
  return { violations: found, program, calls: world.calls.all.length };
}

/** Plays a program of this seed, up to the first broken promise. */
export async function runRandomly(
  seed: number,
  steps: number,
  options: WorldOptions,
): Promise<Omit<Outcome, "scenario">> {
  return await played(options, (player) => new RandomProgram(player, seed).run(steps));
}

/** Whoever looks after the gateway must see that it is not well. */
async function askWhetherReady(world: AttackWorld): Promise<void> {
  const isReady = await world.gateway.call("GET", "/ready", undefined, 3000).then(
    () => true,
    () => false,
  );
  if (isReady) world.violations.add("alive", "/ready says that all is well meanwhile");
}
