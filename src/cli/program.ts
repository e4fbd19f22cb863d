import { Command, CommanderError, Option } from "commander";
import { readVersion } from "../util/version.js";
import { addPackagesCommands } from "./commands/care/add.js";
import { addBackupCommand } from "./commands/care/backup.js";
import { addConfigCommand } from "./commands/care/config.js";
import { addDoctorCommand } from "./commands/care/doctor.js";
import { addEngineCommand } from "./commands/care/engine.js";
import { addEventsCommand } from "./commands/care/events.js";
import { addLedgerCommand } from "./commands/care/ledger.js";
import { addLogsCommand } from "./commands/care/logs.js";
import { addMigrateCommand } from "./commands/care/migrate.js";
import { addRepairCommands } from "./commands/care/repair.js";
import { addReplayCommand } from "./commands/care/replay.js";
import { addRestoreCommand } from "./commands/care/restore.js";
import { addSecurityCommand } from "./commands/care/security.js";
import { addServiceCommand } from "./commands/care/service.js";
import { addUpdateCommand } from "./commands/care/update.js";
import { addChannelsCommand } from "./commands/channels.js";
import { addCompletionCommand } from "./commands/completion.js";
import { addCreateCommand } from "./commands/create.js";
import { addCronCommand } from "./commands/cron.js";
import { addDeadCommand } from "./commands/dead.js";
import { addDevicesCommand } from "./commands/devices.js";
import { addGatewayCommand } from "./commands/gateway.js";
import { addHelpCommands } from "./commands/help.js";
import { addMcpCommand } from "./commands/mcp.js";
import { addModelsCommand } from "./commands/models.js";
import { addOnboardCommand } from "./commands/onboard.js";
import { addPairCommand } from "./commands/pair.js";
import { addPolicyCommand } from "./commands/policy.js";
import { addSkillsCommand } from "./commands/skills.js";
import { addStatusCommand } from "./commands/status.js";
import { addAgentCommand } from "./commands/talk/agent.js";
import { addAnswerCommand } from "./commands/talk/answer.js";
import { addAttachCommand } from "./commands/talk/attach.js";
import { addSearchCommand } from "./commands/talk/search.js";
import { addSessionsCommand } from "./commands/talk/sessions.js";
import { addUsageCommand } from "./commands/usage.js";
import { harmless, print } from "./text/output.js";

/** All commands. What a command needs is loaded when it runs: this costs nothing but commander. `onReady`: a gateway has started. */
export function createProgram(onReady: () => void = () => undefined): Command {
  const version = readVersion();
  const program = new Command("maxclaw")
    .description("Your own assistant on Telegram, a web page and in the terminal.")
    .version(version, "-V, --version", "Show the version")
    .addOption(new Option("-v").hideHelp())
    .on("option:v", () => {
      print(version);
      throw new CommanderError(0, "commander.version", version);
    })
    .helpOption("-h, --help", "Show help")
    .showHelpAfterError("Run maxclaw --help for the commands, maxclaw <command> --help for one of them.")
    .configureOutput({ outputError: (text, write) => write(harmless(text)) })
    .exitOverride()
    .addHelpText("after", "\nFiles live in $MAXCLAW_HOME, by default ~/.maxclaw. Begin with: maxclaw onboard");
  addOnboardCommand(program);
  addGatewayCommand(program, version, onReady);
  addAgentCommand(program, version);
  addAttachCommand(program);
  addStatusCommand(program, version);
  addSessionsCommand(program, version);
  addSearchCommand(program, version);
  addSkillsCommand(program, version);
  addCronCommand(program, version);
  addPairCommand(program, version);
  addDevicesCommand(program, version);
  addAnswerCommand(program);
  addPolicyCommand(program, version);
  addConfigCommand(program);
  addModelsCommand(program, version);
  addChannelsCommand(program);
  addMcpCommand(program, version);
  addUsageCommand(program, version);
  addLedgerCommand(program);
  addDeadCommand(program, version);
  addEventsCommand(program);
  addEngineCommand(program);
  addServiceCommand(program);
  addLogsCommand(program);
  addDoctorCommand(program, version);
  addSecurityCommand(program, version);
  addRepairCommands(program);
  addReplayCommand(program);
  addBackupCommand(program, version);
  addRestoreCommand(program);
  addMigrateCommand(program);
  addUpdateCommand(program, version);
  addPackagesCommands(program);
  addCreateCommand(program);
  addCompletionCommand(program);
  program
    .command("version")
    .description("Show the version")
    .action(() => print(`maxclaw ${version}`));
  addHelpCommands(program);
  return program;
}
