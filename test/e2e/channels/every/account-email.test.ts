import { after, test } from "node:test";
import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { withoutMailServer } from "../../../support/fakes/mail/mail-server.js";
import { openAsAccount } from "../../../support/worlds/channels/accounts/account-harness.js";
import { createEmailHarnesses } from "../../../support/worlds/channels/email-harness.js";

const harnesses = createEmailHarnesses();
after(() => harnesses[Symbol.asyncDispose]());

const missing = withoutMailServer();
if (missing === false) testChannelEndToEnd("email-sales", () => openAsAccount(harnesses.open, "email-sales"));
else test("email-sales: what every channel does for people", { skip: missing });
