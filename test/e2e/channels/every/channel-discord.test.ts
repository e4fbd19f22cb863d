import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openDiscordHarness } from "../../../support/worlds/channels/discord-harness.js";

testChannelEndToEnd("discord", openDiscordHarness);
