const { existsSync } = require('node:fs');

// Starts the servers that suites share; a run of a few pure suites does without it.
const globalSetup = `${__dirname}/test/support/global-setup.ts`;

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
  testTimeout: 60_000,
  ...(existsSync(globalSetup) && { globalSetup }),
};
