import { readFile, writeFile } from "node:fs/promises";
import { projectFile } from "../support/project.js";
import { harnesses } from "./harnesses.js";
import { type FaultRow, measureFaults } from "./measure.js";
import { putIntoPage, toFaultTable } from "./table.js";

/** `npm run faults`: breaks each channel in each way, and shows what it cost. `--write` puts the table into the docs. */
const rows: FaultRow[] = [];
for (const openHarness of harnesses) rows.push(...(await measureFaults(openHarness)));
const table = toFaultTable(rows);
console.log(table);
if (process.argv.includes("--write")) {
  const page = projectFile("docs/reliability.md");
  await writeFile(page, putIntoPage(await readFile(page, "utf8"), table));
}
