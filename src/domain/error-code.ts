/**
 * The code of an error of Node or undici, such as ECONNRESET. It is safe to show; the message beside it may quote what was
 * received. Undefined where there is none, or one that does not look like it.
 */
export function safeErrorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,60}$/.test(code) ? code : undefined;
}
