export default async function globalTeardown(): Promise<void> {
  await globalThis.sharedDevServer?.stop();
  await globalThis.sharedPostgreSql?.remove();
}
