import { Claim } from "../util/processes/claim.js";
import { PackageError } from "./error.js";

/** The right to change the packages of a home. @throws {PackageError} while another process has it */
export async function claimPackages(file: string): Promise<Claim> {
  const claim = await Claim.take(file);
  if (claim === undefined) throw taken(await Claim.holder(file), file);
  return claim;
}

/** @throws {PackageError} when another process has taken it meanwhile */
export async function assertHeld(claim: Claim, file: string): Promise<void> {
  if (!(await claim.isHeld())) throw taken(undefined, file);
}

function taken(holder: number | undefined, file: string): PackageError {
  const who = holder === undefined ? "Another process" : `Another process (${holder})`;
  return new PackageError(
    `${who} is changing the packages of this home. Nothing was changed here. Run the command again when it is done. If there is no such process, delete ${file}.`,
  );
}
