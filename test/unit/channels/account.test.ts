import assert from "node:assert/strict";
import { test } from "node:test";
import { logFor, said, saidOfAccount } from "../../../src/channels/account.js";
import { ChannelError } from "../../../src/errors.js";
import { keepLog } from "../../support/log.js";

test("sentences about the platform's section are about the account's, and those about others stay", () => {
  const shop = { platform: "whatsapp", name: "whatsapp-2" };
  assert.equal(
    said("channels.whatsapp.bridgeUrl, channels.whatsapp: and channels.whatsapp-business.apiRoot", shop),
    "channels.whatsapp-2.bridgeUrl, channels.whatsapp-2: and channels.whatsapp-business.apiRoot",
  );
  const error = new ChannelError("Check channels.whatsapp.bridgeUrl.", { retryable: true, retryAfterMs: 5 });
  assert.equal(saidOfAccount(error, shop), error);
  assert.deepEqual(
    [error.message, error.retryable, error.retryAfterMs],
    ["Check channels.whatsapp-2.bridgeUrl.", true, 5],
  );
  assert.doesNotMatch(error.stack ?? "", /channels\.whatsapp\./);
  assert.equal(saidOfAccount("channels.whatsapp", shop), "channels.whatsapp");
});

test("each line of an account's log names the account", () => {
  const kept = keepLog();
  const log = logFor({ platform: "slack", name: "slack-acme" }, kept);
  log.warn("Check channels.slack.appToken.", { chat: "C1" });
  const [line] = kept.lines;
  assert.equal(line?.message, "Check channels.slack-acme.appToken.");
  assert.match(JSON.stringify(line), /"channel":"slack-acme".*"chat":"C1"/);
});
