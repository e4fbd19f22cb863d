import { after, test } from "node:test";
import { testChannelEndToEnd } from "../contracts/channel-end-to-end.js";
import { createEmailHarnesses } from "../support/email-harness.js";
import { withoutMailServer } from "../support/mail-server.js";

const harnesses = createEmailHarnesses();
after(() => harnesses[Symbol.asyncDispose]());

const missing = withoutMailServer();
if (missing === false) testChannelEndToEnd("email", harnesses.open);
else test("email: what every channel does for people", { skip: missing });
