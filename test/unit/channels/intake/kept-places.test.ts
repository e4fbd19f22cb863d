import assert from "node:assert/strict";
import { test } from "node:test";
import { KeptPlaces } from "../../../../src/channels/intake/kept-places.js";
import { testContext } from "../../../support/worlds/channels/over-fake.js";

test("who begins many threads in one chat takes no thread away from another chat", async () => {
  const { records } = testContext();
  const chatOfThread = (key: string): string | undefined => (key.includes("/") ? key.split("/", 1)[0] : undefined);
  const places = new KeptPlaces<{ after: number }>({ records, idOf: (key) => key, chatOfThread });
  await places.know("owner", { after: 1 });
  await places.know("owner/old", { after: 2 });
  for (let n = 0; n < 250; n += 1) await places.know(`guest/${n}`, { after: 10 + n });
  assert.equal(places.get("owner/old")?.after, 2);
  assert.ok(places.get("owner") !== undefined);
  const left = places.newestFirst().filter((key) => key.startsWith("guest/"));
  assert.deepEqual([left.length, left[0], left.at(-1)], [199, "guest/249", "guest/51"]);
  assert.equal(records.list().length, 201, "and its records go with it");
});
