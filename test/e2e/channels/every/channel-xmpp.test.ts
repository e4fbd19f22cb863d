import { after } from "node:test";
import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { withoutProsody } from "../../../support/fakes/xmpp/prosody.js";
import { createXmppHarnesses } from "../../../support/worlds/channels/xmpp/xmpp-harness.js";

const harnesses = createXmppHarnesses();
after(() => harnesses[Symbol.asyncDispose]());

if (withoutProsody() === false) testChannelEndToEnd("xmpp", harnesses.open);
