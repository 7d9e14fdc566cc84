/**
 * Content-Security-Policy of the sandbox's pages: everything is loaded from the page's own server.
 * @param styles further sources of styles
 */
export function contentPolicy(...styles: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    ["style-src 'self'", ...styles].join(' '),
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
