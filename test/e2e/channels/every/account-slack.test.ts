import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openAsAccount } from "../../../support/worlds/channels/accounts/account-harness.js";
import { openSlackHarness } from "../../../support/worlds/channels/slack-harness.js";

testChannelEndToEnd("slack-acme", () => openAsAccount(openSlackHarness, "slack-acme"));
