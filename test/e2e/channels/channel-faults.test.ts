import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, test } from "node:test";
import { closeHarnesses, harnesses, missingFor } from "../../faults/harnesses.js";
import { measureFaults } from "../../faults/measure.js";
import { linesOf, toFaultTable } from "../../faults/table.js";
import { projectFile } from "../../support/project.js";

after(closeHarnesses);

for (const openHarness of harnesses)
  test(`what faults cost is what docs/reliability.md says: ${openHarness.name}`, {
    skip: missingFor(openHarness),
  }, async () => {
    const rows = await measureFaults(openHarness);
    const [{ channel = "" } = {}] = rows;
    const measured = toFaultTable(rows)
      .split("\n")
      .slice(2)
      .map((line) => line.replace(/ +/g, " "));
    assert.deepEqual(measured, linesOf(await readFile(projectFile("docs/reliability.md"), "utf8"), channel));
  });
