/** An address of this worker can't be used, because its port is taken or this machine lacks it. Exit code 78. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly exitCode = 78;

  constructor(variable: string, address: string, reason: string) {
    super(`${variable} ${address} can't be used: ${reason}`);
  }
}
