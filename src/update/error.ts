import { Fault } from "../errors.js";

/** An update, or a look for one, did not come about. The message says what is in use now, and what to do. */
export class UpdateError extends Fault {}
