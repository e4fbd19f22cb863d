import { z } from "zod";
import { receivedFiles } from "../../policy/locations/zones.js";
import { receivedFilesOf } from "../files/received.js";
import { keepWhole } from "../overflow.js";
import { defineTool, failed, type Tool, type ToolContext, type ToolConversation, type ToolResult } from "../tool.js";
import { findBareSights, groundOf } from "./bare-sights.js";
import type { Sandbox } from "./sandbox/find.js";
import type { Finished } from "./terminal.js";
import type { Terminals } from "./terminals.js";

export interface ExecSettings {
  readonly terminals: Terminals;
  readonly sandbox: Sandbox;
  /** When a call names no other, as it is at that call. */
  readonly timeoutSeconds: () => number;
  /** `required`: without a sandbox nothing runs. */
  readonly sandboxMode: "auto" | "off" | "required";
  /** `off`: no command gets a network in the sandbox. As it is when the command starts. */
  readonly network: () => "ask" | "off";
}

// Of a long output its beginning and its end are shown: what went wrong usually comes last.
const headCharacters = 6000;
const tailCharacters = 9000;

/** The limit of one argument of a program. */
const maxCommandBytes = 120_000;

const input = z.object({
  command: z.string(),
  timeout: z.int().min(1).max(300).describe("seconds").optional(),
  network: z.boolean().describe("asks a person").optional(),
  background: z.boolean().optional(),
});

export function execTool(settings: ExecSettings): Tool {
  const { terminals, timeoutSeconds, network: networkMode } = settings;
  return defineTool({
    name: "exec",
    description: "Run a shell command. Only this chat's folder can be written. cd and export stay.",
    input,
    effect: "write",
    risk: "access",
    origin: "builtin",

    async run({ command, timeout = timeoutSeconds(), network = false, background = false }, context) {
      const wrong = whyWrong(command);
      if (wrong !== undefined) return failed(wrong);
      const confinement = await settings.sandbox.find();
      if (confinement === undefined && settings.sandboxMode === "required") return failed(withoutSandbox(settings));
      const isSandboxed = confinement !== undefined;
      const mayNot = (): boolean => isSandboxed && network && networkMode() === "off";
      if (mayNot()) return failed(withoutNetwork);
      const terminal = await terminals.of(context.sessionKey, context.folder, context.commands.cwd);
      // A person may take longer to say yes than an unused terminal stays open.
      using _use = terminal.use();
      const access = {
        kind: "command",
        command,
        isSandboxed,
        hasNetwork: isSandboxed && network,
        cwd: terminal.cwd,
      } as const;
      const refusal = await context.permit(access);
      if (refusal !== undefined) return failed(refusal);
      // It may have been switched off while a person was asked.
      if (mayNot()) return failed(withoutNetwork);
      const isHidden = await context.commands.hiddenFiles();
      const mayRead = (target: string): boolean =>
        !isHidden(target) && context.permissions.allows({ kind: "read", path: target });
      const freshEnvironment = context.permissions.allowedByRule(access);
      const received = wantsReceived(command, context.conversation);
      const isOwnUpload = await context.files.ownUploads();
      const { cwd } = terminal;
      const isSeen = isSandboxed || context.permissions.allowedByPerson(access);
      const start = {
        sights: isSeen ? undefined : async () => findBareSights(command, await groundOf(context, terminals.zones, cwd)),
        confinement,
        network,
        received,
        isOwnUpload,
        mayRead,
        freshEnvironment,
        startRun: context.commands.startRun,
      };
      if (background) {
        const started = await terminal.runInBackground(command, start, context.signal);
        if (!started.ok) return failed(started.sentence);
        return {
          text: `Started in the background as ${started.id}.`,
          isError: false,
          summary: `started ${shortOf(command)}`,
        };
      }
      const finished = await terminal.run(command, { ...start, timeoutMs: timeout * 1000 }, context.signal);
      return finished.ok ? await resultOf(command, finished, timeout, context) : failed(finished.sentence);
    },
  });
}

