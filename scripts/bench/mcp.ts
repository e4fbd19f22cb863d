import { badServer } from "../../test/support/worlds/tools/mcp.js";
import type { FakeModel } from "./fake-model.js";
import { median } from "./measure.js";
import { startSubject } from "./subject.js";

interface Run {
  readonly readyMs: number;
  readonly idleMb: number;
  readonly helloBytes: number;
}

/** What a server with 100 tools over stdio costs: the request for "hello", the start, and memory, compared with none at all. */
export async function benchMcp(model: FakeModel, rounds: number): Promise<boolean> {
  const subjects = {
    "no server": {},
    "100 tools, searched": { mcpServers: { many: badServer("many") } },
    "100 tools, declared": { mcpServers: { many: badServer("many") }, mcp: { declareBytes: 1_000_000 } },
  };
  const rows: { readonly name: string; readonly run: Run }[] = [];
  for (const [name, tools] of Object.entries(subjects)) {
    const runs: Run[] = [];
    for (let round = 0; round < rounds; round++) runs.push(await measure(model, tools));
    const of = (key: keyof Run): number => median(runs.map((run) => run[key]));
    rows.push({ name, run: { readyMs: of("readyMs"), idleMb: of("idleMb"), helloBytes: of("helloBytes") } });
  }
  const [none, searched] = rows;
  if (none === undefined || searched === undefined) return false;
  console.log(`maxclaw with an MCP server, Node ${process.version}, medians of ${rounds} runs\n`);
  console.log('| | request for "hello", bytes | start to ready, ms | ratio | idle RSS, MB | ratio |');
  console.log("|---|---|---|---|---|---|");
  for (const { name, run } of rows) {
    const ratio = (key: "readyMs" | "idleMb"): string => (run[key] / none.run[key]).toFixed(2);
    const cells = [run.helloBytes, run.readyMs.toFixed(0), ratio("readyMs"), run.idleMb.toFixed(1), ratio("idleMb")];
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
  const isSmall = none.run.helloBytes <= 8192 && searched.run.helloBytes - none.run.helloBytes <= 600;
  const isOk = isSmall && searched.run.idleMb <= 110 && searched.run.readyMs <= 500;
  console.log(
    `\nBudget: 8192 bytes with no server; with 100 tools, searched: 600 bytes more, 500 ms, 110 MB: ${isOk ? "met" : "MISSED"}`,
  );
  return isOk;
}

async function measure(model: FakeModel, tools: object): Promise<Run> {
  await using subject = await startSubject("maxclaw", model, undefined, { tools });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const idleMb = await subject.rssMegabytes();
  subject.telegram.pushText({ chatId: 1, userId: 1, text: "hello" });
  await subject.telegram.waitForSent(1);
  return { readyMs: subject.readyMs, idleMb, helloBytes: Buffer.byteLength(model.last?.body ?? "") };
}
