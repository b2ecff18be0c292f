const swc = [
  '@swc/jest',
  {
    sourceMaps: 'inline',
    jsc: {
      target: 'es2024',
      parser: { syntax: 'typescript', tsx: true, decorators: true },
      transform: {
        legacyDecorator: true,
        decoratorMetadata: true,
        react: { runtime: 'automatic' },
      },
    },
    module: { type: 'commonjs' },
  },
];

/** One project for each room; `name` is what `npm run jest -- --selectProjects NAME` takes. */
const project = (name, root, more = {}) => ({
  displayName: name,
  rootDir: __dirname,
  roots: [`<rootDir>/${root}`],
  testMatch: ['**/*.spec.ts', '**/*.spec.tsx'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/examples/'],
  modulePathIgnorePatterns: ['/dist/'],
  moduleNameMapper: {
    '^@belay/evaluation$': '<rootDir>/evaluation/src/index.ts',
    '^@belay/([a-z]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: { '\\.(ts|tsx)$': swc },
  testEnvironment: 'node',
  ...more,
});

module.exports = {
  projects: [
    project('protocol', 'libs/protocol/src'),
    project('rope', 'libs/rope/src'),
    project('client', 'libs/client/src'),
    project('server', 'apps/server/src'),
    project('agent', 'apps/agent/src'),
    project('cli', 'apps/cli/src'),
    project('evaluation', 'evaluation/src'),
    project('web', 'apps/web/src', {
      testEnvironment: 'jsdom',
      moduleNameMapper: {
        '^@belay/([a-z]+)$': '<rootDir>/libs/$1/src/index.ts',
        '^@/(.*)\\.js$': '<rootDir>/apps/web/src/$1',
        '^@/(.*)$': '<rootDir>/apps/web/src/$1',
        '^(\\.{1,2}/.*)\\.js$': '$1',
        '\\.css$': '<rootDir>/apps/web/src/lib/no-styles.cjs',
      },
    }),
    project('tools', 'tools', { testMatch: ['**/*.spec.mjs', '**/*.spec.ts'] }),
    // Real containers, from the outside: the built server, agent and images.
    project('containers', 'libs/testkit/src', {
      testMatch: ['**/*.container.ts'],
      testTimeout: 60_000,
    }),
    // The dashboard in a real Chromium.
    project('e2e', 'libs/testkit/src', { testMatch: ['**/*.e2e.ts'] }),
  ],
  maxWorkers: 2,
  testTimeout: 60_000,
};
