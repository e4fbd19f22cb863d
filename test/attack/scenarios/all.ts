import { addressScenarios } from "./addresses.js";
import { approvalScenarios } from "./approvals.js";
import { doorScenarios } from "./doors.js";
import { memoryScenarios } from "./memory.js";
import { pathScenarios } from "./paths.js";
import { provenanceScenarios } from "./provenance.js";
import type { Scenario } from "./scenario.js";

export const scenarios: readonly Scenario[] = [
  ...pathScenarios,
  ...memoryScenarios,
  ...addressScenarios,
  ...provenanceScenarios,
  ...approvalScenarios,
  ...doorScenarios,
];
