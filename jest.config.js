const { availableParallelism } = require('node:os');

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
  // Ends a test that hangs. It must never say that a slow machine is wrong.
  testTimeout: 600_000,
  // Most tests wait for a server rather than compute, so one more than there are cores pays; more than four crowd it.
  maxWorkers: Math.min(4, availableParallelism() + 1),
  reporters: ['default', '<rootDir>/test/support/closing-line.mjs'],
  // One server for all suites. Jest ignores what a set-up returns, so its end is a file of its own.
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // Closes what a test file has left open, also after a failure, so that a run ends by itself.
  setupFilesAfterEnv: ['<rootDir>/test/support/clean-up.ts'],
};
