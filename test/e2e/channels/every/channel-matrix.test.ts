import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { openMatrixHarness } from "../../../support/worlds/channels/matrix/matrix-harness.js";

testChannelEndToEnd("matrix", openMatrixHarness);
