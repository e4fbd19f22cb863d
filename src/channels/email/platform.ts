import type { Platform } from "../platform.js";
import { type EmailSection, email } from "./section.js";

export const emailPlatform: Platform<EmailSection> = {
  section: email,

  isPermitted: ({ consentGranted }) => consentGranted,

  guarded: ["accessTokenFile", "tlsCaFile", "oauth"],

  async open(section, scope) {
    const { openEmail } = await import("./open.js");
    return await openEmail(section, scope);
  },

  async logIn(section, scope, signal) {
    const { logIn } = await import("./open.js");
    return await logIn(section, scope, signal);
  },
};
