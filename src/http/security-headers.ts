const nothing = "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * With every answer, the refusals too. An answer is data: opened as a document it may run, load, send and frame nothing.
 * The names of hosts in links are not looked up before somebody follows one, because a name can carry a secret.
 */
export const answerHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": `default-src 'none'; ${nothing}; sandbox`,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy":
    "camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), midi=(), payment=(), serial=(), usb=()",
  "X-DNS-Prefetch-Control": "off",
};

/** Of the page: what is said into a microphone, after the browser has asked, becomes a message. */
export const pagePermissions = (answerHeaders["Permissions-Policy"] ?? "").replace(
  "microphone=()",
  "microphone=(self)",
);

/**
 * Of the page's own files, instead of the policy above. Only the sanitizer may turn text into elements; the page's worker
 * has one address.
 */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "media-src blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-src 'self'",
  "manifest-src 'self'",
  nothing,
  "require-trusted-types-for 'script'",
  "trusted-types dompurify page-worker",
].join("; ");

/**
 * Of what draws diagrams, which only the page may frame. It has no origin and no network: it can reach nothing of the page
 * and the gateway. Its one script is named by its hash in the file itself; the library is sent to it as text.
 */
export const diagramHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'unsafe-inline' blob:",
    "style-src 'unsafe-inline'",
    nothing.replace("frame-ancestors 'none'", "frame-ancestors 'self'"),
    "sandbox allow-scripts",
  ].join("; "),
  "X-Frame-Options": "SAMEORIGIN",
};
