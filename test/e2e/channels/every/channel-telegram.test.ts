import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openTelegramHarness } from "../../../support/worlds/channels/telegram-harness.js";

testChannelEndToEnd("telegram", openTelegramHarness);
