import { testChannelEndToEnd } from "../../contracts/channel-end-to-end.js";
import { openQqHarness } from "../../support/worlds/channels/qq-harness.js";

testChannelEndToEnd("qq", openQqHarness);
