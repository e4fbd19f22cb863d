import { mark, ServiceError, type ServicePlan } from "./manager.js";
import { finalExitCodes } from "./unit.js";

/**
 * launchd starts again whatever did not end with 0. This waits for the gateway, and ends with 0 after those ends that a person
 * has to do something about first. It hands on the signal to stop.
 */
export const keeper = `"$@" & pid=$!
trap 'kill -TERM "$pid" 2>/dev/null' TERM INT HUP
wait "$pid"; code=$?
while kill -0 "$pid" 2>/dev/null; do wait "$pid"; code=$?; done
case $code in ${finalExitCodes.join("|")}) exit 0;; esac
exit "$code"`;

/** The agent of launchd that runs a gateway. */
export function agentPlist(label: string, { home, program, environment }: ServicePlan): string {
  const variables = { MAXCLAW_HOME: home, ...environment };
  const rows = [
    ["Label", text(label)],
    ["ProgramArguments", array(["/bin/sh", "-c", keeper, "maxclaw", ...program])],
    ["EnvironmentVariables", dict(Object.entries(variables).map(([name, value]) => [name, text(value)]))],
    ["RunAtLoad", "<true/>"],
    ["KeepAlive", dict([["SuccessfulExit", "<false/>"]])],
    // The guard against a gateway that cannot start: no more than one try in so many seconds.
    ["ThrottleInterval", "<integer>30</integer>"],
    ["ExitTimeOut", "<integer>20</integer>"],
    ["ProcessType", text("Background")],
    ["Umask", "<integer>63</integer>"],
    // All of it is in the gateway's own log, which does not grow without end.
    ["StandardOutPath", text("/dev/null")],
    ["StandardErrorPath", text("/dev/null")],
  ] as const;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${mark} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${dict(rows)}
</plist>
`;
}

/** The home in an agent that we wrote. */
export function homeInPlist(plist: string): string | undefined {
  const [, value] = /<key>MAXCLAW_HOME<\/key>\s*<string>([^<]*)<\/string>/.exec(plist) ?? [];
  return value === undefined || !plist.includes(mark) ? undefined : plain(value);
}

/** The files that an agent of ours starts: Node, and our program. */
export function programInPlist(plist: string): readonly string[] {
  const [, list = ""] = /<key>ProgramArguments<\/key>\s*<array>(.*?)<\/array>/s.exec(plist) ?? [];
  return [...list.matchAll(/<string>([^<]*)<\/string>/g)].slice(4, 6).map(([, value = ""]) => plain(value));
}

function dict(entries: readonly (readonly [key: string, value: string])[]): string {
  return `<dict>\n${entries.map(([key, value]) => `<key>${escaped(key)}</key>\n${value}`).join("\n")}\n</dict>`;
}

function array(items: readonly string[]): string {
  return `<array>\n${items.map(text).join("\n")}\n</array>`;
}

function text(value: string): string {
  return `<string>${escaped(value)}</string>`;
}

function escaped(value: string): string {
  if (/[^\P{Cc}\n\t]/u.test(value))
    throw new ServiceError(
      `${JSON.stringify(value)} holds a control character, which cannot be in the file of a service.`,
      {
        kind: "refused",
      },
    );
  return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function plain(value: string): string {
  return value.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
