import assert from "node:assert/strict";
import { test } from "node:test";
import { rankOf } from "../../../../src/web/panes/settings/rank.js";

test("a search puts names before meanings, and whole words before parts of words", () => {
  const found = [
    { name: "log.level", label: "How much is logged", meaning: "What is reported." },
    { name: "channels.email.host", label: "Server", meaning: "Without a port the usual port is taken." },
    { name: "telemetry.exportMs", label: "How often", meaning: "How often." },
    { name: "gateway.port", label: "Port of the gateway", meaning: "Where the page is." },
  ];
  const order = found.toSorted((one, other) => rankOf(one, "port") - rankOf(other, "port"));
  assert.deepEqual(
    order.map(({ name }) => name),
    ["gateway.port", "telemetry.exportMs", "channels.email.host", "log.level"],
  );
});
