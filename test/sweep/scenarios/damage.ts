import { readdirSync } from "node:fs";
import { damageHome, textsIn } from "../../support/engine/home-damage.js";
import { runMaxclaw } from "../../support/worlds/daemon.js";
import { Crowd } from "./crowd.js";
import { failIfBroken, pick, type Scenario, upTo } from "./scenario.js";

const said = /plain #c\d+\.\d+/g;

/** A disk damages one file after the other while nobody looks. */
export const damage: Scenario = {
  name: "random damage",
  what: "between runs a file is damaged: a bit flipped, a block zeroed, cut, gone, lines lost or joined",
  promise:
    "it starts, or is refused by name and starts after a repair; what was in undamaged bytes is there, what is missing is told in status, and all chats go on",
  rounds: { test: 3, sweep: 30 },
  async run({ rounds, random, nursery }) {
    let [kills, stops, refused, aside, messages] = [0, 0, 0, 0, 0];
    for (let round = 0; round < rounds; round += 1) {
      // What is lost in one round is not to be looked for in the next.
      await using crowd = await Crowd.open(nursery, { chats: 3, asksBack: true });
      await crowd.start();
      for (let texts = upTo(8, random); texts > 0; texts -= 1) crowd.say(pick(crowd.chats, random), "plain");
      await crowd.quiet();
      const isKill = random() < 0.5;
      if (isKill) await crowd.kill();
      else await crowd.stop(2000);
      kills += isKill ? 1 : 0;
      stops += isKill ? 0 : 1;
      const done = damageHome(crowd.home, random);
      const about = `round ${round}, ${done.how} of ${done.file}`;
      const left = textsIn(crowd.home, done, said);
      const repaired = await startOrRepair(crowd, about);
      refused += repaired === undefined ? 0 : 1;
      for (const chat of crowd.chats) await crowd.answered(crowd.say(chat, "plain"));
      await crowd.quiet();
      const broken = await lostIn(crowd, left, repaired ?? "");
      const names = readdirSync(crowd.sessions).filter((name) => name.includes("events.jsonl.damaged-"));
      aside += names.length;
      await crowd.stop(2000);
      failIfBroken(
        broken.map((what) => `${about}: ${what}`),
        crowd.log(),
      );
      messages += crowd.messages;
    }
    const note = `${refused} starts refused by name, ${aside} damaged logs kept beside the mended ones`;
    return { messages, kills, stops, lost: 0, givenUp: 0, repeated: 0, note };
  },
};

/** What the repair said when the start was refused, which has to name what to do about it. */
async function startOrRepair(crowd: Crowd, about: string): Promise<string | undefined> {
  try {
    await crowd.start();
    return undefined;
  } catch (error) {
    await crowd.kill();
    if (!/maxclaw repair/.test(String(error))) throw new Error(`${about}: ${String(error)}`, { cause: error });
    const { code, stdout, stderr } = await runMaxclaw(["repair"], crowd.home);
    if (code !== 0) throw new Error(`${about}: the repair ended with ${code}: ${stdout}${stderr}`);
    await crowd.start();
    return stdout;
  }
}

/** What was in undamaged bytes and is gone, and chats that miss events without a word in status. */
async function lostIn(crowd: Crowd, left: ReadonlySet<string>, repaired: string): Promise<string[]> {
  const { chats } = await crowd.evidence();
  const { problems } = await crowd.status();
  const found = new Set([...JSON.stringify(chats.map(({ look }) => look.events)).matchAll(said)].map(([text]) => text));
  const broken = [...left]
    .filter((text) => !found.has(text))
    .map((text) => `“${text}” is in undamaged bytes and is lost`);
  for (const { look } of chats) {
    const seqs = look.events.map(({ seq }) => seq);
    if (seqs.some((seq, index) => index > 0 && seq <= (seqs[index - 1] ?? 0)))
      broken.push(`${look.key}: numbers are not in order: ${seqs}`);
    if (seqs.length < look.lastSequence && !problems.some((text) => text.includes(look.key)))
      broken.push(
        `${look.key} has ${seqs.length} events of ${look.lastSequence}, and status does not say so; the repair said: ${repaired}`,
      );
  }
  return broken;
}
