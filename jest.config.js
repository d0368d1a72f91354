const { existsSync } = require('node:fs');

// One server for all suites. Jest ignores what a set-up returns, so its end is a file of its own.
const globalSetup = `${__dirname}/test/support/global-setup.ts`;
const globalTeardown = `${__dirname}/test/support/global-teardown.ts`;

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
  testTimeout: 60_000,
  // A test that fails leaves its servers behind; the run must end all the same.
  forceExit: true,
  ...(existsSync(globalSetup) && { globalSetup }),
  ...(existsSync(globalTeardown) && { globalTeardown }),
};
