import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openAsAccount } from "../../../support/worlds/channels/accounts/account-harness.js";
import { openWhatsAppBusinessHarness } from "../../../support/worlds/channels/whatsapp/whatsapp-business-harness.js";

testChannelEndToEnd("whatsapp-business-shop", () =>
  openAsAccount(openWhatsAppBusinessHarness, "whatsapp-business-shop"),
);
