import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openAsAccount } from "../../../support/worlds/channels/accounts/account-harness.js";
import { openQqHarness } from "../../../support/worlds/channels/qq-harness.js";

testChannelEndToEnd("qq-shop", () => openAsAccount(openQqHarness, "qq-shop"));
