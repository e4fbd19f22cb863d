import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openWhatsAppHarness } from "../../../support/worlds/channels/whatsapp/whatsapp-harness.js";

testChannelEndToEnd("whatsapp", openWhatsAppHarness, { carriesFiles: false });
