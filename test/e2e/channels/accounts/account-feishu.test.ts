import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openAsAccount } from "../../../support/worlds/channels/accounts/account-harness.js";
import { openFeishuHarness } from "../../../support/worlds/channels/feishu/feishu-harness.js";

testChannelEndToEnd("feishu-acme", () => openAsAccount(openFeishuHarness, "feishu-acme"));
