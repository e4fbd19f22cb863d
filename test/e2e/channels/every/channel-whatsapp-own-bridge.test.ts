import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openOwnBridgeHarness } from "../../../support/worlds/channels/whatsapp/own-bridge-harness.js";

testChannelEndToEnd("whatsapp by our own bridge", openOwnBridgeHarness);
