import type { Check } from "./check.js";
import { backupsCheck } from "./checks/home/backups.js";
import { configCheck } from "./checks/home/config.js";
import { filesCheck } from "./checks/home/files.js";
import { homeCheck } from "./checks/home/home.js";
import { locksCheck } from "./checks/home/locks.js";
import { permissionsCheck } from "./checks/home/permissions.js";
import { storedCheck } from "./checks/home/stored.js";
import { browserCheck } from "./checks/machine/browser.js";
import { diskCheck } from "./checks/machine/disk.js";
import { nodeCheck } from "./checks/machine/node.js";
import { portsCheck } from "./checks/machine/ports.js";
import { sandboxCheck } from "./checks/machine/sandbox.js";
import { serviceCheck } from "./checks/machine/service.js";
import { channelsCheck } from "./checks/reach/channels.js";
import { clockCheck } from "./checks/reach/clock.js";
import { databaseCheck } from "./checks/reach/database.js";
import { gatewayCheck } from "./checks/reach/gateway.js";
import { mcpCheck } from "./checks/reach/mcp.js";
import { modelCheck } from "./checks/reach/model.js";
import { providersCheck } from "./checks/reach/providers.js";
import { accessCheck } from "./security/access.js";
import { machineCheck } from "./security/machine.js";
import { peopleCheck } from "./security/people.js";
import { secretsCheck } from "./security/secrets.js";
import { toolsCheck } from "./security/tools.js";

/** In the order in which people read them. */
export const healthChecks: readonly Check[] = [
  ...[nodeCheck, homeCheck, filesCheck, diskCheck, configCheck, gatewayCheck, portsCheck, serviceCheck, locksCheck],
  ...[databaseCheck, providersCheck, modelCheck, clockCheck, channelsCheck, mcpCheck, sandboxCheck, browserCheck],
  ...[storedCheck, backupsCheck],
];

export const securityChecks: readonly Check[] = [
  ...[permissionsCheck, accessCheck, peopleCheck, secretsCheck, toolsCheck, machineCheck],
];
