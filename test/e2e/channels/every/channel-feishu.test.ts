import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openFeishuHarness } from "../../../support/worlds/channels/feishu/feishu-harness.js";

testChannelEndToEnd("feishu", openFeishuHarness);
