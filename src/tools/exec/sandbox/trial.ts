import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { messageOf } from "../../../errors.js";
import { isInside } from "../../../policy/locations/paths.js";
import type { Zones } from "../../../policy/locations/zones.js";
import { linked } from "../../../util/async/linked.js";
import { makeFolder } from "../../../util/files/make-folder.js";
import type { Limits } from "../limits.js";
import { startRun } from "../run.js";
import { firstEnvironment } from "../shell.js";
import { Surveyor } from "../view/survey.js";
import { Views } from "../view/views.js";
import type { Confinement } from "./sandbox.js";

const limitMs = 10_000;

/** Without a /proc the arguments and the environment of a process are asked of the kernel: CTL_KERN, KERN_PROCARGS2. */
const environmentOnMac = `
[ "$(uname)" = Darwin ] && perl -e '
  my ($name, $size, $text) = (pack("i3", 1, 49, $ENV{T_PID}), pack("L!", 65536), "\\0" x 65536);
  print $text if syscall(202, $name, 3, $text, $size, 0, 0) == 0;
' 2>/dev/null | grep -q . && { echo "the gateway's environment can be read"; exit 1; }`;

/** Each line is one thing that a sandbox has to allow or to prevent; the first that fails is told. */
const script = `
echo x > "$HOME/made" || { echo "files in the own folder cannot be written"; exit 1; }
cat shown >/dev/null || { echo "the workspace cannot be read"; exit 1; }
{ cat "$T_SECRET" "/System/Volumes/Data$T_SECRET"; } 2>/dev/null | grep -q . && { echo "files elsewhere can be read"; exit 1; }
{ cat folder/.hidden; } >/dev/null 2>&1 && { echo "hidden files can be read"; exit 1; }
{ cat folder/late; } >/dev/null 2>&1 && { echo "files that came later can be read"; exit 1; }
{ ln "$T_SECRET" "$HOME/link" && cat "$HOME/link"; } >/dev/null 2>&1 && { echo "links lead to files elsewhere"; exit 1; }
{ echo x > "$T_SECRET.new"; } 2>/dev/null
{ echo x > shown; } 2>/dev/null
{ ln shown "$HOME/shown" && echo x > "$HOME/shown"; } 2>/dev/null
{ cat "/proc/$T_PID/environ"; } 2>/dev/null | grep -q . && { echo "the gateway's processes can be seen"; exit 1; }
{ kill -0 "$T_PID"; } 2>/dev/null && { echo "the gateway's processes can be reached"; exit 1; }
${environmentOnMac}
{ exec 9<>"/dev/tcp/127.0.0.1/$T_PORT"; } 2>/dev/null && { echo "this machine's ports can be reached"; exit 1; }
nc -z -w 1 127.0.0.1 "$T_PORT" >/dev/null 2>&1
{ : > /proc/sys/kernel/core_pattern; } 2>/dev/null && { echo "settings of the system can be changed"; exit 1; }
exit 0
`;

/**
 * Runs a command in the sandbox that tries what a sandbox is there to prevent. Undefined when all is well, else one
 * sentence without its end.
 */
export async function tryConfinement(
  confinement: Confinement,
  limits: Limits,
  signal: AbortSignal,
): Promise<string | undefined> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), "maxclaw-sandbox-")));
  let isReached = false;
  const server = createServer((socket) => {
    isReached = true;
    socket.destroy();
  });
  using limit = linked(signal, limitMs);
  try {
    const workspace = path.join(root, "workspace");
    const folder = path.join(workspace, "own");
    const hiddenTemp = path.join(root, "temp");
    const temp = { hidden: hiddenTemp, shown: path.join(hiddenTemp, "tmp"), memory: path.join(hiddenTemp, "shm") };
    const secret = path.join(root, "secret");
    for (const one of [folder, temp.shown, temp.memory]) await makeFolder(one, 0o777);
    const shown = path.join(workspace, "shown");
    await writeFile(shown, "seen");
    const shownFolder = path.join(workspace, "folder");
    const hidden = path.join(shownFolder, ".hidden");
    await mkdir(shownFolder);
    await writeFile(hidden, "hidden");
    await writeFile(secret, "secret");
    const views = new Views({ zones: trialZones, surveyor: new Surveyor(), folder: hiddenTemp, refreshMs: limitMs });
    const mayRead = (target: string): boolean => !path.basename(target).startsWith(".");
    const held = await views.hold(
      { workspace, folder, received: "none", isOwnUpload: () => false, mayRead },
      confinement.hasMounts,
    );
    if (held === undefined) return "its folder is a link to somewhere else";
    await writeFile(path.join(shownFolder, "late"), "late");
    const port = await new Promise<number>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
    const run = await startRun(
      {
        command: script,
        cwd: workspace,
        environment: `export T_SECRET='${secret.replaceAll("'", "'\\''")}' T_PID=${process.pid} T_PORT=${port}\n`,
        firstEnvironment: firstEnvironment({ home: folder, timeZone: "UTC" }),
        folder,
        temp,
        confined: { confinement, view: held.view },
        network: false,
        maxFileBytes: 1024 ** 2,
        isInteractive: false,
        limits,
      },
      limit.signal,
    );
    limit.signal.addEventListener("abort", () => run.kill(), { once: true });
    const { code } = await run.ended;
    if (limit.signal.aborted) return "it did not answer";
    if (code !== 0) return run.output.text().trim().split("\n").slice(-1)[0]?.slice(0, 300) || `it ended with ${code}`;
    if (!(await exists(path.join(folder, "made")))) return "what it writes is not kept";
    if (isReached) return "this machine's ports can be reached";
    const { size } = await stat(shown);
    return (await exists(`${secret}.new`)) || size !== 4 ? "files elsewhere can be written" : undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    server.close();
    await rm(root, { recursive: true, force: true });
  }
}

const trialZones: Pick<Zones, "zoneOf"> = {
  zoneOf: (target, folder) => (isInside(folder, target) ? "own" : "workspace"),
};

async function exists(file: string): Promise<boolean> {
  return await stat(file).then(
    () => true,
    () => false,
  );
}
