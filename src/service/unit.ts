import { mark, type ServicePlan, type ServiceScope } from "./manager.js";
import { readUnitWord, unitCommand, unitWord } from "./unit-words.js";

export interface UnitOptions {
  readonly scope: ServiceScope;
  /** `systemd-notify` is there, with which the gateway says that it is ready and alive. */
  readonly canNotify: boolean;
  /** More of what goes above the unit, a line each. */
  readonly remarks?: readonly string[] | undefined;
}

/** Exit codes after which starting again does not help: a wrong command line, damaged files, a wrong config or address. */
export const finalExitCodes = [2, 65, 78] as const;

/** So many starts within ten minutes, and it stays down. */
export const startBurst = 10;

const homeVariable = "MAXCLAW_HOME";

/** The unit of systemd that runs a gateway. */
export function unitText(plan: ServicePlan, { scope, canNotify, remarks = [] }: UnitOptions): string {
  const isSystem = scope === "system";
  const sections = [
    [`# ${mark}`, ...remarks.map((line) => `# ${line}`.trimEnd())],
    unitSection(isSystem),
    [
      "[Service]",
      ...(canNotify ? notifying : ["Type=exec"]),
      ...(plan.account === undefined ? [] : [`User=${plan.account}`]),
      ...variables(plan),
      ...(isSystem
        ? ["# Keys and tokens that the config names as variables, one NAME=value a line; mode 0600.", environmentFile]
        : []),
      "UMask=0077",
      `ExecStart=${unitCommand(plan.program)}`,
      "",
      ...coming,
      "",
      ...going,
      "",
      ...(isSystem ? systemWalls(plan) : walls),
    ],
    ["[Install]", `WantedBy=${isSystem ? "multi-user" : "default"}.target`],
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** The home in a unit that we wrote. */
export function homeIn(unit: string): string | undefined {
  const [, word] = unit.match(new RegExp(`^Environment=("${homeVariable}=.*")$`, "m")) ?? [];
  return word === undefined || !unit.includes(mark) ? undefined : readUnitWord(word).slice(homeVariable.length + 1);
}

/** The files that a unit of ours starts: Node, and our program. */
export function programIn(unit: string): readonly string[] {
  const [, line = ""] = unit.match(/^ExecStart=(.*)$/m) ?? [];
  const words = [...line.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([word]) => readUnitWord(word));
  const [file, script] = words;
  return [...(file === undefined ? [] : [file]), ...(script === undefined ? [] : [script.replaceAll("$$", "$")])];
}

const environmentFile = "EnvironmentFile=-/etc/maxclaw.env";

function unitSection(isSystem: boolean): readonly string[] {
  return [
    "[Unit]",
    "Description=maxclaw, a self-hosted chat assistant gateway",
    ...(isSystem ? ["Wants=network-online.target", "After=network-online.target"] : []),
    "# Ten starts in ten minutes are enough: then it stays down, and `maxclaw service status` says so.",
    "StartLimitIntervalSec=600",
    `StartLimitBurst=${startBurst}`,
  ];
}

const notifying = [
  "Type=notify",
  "# It speaks through the program systemd-notify, which is a child of the gateway.",
  "NotifyAccess=all",
  "TimeoutStartSec=600",
  "# The gateway gives a sign of life every 30 s. One that hangs may be killed at any moment: it loses nothing.",
  "WatchdogSec=90",
  "WatchdogSignal=SIGKILL",
] as const;

const coming = [
  "# It comes back after any end but those that a person has to do something about first.",
  "Restart=always",
  "RestartSec=5",
  `RestartPreventExitStatus=${finalExitCodes.join(" ")}`,
  "SuccessExitStatus=130 143",
] as const;

const going = [
  "# SIGTERM lets running answers finish for 10 seconds; what is left goes on at the next start.",
  "KillMode=mixed",
  "TimeoutStopSec=20",
  "# A command or browser that takes too much memory ends alone.",
  "OOMPolicy=continue",
] as const;

/** What holds without a file system of its own, which in a user's service could stop sandboxes for commands. */
const walls = [
  "NoNewPrivileges=yes",
  "RestrictSUIDSGID=yes",
  "RestrictRealtime=yes",
  "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
  "LockPersonality=yes",
  "LimitNOFILE=65536",
  "LimitCORE=0",
  "# Left out on purpose: MemoryDenyWriteExecute stops the JavaScript compiler; RestrictNamespaces, PrivateUsers, ProtectProc",
  "# and ProtectKernelTunables stop sandboxes for commands.",
] as const;

/** Below these are the files of people, which their own services have to reach. */
const peoplesPlaces = ["/home", "/root", "/run/user"];

function systemWalls({ home, writable, account }: ServicePlan): readonly string[] {
  const folders = [home, ...writable];
  const isOfPerson = folders.some((folder) =>
    peoplesPlaces.some((place) => folder === place || folder.startsWith(`${place}/`)),
  );
  return [
    ...(isOfPerson
      ? ["ProtectSystem=full"]
      : [
          "# It writes to these folders only. Others need a line of their own: systemctl edit",
          "ProtectSystem=strict",
          "ProtectHome=yes",
          `ReadWritePaths=${folders.map(unitWord).join(" ")}`,
        ]),
    "PrivateTmp=yes",
    "PrivateDevices=yes",
    "ProtectControlGroups=yes",
    "ProtectClock=yes",
    "ProtectHostname=yes",
    // Without them root could not read what belongs to others, such as a workspace.
    ...(account === undefined || account === "root" ? [] : ["CapabilityBoundingSet="]),
    ...walls,
  ];
}

function variables({ home, environment }: ServicePlan): readonly string[] {
  // Else glibc keeps 15 to 20 MB of what the threads of V8 have freed.
  const all = { [homeVariable]: home, MALLOC_ARENA_MAX: "1", ...environment };
  return Object.entries(all).map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}`);
}
