import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openAsAccount } from "../../../support/worlds/channels/accounts/account-harness.js";
import { openTelegramHarness } from "../../../support/worlds/channels/telegram-harness.js";

testChannelEndToEnd("telegram-work", () => openAsAccount(openTelegramHarness, "telegram-work"));
