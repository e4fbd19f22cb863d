import { testChannelEndToEnd } from "../../contracts/channel-end-to-end.js";
import { openSlackHarness } from "../../support/worlds/channels/slack-harness.js";

testChannelEndToEnd("slack", openSlackHarness);
