/** The code of an error of Node or undici, such as ECONNRESET; undefined for a text that does not look like one. Safe to show. */
export function safeErrorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,60}$/.test(code) ? code : undefined;
}

/** The class of an error. Safe to show, unlike its message: a class is code, never data. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error;
}