function whyWrong(command: string): string | undefined {
  if (command.trim() === "") return "Say what to run in `command`.";
  if (Buffer.byteLength(command) > maxCommandBytes)
    return "The command is too long. Write it into a file and run that.";
  return command.includes("\0") ? "A command cannot contain a NUL byte." : undefined;
}

/**
 * Files that came with messages are shown in the conversation that they came in, and to commands that name their
 * folder: unless all of them are an owner's own, what commands print counts as written by others then.
 */
function wantsReceived(command: string, { receivedHere }: ToolConversation): "all" | "none" {
  return command.includes(receivedFiles) || receivedHere() ? "all" : "none";
}

const withoutNetwork = "Commands have no network here (setting tools.exec.network).";

function withoutSandbox({ sandbox: { state } }: ExecSettings): string {
  const why = state.state === "unavailable" ? ` ${state.reason}` : "";
  return `Commands run in a sandbox only (setting tools.exec.sandbox), and there is none.${why}`;
}

/** 128 and SIGXFSZ. */
const fileTooLarge = 153;

async function resultOf(
  command: string,
  { run, isLate, movedTo, leftOut, excess }: Finished,
  seconds: number,
  context: ToolContext,
): Promise<ToolResult> {
  const code = run.end?.code;
  const output = run.output.text().trimEnd();
  const notes = [
    ...(isLate ? [`stopped after ${seconds} s; use timeout or background for longer ones`] : []),
    ...(run.fault === undefined ? [] : [`stopped: ${run.fault}`]),
    ...(isLate || run.fault !== undefined || code !== undefined ? [] : ["killed, perhaps for using too much memory"]),
    ...(code === fileTooLarge ? ["a file became larger than this chat's folder may be"] : []),
    ...(code === undefined || code === 0 ? [] : [`exit ${code}`]),
    ...(movedTo === undefined ? [] : [`now in ${movedTo}`]),
    ...(leftOut.length === 0 ? [] : [`not shown in the sandbox, too much: ${namesOf(leftOut)}`]),
    ...(code === undefined || code === 0 ? [] : await sentNotes(command, context)),
    ...(excess === undefined ? [] : [`this chat's folder ${excess}; until it holds less, commands can only delete`]),
  ];
  const shown = await shorten(output, run.origins.outside !== undefined, context);
  const text = [shown || "(no output)", ...notes.map((note) => `[${note}]`)].join("\n");
  const isError = code !== 0;
  const ending = isLate ? " (time-out)" : code === 0 ? "" : ` (${code === undefined ? "killed" : `exit ${code}`})`;
  return {
    text,
    isError,
    summary: `ran ${shortOf(command)}${ending}`,
    ...(run.origins.outside === undefined ? {} : { outside: run.origins.outside }),
  };
}

/** A command that failed may have named a file as the person did who sent it. */
async function sentNotes(command: string, context: ToolContext): Promise<readonly string[]> {
  const sent = await receivedFilesOf(context).catch(() => []);
  const named = sent.filter(({ name, shown }) => command.includes(shown) && !command.includes(name));
  const latest = new Map(named.reverse().map((file) => [file.shown, file.name]));
  return [...latest].slice(0, maxNotes).map(([shown, name]) => `${shown} was sent in this chat: it is ${name}`);
}

const maxNotes = 3;

function namesOf(leftOut: readonly string[]): string {
  const more = leftOut.length - 10;
  return [...leftOut.slice(0, 10), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

async function shorten(output: string, isOutside: boolean, context: ToolContext): Promise<string> {
  if (output.length <= headCharacters + tailCharacters) return output;
  const file = await keepWhole("exec", output, isOutside, context);
  const left = output.length - headCharacters - tailCharacters;
  const where = file === undefined ? "" : `; the whole output is in ${file}`;
  return `${output.slice(0, headCharacters)}\n[${left} characters left out${where}]\n${output.slice(-tailCharacters)}`;
}

function shortOf(command: string): string {
  const [line = ""] = command.trim().split("\n");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
