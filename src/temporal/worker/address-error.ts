/**
 * The worker can't listen on an address: the port is taken, or this machine does not have the address. Exit code 78.
 */
export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly exitCode = 78;

  constructor(variable: string, address: string, reason: string) {
    const advice = /in use|EADDRINUSE/.test(reason)
      ? '. If another worker runs on this machine, give each its own HEALTH_ADDRESS and METRICS_ADDRESS'
      : '';
    super(`${variable} ${address} can't be used: ${reason}${advice}`);
  }
}
