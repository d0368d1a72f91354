/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
  testTimeout: 60_000,
  reporters: ['default', '<rootDir>/scripts/lib/closing-line.mjs'],
  // A test that fails leaves its servers behind; the run must end all the same.
  forceExit: true,
  // One server for all suites. Jest ignores what a set-up returns, so its end is a file of its own.
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};
