import { createAddressPolicy } from "../../../../src/policy/locations/addresses.js";
import { createEgress } from "../../../../src/policy/locations/egress.js";
import { Browsers } from "../../../../src/tools/browser/browsers.js";
import { browserArgs, findChromium } from "../needs.js";

// Opens a browser with the profile that its argument names, says so, and stays until it is killed.
const [, , profile = ""] = process.argv;
const browsers = new Browsers({
  executablePath: findChromium() ?? "",
  args: browserArgs,
  egress: createEgress(createAddressPolicy([])),
  profileOf: () => profile,
  idleMs: 60_000,
  max: 1,
  onChange: () => {},
});
const held = await browsers.hold("a");
await held.context.newPage();
process.stdout.write("open\n");
setInterval(() => {}, 1000);
