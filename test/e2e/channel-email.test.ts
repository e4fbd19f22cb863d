import { after } from "node:test";
import { testChannelEndToEnd } from "../contracts/channel-end-to-end.js";
import { createEmailHarnesses } from "../support/email-harness.js";
import { withoutMailServer } from "../support/mail-server.js";

const harnesses = createEmailHarnesses();
after(() => harnesses[Symbol.asyncDispose]());

if (withoutMailServer() === false) testChannelEndToEnd("email", harnesses.open);
