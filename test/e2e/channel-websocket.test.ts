import { testChannelEndToEnd } from "../contracts/channel-end-to-end.js";
import { openWebSocketHarness } from "../support/websocket-harness.js";

testChannelEndToEnd("websocket", openWebSocketHarness);
