const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { jsc } = require('./tools/swc-options.cjs');

const packages = join(__dirname, 'node_modules');

const isModule = (name) => {
  const file = join(packages, name, 'package.json');
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).type === 'module';
};

/**
 * Packages that are ES modules. They are compiled to CommonJS, like our own code, because Node
 * never frees modules in separate contexts (`--experimental-vm-modules`): a worker whose heap fills
 * up with them would constantly collect garbage.
 */
const modulePackages = readdirSync(packages)
  .flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(packages, name)).map((one) => `${name}/${one}`) : name,
  )
  .filter(isModule);

/** A package of CommonJS that imports parts of Node when it needs them, which is compiled to `require`, too. */
const lateImports = '@opentelemetry/otlp-exporter-base';

const swc = (syntax, isModule = 'unknown') => [
  '@swc/jest',
  {
    isModule,
    sourceMaps: 'inline',
    jsc: { ...jsc, parser: { ...jsc.parser, syntax } },
    module: { type: 'commonjs' },
  },
];

/** One project for each part; `npm run jest -- --selectProjects NAME` selects it by `name`. */
const project = (name, root, more = {}) => ({
  displayName: name,
  rootDir: __dirname,
  // Kept across runs; Jest’s default is in the temporary folder, which each run has to itself.
  cacheDirectory: join(packages, '.cache', 'jest'),
  roots: [`<rootDir>/${root}`],
  testMatch: ['**/*.spec.ts', '**/*.spec.tsx'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/examples/'],
  modulePathIgnorePatterns: ['/dist/'],
  resolver: '<rootDir>/tools/resolve-sources.cjs',
  transform: {
    '\\.(ts|tsx)$': swc('typescript'),
    '\\.m?js$': swc('ecmascript'),
    [`/${lateImports}/.*\\.cjs$`]: swc('ecmascript', true),
  },
  transformIgnorePatterns: [
    `<rootDir>/node_modules/(?!(${[...modulePackages, lateImports].join('|')})/|.*\\.mjs$)`,
  ],
  testEnvironment: '<rootDir>/tools/plain-context.cjs',
  ...more,
});

const web = {
  moduleNameMapper: {
    '^@/lib/server$': '<rootDir>/apps/web/src/testing/server.ts',
    '\\.css$': '<rootDir>/apps/web/src/lib/no-styles.cjs',
  },
};

module.exports = {
  projects: [
    project('protocol', 'libs/protocol/src'),
    project('rpc', 'libs/rpc/src'),
    project('client', 'libs/client/src'),
    project('container-hosts', 'libs/containers/src'),
    project('host', 'libs/host/src'),
    project('proof', 'libs/proof/src'),
    project('testing', 'libs/testing/src'),
    project('testkit', 'libs/testkit/src'),
    project('server', 'apps/server/src'),
    project('agent', 'apps/agent/src'),
    project('cli', 'apps/cli/src'),
    project('evaluation', 'evaluation/src'),
    // Components, in a browser’s environment, and what needs no page.
    project('web', 'apps/web/src', {
      ...web,
      testMatch: ['**/*.spec.tsx'],
      testEnvironment: '<rootDir>/apps/web/src/testing/browser-environment.cjs',
      setupFilesAfterEnv: ['<rootDir>/apps/web/src/testing/timeouts.cjs'],
    }),
    project('web', 'apps/web/src', { ...web, testMatch: ['**/*.spec.ts'] }),
    // The fuzz targets are compiled files, so imports are not mapped to sources.
    project('tools', 'tools', {
      resolver: undefined,
      modulePathIgnorePatterns: [],
      testMatch: ['**/*.spec.mjs', '**/*.spec.ts'],
    }),
    // Real containers, tested from outside: the built server, agent and images.
    project('containers', 'e2e/system', {
      testMatch: ['**/*.container.ts'],
    }),
    // The same, attacked from inside a sandbox and from outside the server.
    project('attacks', 'e2e/attacks', {
      testMatch: ['**/*.container.ts'],
    }),
    // The programs of other vendors, from the npm registry: `npm run test:agents`.
    project('agents', 'e2e/agents', {
      testMatch: ['**/*.container.ts'],
    }),
    // A bucket of a real server: `npm run test:s3`.
    project('s3', 'apps/server/src', {
      testMatch: ['**/*.s3.ts'],
    }),
    project('s3', 'e2e/s3', {
      testMatch: ['**/*.container.ts'],
    }),
    // A cluster that somebody else has made: `npm run test:kubernetes`.
    project('kubernetes', 'e2e/kubernetes', {
      testMatch: ['**/*.container.ts'],
      globalSetup: '<rootDir>/e2e/kubernetes/load-images.cjs',
    }),
    // The dashboard in a real Chromium.
    project('e2e', 'e2e/dashboard', {
      testMatch: ['**/*.e2e.ts'],
    }),
  ],
  // More than a two-core machine has cores, as most tests wait more than they compute.
  maxWorkers: 4,
  // Workers are restarted above this size: memory that tests leave behind adds up, and collecting
  // it would slow down the other workers.
  workerIdleMemoryLimit: '600MB',
  // How many tests of a file may run concurrently; they mostly wait for containers.
  maxConcurrency: 3,
  testSequencer: '<rootDir>/tools/slowest-first.cjs',
  // Ends tests that hang. The waits in tests have shorter timeouts, which report what did not
  // happen. Generous, for busy machines.
  testTimeout: 300_000,
};
