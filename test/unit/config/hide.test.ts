import assert from "node:assert/strict";
import { test } from "node:test";
import { hasHidden, withoutSecrets, withSecrets } from "../../../src/config/settings/hide.js";
import { startGateway } from "../../support/worlds/gateway.js";

test("secrets in arguments, addresses and named values are stars, and come back from them", () => {
  const stored = {
    args: [
      "--header",
      "Authorization: Bearer hide-1",
      "-H",
      "X-Key: hide-2",
      "--header=Cookie: hide-3",
      "--depth",
      "3",
    ],
    more: ["--signature", "hide-4", "--passphrase=hide-5", "run"],
    says: "Basic hide-6",
    url: "https://files.test/a?sig=hide-7&X-Amz-Credential=hide-8&page=2",
    sessionCookie: "hide-9",
    pass_phrase: "hide-10",
    name: "shown",
  };
  const shown = withoutSecrets(stored, []);
  const text = JSON.stringify(shown);
  assert.doesNotMatch(text, /hide-/);
  for (const plain of ["--header", "-H", "--depth", '"3"', "run", "files.test/a?sig=", "page=2", "shown"])
    assert.ok(text.includes(plain), plain);
  const back = withSecrets(shown, shown, stored);
  assert.deepEqual(back, stored);
  assert.equal(hasHidden(back), false);
});

test("the list of providers shows no key that is in an address", async () => {
  const apiBase = "https://me:hide-1@models.test/v1?api_key=hide-2&version=3";
  await using gateway = await startGateway({ config: { providers: { acme: { apiBase } } } });
  const answer = await (await fetch(`http://${gateway.gateway.address}/api/providers`)).text();
  assert.ok(answer.includes("models.test/v1?api_key=********&version=3"), answer);
  assert.doesNotMatch(answer, /hide-/);
});
