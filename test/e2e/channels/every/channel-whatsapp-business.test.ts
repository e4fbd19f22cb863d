import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openWhatsAppBusinessHarness } from "../../../support/worlds/channels/whatsapp/whatsapp-business-harness.js";

testChannelEndToEnd("whatsapp-business", openWhatsAppBusinessHarness);
