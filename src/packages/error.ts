import { Fault } from "../errors.js";

/** The packages of a home were not changed. The message says why and what to do. */
export class PackageError extends Fault {}
